"""A judge of path following: a small-step Jacobian integrator that shares no code with ros2_ik."""

import math
from xml.etree import ElementTree

import numpy as np

SUB_STEP = 1e-3     # length of a sub-step of the tip [m]
TURN_STEP = 4e-3    # and its angle [rad]
CLOSE = 5e-6        # where a sub-step has arrived, half the solver's tolerances [m]
ALIGNED = 5e-5      # [rad]
STRIDE = 0.03       # most that a joint moves in one correction [rad, m]
CORRECTIONS = 40    # of one sub-step


class SmallSteps:
    """
    Continuation along a straight line of the tip, with forward kinematics read from the URDF.

    Damped least squares in strides of a few hundredths of a radian: it stays on the branch of
    solutions that it began on, or does not arrive.
    """

    def __init__(self, urdf: str, tip: str) -> None:
        joints = {element.find('child').get('link'): element
                  for element in ElementTree.fromstring(urdf).findall('joint')}
        self._chain = []        # origin (4, 4), axis (3,), whether it turns, its place or -1
        self.names, lower, upper = [], [], []
        link, elements = tip, []
        while link in joints:
            elements.insert(0, joints[link])
            link = joints[link].find('parent').get('link')
        for element in elements:
            kind, place = element.get('type'), -1
            if kind != 'fixed':
                place = len(self.names)
                self.names.append(element.get('name'))
                limit = element.find('limit')
                bounded = kind != 'continuous' and limit is not None
                lower.append(float(limit.get('lower', 0)) if bounded else -math.inf)
                upper.append(float(limit.get('upper', 0)) if bounded else math.inf)
            self._chain.append((_origin(element), _axis(element), kind != 'prismatic', place))
        self.lower, self.upper = np.array(lower), np.array(upper)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Pose of the tip (4, 4) at joint values x (n,)."""
        return self._forward(x)[0]

    def arrives(self, x: np.ndarray, target: np.ndarray) -> np.ndarray | None:
        """Return joint values (n,) at the target, continued from x in small steps, or None."""
        T = self._forward(x)[0]
        shift, spin = target[:3, 3] - T[:3, 3], _rotation_vector(T[:3, :3].T @ target[:3, :3])
        count = max(1, math.ceil(np.linalg.norm(shift) / SUB_STEP),
                    math.ceil(np.linalg.norm(spin) / TURN_STEP))
        for i in range(1, count + 1):
            step = target if i == count else np.eye(4)
            if i < count:
                step[:3, 3] = T[:3, 3] + shift * i / count
                step[:3, :3] = T[:3, :3] @ _rotation(spin * i / count)
            x = self._corrected(x, step)
            if x is None:
                return None
        return x

    def _corrected(self, x: np.ndarray, target: np.ndarray) -> np.ndarray | None:
        for _ in range(CORRECTIONS):
            T, J = self._forward(x)
            e = np.concatenate([target[:3, 3] - T[:3, 3],
                                T[:3, :3] @ _rotation_vector(T[:3, :3].T @ target[:3, :3])])
            if np.linalg.norm(e[:3]) < CLOSE and np.linalg.norm(e[3:]) < ALIGNED:
                return x
            x = self._moved(x, J, e)
        return None

    def _moved(self, x: np.ndarray, J: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Take a damped step; joints pushed beyond a limit are held, the others do the work."""
        free = np.ones(len(x), dtype=bool)
        for _ in range(len(x)):
            A = J[:, free]
            dx = np.zeros(len(x))
            dx[free] = A.T @ np.linalg.solve(A @ A.T + (0.1 * (e @ e) + 1e-9) * np.eye(6), e)
            dx *= min(1.0, STRIDE / max(np.abs(dx).max(), 1e-12))
            out = free & (((x + dx > self.upper) & (x >= self.upper - 1e-9))
                          | ((x + dx < self.lower) & (x <= self.lower + 1e-9)))
            if not out.any():
                break
            free &= ~out
        return np.clip(x + dx, self.lower, self.upper)

    def _forward(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        T, axes = np.eye(4), []
        for origin, axis, turns, place in self._chain:
            T = T @ origin
            if place < 0:
                continue
            axes.append((T[:3, :3] @ axis, T[:3, 3], turns))
            motion = np.eye(4)
            if turns:
                motion[:3, :3] = _rotation(axis * x[place])
            else:
                motion[:3, 3] = axis * x[place]
            T = T @ motion
        J = np.array([[*np.cross(a, T[:3, 3] - p), *a] if turns else [*a, 0, 0, 0]
                      for a, p, turns in axes]).T
        return T, J


def _origin(element: ElementTree.Element) -> np.ndarray:
    T, origin = np.eye(4), element.find('origin')
    if origin is not None:
        T[:3, 3] = _numbers(origin, 'xyz', '0 0 0')
        roll, pitch, yaw = _numbers(origin, 'rpy', '0 0 0')
        T[:3, :3] = (_rotation(np.array([0, 0, yaw])) @ _rotation(np.array([0, pitch, 0]))
                     @ _rotation(np.array([roll, 0, 0])))
    return T


def _axis(element: ElementTree.Element) -> np.ndarray:
    axis = element.find('axis')
    direction = _numbers(axis, 'xyz', '1 0 0') if axis is not None else np.array([1.0, 0, 0])
    return direction / (np.linalg.norm(direction) or 1.0)


def _numbers(element: ElementTree.Element, name: str, default: str) -> np.ndarray:
    return np.array([float(part) for part in element.get(name, default).split()])


def _rotation(vector: np.ndarray) -> np.ndarray:
    """Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3) + _cross(vector)
    K = _cross(vector / angle)
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _rotation_vector(R: np.ndarray) -> np.ndarray:
    """Rotation vector of a rotation well below a half turn."""
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = float(np.linalg.norm(w))
    angle = math.atan2(sine, (np.trace(R) - 1) / 2)
    return w if sine < 1e-12 else w * (angle / sine)
