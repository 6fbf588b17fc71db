"""
Independent references ("judges") of kinematics, which share no code with the library.

`FileJudge` uses yourdfpy; `TreeJudge` multiplies matrices read from the URDF: it is faster, and
has floating, planar and nested mimic joints. core/test_judge.py compares the two.
"""

from collections import defaultdict
import io
import math
from xml.etree import ElementTree

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation


def pose_error(T, T_target, weights=(1,) * 6):
    """Return position [m] and orientation [rad] error along the constrained axes of a target."""
    constrained = np.asarray(weights) > 0
    rotation = Rotation.from_matrix(T_target[:3, :3].T @ T[:3, :3]).as_rotvec()
    position = T_target[:3, :3].T @ (T[:3, 3] - T_target[:3, 3])
    return (float(np.linalg.norm(position[constrained[:3]])),
            float(np.linalg.norm(rotation[constrained[3:]])))


def pose(xyz=(0, 0, 0), rotvec=(0, 0, 0)):
    """Return the pose (4, 4) of a position [m] and a rotation vector [rad]."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(rotvec).as_matrix(), xyz
    return T


def angle(a, b):
    """Return the angle between two vectors [rad]."""
    return math.atan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


def inverse(T):
    """Return the inverse of a rigid transformation."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = T[:3, :3].T, -T[:3, :3].T @ T[:3, 3]
    return result


class Limits:
    """Joint limits of the URDF's text, mimic joints included."""

    def __init__(self, text):
        self.bounds, self.mimics = {}, {}
        for element in ElementTree.fromstring(text).findall('joint'):
            name, mimic, limit = (element.get('name'), element.find('mimic'),
                                  element.find('limit'))
            if mimic is not None:
                self.mimics[name] = (mimic.get('joint'), float(mimic.get('multiplier', 1)),
                                     float(mimic.get('offset', 0)))
            given = {} if limit is None else limit.attrib
            bounded = element.get('type') in ('revolute', 'prismatic')
            if bounded and {'lower', 'upper'} & set(given):
                self.bounds[name] = float(given.get('lower', 0)), float(given.get('upper', 0))

    def value(self, joints, name):
        """Return the value of a joint; that of a mimic joint is computed from its leader."""
        if name not in self.mimics:
            return joints[name]
        leader, multiplier, offset = self.mimics[name]
        return multiplier * self.value(joints, leader) + offset

    def outside(self, joints, tolerance=0.0):
        """Return the joints outside limits by more than `tolerance`, or 1e-9 if a mimic joint."""
        names = []
        for name, (lower, upper) in self.bounds.items():
            slack = max(tolerance, 1e-9 if name in self.mimics else 0.0)
            if not lower - slack <= self.value(joints, name) <= upper + slack:
                names.append(name)
        return names


class FileJudge(Limits):
    """Forward kinematics by yourdfpy, for fixed bases; computed once for equal joint values."""

    _at = None

    def __init__(self, text):
        super().__init__(text)
        import yourdfpy  # not at the top: conftest.py imports this file also without yourdfpy
        self.urdf = yourdfpy.URDF.load(io.BytesIO(text.encode()), load_meshes=False,
                                       build_scene_graph=True)

    def frames(self):
        """Return the names of the links."""
        return list(self.urdf.link_map)

    def transform(self, joints, frame, relative_to=None):
        """Return the pose of a link at joint values by name, (4, 4)."""
        if joints != self._at:
            self._at = dict(joints)
            self.urdf.update_cfg({name: joints[name] for name in self.urdf.actuated_joint_names})
        return self.urdf.get_transform(frame, relative_to or self.urdf.base_link)


class RestJudge(FileJudge):
    """Forward kinematics by yourdfpy; joints that are not named are at zero."""

    def transform(self, joints, frame, relative_to=None):
        return super().transform(defaultdict(float, joints), frame, relative_to)


class TreeJudge(Limits):
    """Forward kinematics by matrix products along the tree."""

    def __init__(self, text, root_joint='fixed', base=('root_joint', 'world')):
        super().__init__(text)
        root = ElementTree.fromstring(text)
        self.links = [link.get('name') for link in root.findall('link')]
        self._joints = {element.find('child').get('link'): _read(element)
                        for element in root.findall('joint')}
        self.masses = {link.get('name'): _inertia(link) for link in root.findall('link')}
        self._top = next(link for link in self.links if link not in self._joints)
        if root_joint != 'fixed':
            kind = {'planar': 'planar', 'freeflyer': 'floating'}[root_joint]
            self._joints[self._top] = (base[0], kind, base[1], np.eye(4), None)
            self._top = base[1]

    def transform(self, joints, frame, relative_to=None):
        """Return the pose of a link at joint values by name, (4, 4)."""
        T = np.eye(4)
        while frame != self._top:
            name, kind, parent, origin, axis = self._joints[frame]
            motion = np.eye(4) if kind == 'fixed' else _motion(kind, axis,
                                                               self.value(joints, name))
            T, frame = origin @ motion @ T, parent
        if relative_to is not None:
            T = inverse(self.transform(joints, relative_to)) @ T
        return T

    def moves(self, link):
        """Return True if a movable joint is above a link."""
        while link in self._joints:
            _, kind, parent, _, _ = self._joints[link]
            if kind != 'fixed':
                return True
            link = parent
        return False

    def center_of_mass(self, joints):
        """Return the centre of mass of the movable links [m], (3,)."""
        moving = {link: m for link, m in self.masses.items() if m[0] > 0 and self.moves(link)}
        total = sum(mass for mass, _ in moving.values())
        return sum(mass * (self.transform(joints, link) @ [*center, 1.0])[:3]
                   for link, (mass, center) in moving.items()) / total


def _inertia(link):
    mass, origin = link.find('inertial/mass'), link.find('inertial/origin')
    center = _floats(origin.get('xyz', '0 0 0')) if origin is not None else np.zeros(3)
    return (float(mass.get('value')) if mass is not None else 0.0), center


def _read(element):
    origin, axis = element.find('origin'), element.find('axis')
    T = np.eye(4)
    if origin is not None:
        T[:3, 3] = _floats(origin.get('xyz', '0 0 0'))
        T[:3, :3] = Rotation.from_euler('xyz', _floats(origin.get('rpy', '0 0 0'))).as_matrix()
    direction = _floats(axis.get('xyz')) if axis is not None else np.array([1.0, 0, 0])
    norm = np.linalg.norm(direction) or 1.0      # fixed joints may have an axis of zeros
    return (element.get('name'), element.get('type'), element.find('parent').get('link'), T,
            direction / norm)


def _floats(text):
    return np.array([float(part) for part in text.split()])


def _motion(kind, axis, value):
    T = np.eye(4)
    if kind == 'prismatic':
        T[:3, 3] = axis * value
    elif kind == 'planar':
        T[:2, 3], T[:3, :3] = value[:2], _rotation(np.array([0, 0, 1.0]), value[2])
    elif kind == 'floating':
        T[:3, 3], T[:3, :3] = value[:3], Rotation.from_quat(value[3:]).as_matrix()
    else:
        T[:3, :3] = _rotation(axis, value)
    return T


def _rotation(axis, angle):
    """Return the rotation matrix by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def check(judge, solution, targets):
    """
    Assert that a solution reports success and is valid.

    `targets` are (tip, T, relative_to, weights, position_tolerance, orientation_tolerance), of
    which the last may be omitted.
    """
    assert solution.success, solution.explain()
    check_if_success(judge, solution, targets)


def check_if_success(judge, solution, targets):
    """Assert that a solution is valid if it reports success; `targets` as in `check`."""
    if not solution.success:
        assert solution.q is None and solution.joints is None
        return
    joints = solution.joints
    assert judge.outside(joints) == []
    for target in targets:
        tip, T, relative_to, weights, position_tolerance, orientation_tolerance = (
            *target, *(None, (1,) * 6, 1e-5, 1e-4)[len(target) - 2:])
        position, orientation = pose_error(judge.transform(joints, tip, relative_to), T, weights)
        assert position <= position_tolerance, (position, solution.explain())
        assert orientation <= orientation_tolerance, (orientation, solution.explain())


def twist_matrix(v):
    """Return the (4, 4) matrix whose exponential is the motion by twist v (linear, angular)."""
    x, y, z = v[3:]
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


def step(robot, q, v):
    """Move q along the tangent vector v; a floating joint by a twist in its own axes."""
    result = np.array(q, dtype=float)
    for joint in robot.joints:
        part = slice(joint.index, joint.index + joint.size)
        motion = v[joint.velocity_index:joint.velocity_index + joint.velocity_size]
        if joint.kind == 'floating' and motion.any():
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = Rotation.from_quat(q[part][3:]).as_matrix(), q[part][:3]
            T = T @ expm(twist_matrix(motion))
            result[part] = [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]
        elif joint.kind != 'floating':
            result[part] += motion
    return result


def numeric_jacobian(robot, q, pose_at, h=1e-6):
    """Return the Jacobian (6, nv) of a pose in its own axes by central differences."""
    T_back = inverse(pose_at(q))
    columns = []
    for v in np.eye(robot.nv) * h:
        ahead, behind = (T_back @ pose_at(step(robot, q, sign * v)) for sign in (1, -1))
        D = (ahead - behind) / (2 * h)
        columns.append([*D[:3, 3], D[2, 1], D[0, 2], D[1, 0]])
    return np.array(columns).reshape(-1, 6).T


def random_pose(robot, judge, tip, generator, relative_to=None):
    """Return random joint values and the pose at them by the judge."""
    joints = robot.to_joints(robot.random_q(generator))
    return joints, judge.transform(joints, tip, relative_to)
