"""The robot: what moves, within which limits, under which names."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
import hashlib
import math
from pathlib import Path
import threading
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import are_finite, floats, one_of, SQUARABLE
from ros2_ik.core.errors import (
    IKError,
    InvalidOptionError,
    InvalidStateError,
    JointLimitError,
    RobotDescriptionError,
    UnknownFrameError,
    UnknownGroupError,
    UnknownJointError,
    UnknownNameError,
    UnknownRobotError,
)
from ros2_ik.core.lru_cache import LRUCache
from ros2_ik.core.robot.group import find_groups, Group
from ros2_ik.core.robot.joint import Joint, LIMIT_TOLERANCE, read_joints
from ros2_ik.core.robot.pinocchio_model import build_model, model_joints
from ros2_ik.core.robot.shipped import shipped_robots, ShippedRobot
from ros2_ik.core.robot.srdf import parse_srdf, Semantics
from ros2_ik.core.robot.urdf import JointElement, parse_urdf, RobotTree
from ros2_ik.core.robot.xacro_file import expand_xacro

T = TypeVar('T')
ROOT_JOINTS = ('fixed', 'planar', 'freeflyer')
OWN_NAMES = ('frame_names', '_frame_ids', 'key_with_frames')    # cached, of added frames too
UNIT = 2e-15    # how far the square of a norm may be from 1: rounding, after one division


class Robot:
    """
    A robot from a URDF and, optionally, an SRDF. Immutable; can be pickled.

    `tree` holds the links, joints and XML of the URDF, `elements` the joints of Pinocchio's
    `model` by their names there, `added_frames` the frames of `with_frames`.

    q is an array (nq,) of the values of `joint_names` in order: one number each for revolute,
    continuous [rad] and prismatic [m] joints, x y z qx qy qz qw for a floating one, x y theta
    for a planar one. Fixed and mimic joints are not in it. Continuous joints keep their turns.
    Tangent vectors (nv,) differ from q only at floating joints (six: linear, angular, in the
    child's axes).

    Make one with `from_urdf` or `load`.
    """

    def __init__(self, urdf: str, package_dirs: tuple[str, ...], srdf: str | None,
                 root_joint: str, srdf_file: str = '') -> None:
        one_of(root_joint, 'root_joint', ROOT_JOINTS, RobotDescriptionError)
        self.urdf, self.srdf = urdf, srdf
        self.package_dirs, self.root_joint = package_dirs, root_joint
        self.tree = tree = parse_urdf(urdf)
        semantics = parse_srdf(srdf, tree, f'SRDF {srdf_file}'.strip()) if srdf else Semantics()
        self.name, self.warnings = tree.name, tree.warnings + semantics.warnings
        base = _base(tree, semantics, root_joint)
        self.root_frame = base.parent if base else tree.root
        self._world_frame = semantics.world_frame if root_joint == 'fixed' else None
        joints = [*([base] if base else []), *tree.joints.values()]
        self.elements = {one.name: one for joint in joints for one in model_joints(joint)}
        self.model = build_model(tree, self.root_frame, joints)
        self.mimics = {j.name: j.mimic for j in tree.joints.values() if j.mimic}
        self.joints = read_joints(self.model, joints)
        self._floating = [joint for joint in self.joints if joint.kind == 'floating']
        self.has_floating_joints = bool(self._floating)
        self.nq, self.nv = int(self.model.nq), int(self.model.nv)
        self._set_limits()
        self.passive_joints = semantics.passive_joints
        self.disabled_pairs = semantics.disabled_pairs
        self.groups = find_groups(tree, semantics, self.joint_names)
        self.group_states = {
            group: {state: {name: value[0] if len(value) == 1 else value
                            for name, value in values.items() if name in self._joints_by_name
                            and len(value) == self.joint(name).size}
                    for state, values in states.items()}
            for group, states in semantics.states.items()}
        self._scratch = threading.local()
        self._moving: dict[tuple[int, ...], frozenset[str]] = {}
        self.added_frames: Mapping[str, tuple[str | None, pin.SE3]] = MappingProxyType({})
        self._plain: Robot | None = None

    @classmethod
    def from_urdf(cls, text_or_path: str | Path, package_dirs: str | Iterable[str | Path] = (),
                  srdf: str | Path | None = None, root_joint: str = 'fixed',
                  xacro_args: Mapping[str, str] = MappingProxyType({})) -> 'Robot':
        """
        Make a robot from a URDF text or file; a file .xacro is expanded with `xacro_args`.

        `package_dirs` are folders in which package:// and relative meshes are looked for, after
        the folder of the URDF where that is a file. `srdf` is a text or a file, too. `root_joint`
        says how the root link stands in the world: 'fixed', 'planar' (x y theta) or 'freeflyer';
        the SRDF's virtual joint then gives name and parent frame.

        Raises RobotDescriptionError that says which element is wrong.
        """
        if isinstance(package_dirs, (str, Path)):
            package_dirs = [package_dirs]
        if not isinstance(package_dirs, Iterable):
            raise RobotDescriptionError(f'package_dirs are folders, not {package_dirs!r}')
        folders = [str(folder) for folder in package_dirs]
        is_xacro = str(text_or_path).endswith('.xacro')
        urdf = (expand_xacro(Path(text_or_path), folders, xacro_args) if is_xacro
                else _read(text_or_path, 'URDF'))
        if urdf is not text_or_path:
            folders.insert(0, str(Path(text_or_path).absolute().parent))
        text = None if srdf is None else _read(srdf, 'SRDF')
        return cls(urdf, tuple(folders), text, root_joint, '' if srdf is text else str(srdf))

    @classmethod
    def load(cls, robot: str | ShippedRobot, root_joint: str | None = None) -> 'Robot':
        """
        Load a shipped robot by its name, such as 'panda', or any that a ShippedRobot describes.

        `shipped_robots()` has all names. Raises UnknownRobotError, or RobotDescriptionError when
        its files are not installed, or the description does not fit them.
        """
        shipped = (robot if isinstance(robot, ShippedRobot)
                   else _found(shipped_robots(), robot, UnknownRobotError))
        urdf, folders, srdf = shipped.sources()
        made = cls.from_urdf(urdf, folders, srdf,
                             shipped.root_joint if root_joint is None else root_joint)
        made._check_fits(shipped)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        if self._plain:
            return Robot.with_frames, (self._plain, dict(self.added_frames))
        return Robot, (self.urdf, self.package_dirs, self.srdf, self.root_joint)

    def __repr__(self) -> str:
        return f"Robot('{self.name}', {len(self.joints)} joints, nq={self.nq}, nv={self.nv})"

    @cached_property
    def key(self) -> str:
        """
        A digest of the description, without mesh files and added frames.

        Robots of equal keys have the same q, joints, links and groups.
        """
        text = repr((self.urdf, self.srdf, self.root_joint))
        return hashlib.sha256(text.encode()).hexdigest()

    # -- added frames ---------------------------------------------------------------------

    @property
    def plain(self) -> 'Robot':
        """The robot without added frames."""
        return self._plain or self

    @cached_property
    def key_with_frames(self) -> tuple[Hashable, ...]:
        """The `key`, and the added frames as values that can be compared."""
        return self.key, *_frames_key(self.added_frames)

    def with_frames(self, frames: Mapping[str, tuple[str | None, pin.SE3]]) -> 'Robot':
        """
        Return the same robot with more frames, such as a tool, to be used like those of links.

        `frames` have by name the frame that each is fixed to (None: the root frame) and its pose
        there. Scenes and collision checkers of one robot serve the other, too. Equal frames give
        the same object while it is cached. Raises UnknownFrameError, or InvalidOptionError for a
        name that the robot has, and for what is no name or no pose.

            robot.with_frames({'tool': ('tool0', pin.SE3(np.eye(3), np.array([0, 0, 0.1])))})
        """
        if not frames:
            return self
        for name, at in frames.items():
            if not isinstance(name, str):
                raise InvalidOptionError(f'frames are named by text, not {name!r}')
            if name in self.frame_names:
                raise InvalidOptionError(f"frame '{name}': the robot has a frame of this name; "
                                         'valid: another name')
            if not (isinstance(at, tuple) and len(at) == 2 and _is_rigid(at[1])
                    and (at[0] is None or isinstance(at[0], str))):
                raise InvalidOptionError(f"frame '{name}' takes a pair of the name of the frame "
                                         'that it is fixed to (None: the root frame) and a '
                                         'pinocchio.SE3 of finite numbers and a rotation, not '
                                         f'{at!r}')
        plain, added = self.plain, {**self.added_frames, **frames}
        return _framed.get((plain, _frames_key(added)), lambda: plain._with_added(added))

    def _with_added(self, frames: Mapping[str, tuple[str | None, pin.SE3]]) -> 'Robot':
        robot = object.__new__(Robot)
        robot.__dict__.update(vars(self))
        for name in OWN_NAMES:
            robot.__dict__.pop(name, None)
        robot.model, robot._plain = self.model.copy(), self
        robot.added_frames = MappingProxyType(
            {name: (parent, pose.copy()) for name, (parent, pose) in frames.items()})
        robot._scratch, robot._moving = threading.local(), {}
        ids = robot.__dict__['_frame_ids'] = dict(self._frame_ids)
        for name, (parent, pose) in frames.items():
            index = 0 if parent is None else robot.frame_id(parent)
            base = robot.model.frames[index]
            ids[name] = robot.model.addFrame(pin.Frame(
                name, base.parentJoint, index, base.placement * pose, pin.FrameType.OP_FRAME),
                False)
        return robot

    # -- names ----------------------------------------------------------------------------

    @property
    def base_joint(self) -> str | None:
        """Name of the joint that moves the root in the world, None where it is fixed."""
        return None if self.root_joint == 'fixed' else self.joints[0].name

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have values in q, in order."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames: the links, then the joints (the frame of their child link)."""
        return tuple(self._frame_ids)

    @cached_property
    def _frame_ids(self) -> dict[str, int]:
        """Indices by name, links first: a link wins over a joint of its name, as in MoveIt."""
        parts = self.elements.keys() - self.tree.joints.keys() - {self.base_joint}
        frames = [(frame.type != pin.FrameType.BODY, index, frame.name)
                  for index, frame in enumerate(self.model.frames)
                  if index and not (frame.type == pin.FrameType.JOINT and frame.name in parts)]
        ids: dict[str, int] = {}
        for _, index, name in sorted(frames):
            ids.setdefault(name, index)
        if self._world_frame:      # a fixed virtual joint puts the root link there
            ids.setdefault(self._world_frame, ids[self.root_frame])
        return ids

    def frame_id(self, frame: str) -> int:
        """Pinocchio's index of a frame; raises UnknownFrameError."""
        return _found(self._frame_ids, frame, UnknownFrameError)

    def joint(self, name: str) -> Joint:
        """Return the joint of that name; raises UnknownJointError."""
        return _found(self._joints_by_name, name, UnknownJointError)

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    def group(self, name: str) -> Group:
        """Return the group of that name; raises UnknownGroupError."""
        return _found(self.groups, name, UnknownGroupError)

    def scratch_data(self) -> pin.Data:
        """Return this thread's pinocchio.Data (slow to make); every call may overwrite it."""
        try:
            return self._scratch.data
        except AttributeError:
            self._scratch.data = self.model.createData()
            return self._scratch.data

    def moving_joints(self, frame: str, relative_to: str | None = None) -> frozenset[str]:
        """
        Names of the joints in q that move `frame` relative to a frame, mimicked ones included.

        `relative_to` defaults to the root frame. Raises UnknownFrameError.
        """
        return self.joints_between(self.frame_id(frame),
                                   0 if relative_to is None else self.frame_id(relative_to))

    def joints_between(self, *frames: int) -> frozenset[str]:
        """Joints on the way between two frames, by Pinocchio's indices: they carry one only."""
        if frames not in self._moving:
            one, other = (set(self.model.supports[self.model.frames[index].parentJoint])
                          for index in frames)
            # a mimic joint has its leader's column
            columns = {self.model.joints[joint].idx_v for joint in one ^ other}
            self._moving[frames] = frozenset(
                joint.name for joint in self.joints if joint.velocity_index in columns)
        return self._moving[frames]

    # -- values ---------------------------------------------------------------------------

    @cached_property
    def neutral(self) -> Array:
        """Zero; else, if that is not allowed, the middle of the limits or the only one, (nq,)."""
        q = np.zeros(self.nq)
        outside = (self.lower > 0) | (self.upper < 0)
        lower, upper = self.lower[outside], self.upper[outside]
        only = np.where(np.isfinite(lower), lower, upper)
        q[outside] = np.where(np.isfinite(lower + upper), (lower + upper) / 2, only)
        for joint in self.joints:
            if joint.kind == 'floating':
                q[joint.index + 6] = 1.0
        q.setflags(write=False)
        return q

    def to_q(self, values: JointValues | None = None, start: Array | None = None,
             what: str = 'q') -> Array:
        """
        Joint values as q, (nq,).

        `values` are a mapping from joint names (some may be missing: these keep their value in
        `start`, by default `neutral`) or an array in the order of `joint_names`. Values of mimic
        joints are passed over: they follow. Quaternions are normalised. Errors call an array
        `what`.

        Raises UnknownJointError, or InvalidStateError for NaN, infinity, a wrong length or a
        quaternion of norm zero.
        """
        if type(values) is not np.ndarray and (values is None or isinstance(values, Mapping)):
            q = self.neutral.copy() if start is None else _floats(start, self.nq, 'start')
            for name, value in (values or {}).items():
                if not isinstance(name, str) or name not in self.mimics:
                    joint = self.joint(name)
                    q[joint.index:joint.index + joint.size] = _floats(value, joint.size,
                                                                      f"joint '{name}'")
        else:
            q = _floats(values, self.nq, what, self.joint_names)
        for joint in self._floating:
            _normalise(q[joint.index + 3:joint.index + 7], joint.name)
        return q

    def to_joints(self, q: Array, names: Iterable[str] | None = None, *,
                  include_mimic: bool = False) -> dict[str, Any]:
        """
        Values by joint name: a float, or an array for floating and planar joints.

        `names` may include mimic joints; by default all of `joint_names`, with `include_mimic`
        the mimic joints, too.
        """
        if names is None:
            names = (*self.joint_names, *(self.mimics if include_mimic else ()))
        places, values = self._places, np.asarray(q).tolist()
        return {name: values[places[name]] if isinstance(name, str) and name in places
                else self._value(q, name) for name in names}

    @cached_property
    def _places(self) -> dict[str, int]:
        """The index in q of each joint of one number."""
        return {joint.name: joint.index for joint in self.joints if joint.is_scalar}

    def _value(self, q: Array, name: str) -> float | Array:
        """Return the value of a mimic joint, or of one of several numbers."""
        if isinstance(name, str) and name in self.mimics:
            leader, multiplier, offset, _ = self.mimics[name]
            return multiplier * float(q[self._places[leader]]) + offset
        joint = self.joint(name)
        return q[joint.index:joint.index + joint.size].copy()

    def check_limits(self, q: Array, tolerance: float = 1e-6) -> None:
        """Raise JointLimitError for the first joint of q (nq,) further outside."""
        for joint in self.joints:
            value = float(q[joint.index])
            if joint.is_scalar and not joint.lower - tolerance <= value <= joint.upper + tolerance:
                raise JointLimitError(joint.name, value, joint.lower, joint.upper)

    def sampling_limits(self, middle: Array) -> tuple[Array, Array]:
        """
        Return lower and upper bounds of random values, (nq,) each: the limits where there are two.

        Without any, within pi of `middle` (nq,); with one, within a turn (6.28 m) of that.
        """
        turn = 2 * np.pi
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        lower = np.where(low, self.lower, np.where(high, self.upper - turn, middle - np.pi))
        return lower, np.where(high, self.upper, np.where(low, self.lower + turn, middle + np.pi))

    def random_q(self, generator: np.random.Generator) -> Array:
        """
        Draw a configuration uniformly within the limits, (nq,).

        Joints without limits are drawn from [-pi, pi] (an angle, or metres), floating and planar
        positions from [-1, 1] m, orientations uniformly.
        """
        q = generator.uniform(*self.sampling_limits(np.zeros(self.nq)))
        for joint in self.joints:
            part = q[joint.index:joint.index + joint.size]
            if joint.kind == 'floating':
                part[:3] = generator.uniform(-1, 1, 3)
                part[3:] = generator.normal(size=4)
                _normalise(part[3:], joint.name)
            elif joint.kind == 'planar':
                part[:2] = generator.uniform(-1, 1, 2)
        return q

    # -- building -------------------------------------------------------------------------

    def _set_limits(self) -> None:
        self.lower, self.upper = np.full(self.nq, -np.inf), np.full(self.nq, np.inf)
        self.velocity_limits = np.full(self.nv, np.inf)
        for joint in self.joints:
            if joint.is_scalar:
                self.lower[joint.index], self.upper[joint.index] = joint.lower, joint.upper
                self.velocity_limits[joint.velocity_index] = joint.velocity_limit
        self.model.lowerPositionLimit = self.lower
        self.model.upperPositionLimit = self.upper
        for limits in (self.lower, self.upper, self.velocity_limits):
            limits.setflags(write=False)

    def _check_fits(self, shipped: ShippedRobot) -> None:
        try:
            links = [link for chain in shipped.chains.values() for link in chain]
            for frame in [shipped.tip, *links] if shipped.tip else links:
                self.frame_id(frame)
            if shipped.group:      # without the links of its chain there is no such group
                self.group(shipped.group)
            self.check_limits(self.to_q(shipped.home), LIMIT_TOLERANCE)
        except IKError as error:
            raise RobotDescriptionError(f'config/{shipped.name}.yaml: {error}') from None


# few, as each has Pinocchio's data of its own
_framed: LRUCache[tuple[Hashable, ...], Robot] = LRUCache(32)


def _is_rigid(pose: object) -> bool:
    """Return whether it is a finite pinocchio.SE3 with a valid rotation matrix."""
    if not isinstance(pose, pin.SE3) or not are_finite(pose.translation):
        return False
    R = pose.rotation
    return bool(np.abs(R.T @ R - np.eye(3)).max() < 1e-4 and np.linalg.det(R) > 0)


def _frames_key(frames: Mapping[str, tuple[str | None, pin.SE3]]) -> tuple[Hashable, ...]:
    return tuple((name, parent, pose.homogeneous.tobytes())
                 for name, (parent, pose) in frames.items())


def check_robot(value: object) -> None:
    """Raise InvalidOptionError unless the value is a Robot."""
    if not isinstance(value, Robot):
        raise InvalidOptionError("robot must be a Robot, such as Robot.load('panda'), not "
                                 f'{value!r}')


def _found(table: Mapping[str, T], name: str, error: type[UnknownNameError]) -> T:
    try:
        return table[name]
    except (KeyError, TypeError):
        raise error(name, tuple(table)) from None


def _read(text_or_path: str | Path, what: str) -> str:
    """Take XML as it is and anything else as a file name."""
    if isinstance(text_or_path, str) and '<' in text_or_path:
        return text_or_path
    try:
        return Path(text_or_path).read_text('utf-8')
    except UnicodeDecodeError:
        raise RobotDescriptionError(f'the {what} {text_or_path} is no text; valid: '
                                    f'{"URDF or xacro" if what == "URDF" else what}') from None
    except (OSError, ValueError, TypeError) as error:
        if not str(text_or_path).strip():
            raise RobotDescriptionError(f'the {what} is empty') from None
        raise RobotDescriptionError(f'the {what} cannot be read: {error}') from None


def _base(tree: RobotTree, semantics: Semantics, root_joint: str) -> JointElement | None:
    """Return the joint by which the root link moves in the world; None where it is fixed."""
    if root_joint == 'fixed':
        return None
    name, frame = semantics.virtual_joint or ('root_joint', 'world')
    return JointElement(_unused(name, tree.joints),
                        'planar' if root_joint == 'planar' else 'floating',
                        _unused(frame, tree.links), tree.root)


def _unused(name: str, taken: Collection[str]) -> str:
    """Return the name, lengthened if the robot has it already."""
    while name in taken:
        name = f'{name}_of_base'
    return name


def _floats(values: object, size: int, what: str, names: Sequence[str] = ()) -> Array:
    if type(values) is np.ndarray and values.dtype == np.float64 and values.shape == (size,) \
            and math.hypot(*values.tolist()) < SQUARABLE:
        return values.copy()     # solvers ask often, so it is quick
    wanted = f'{size} value{"s" * (size != 1)}'
    array = floats(values, what, wanted, InvalidStateError).reshape(-1)
    if array.size != size:
        order = f'; in this order: {", ".join(names)}' if names else ''
        raise InvalidStateError(f'{what} takes {wanted}, {array.size} given{order}')
    if not are_finite(array):
        raise InvalidStateError(f'{what} is not finite, or its square is not: {array.tolist()}')
    return array


def _normalise(quaternion: Array, joint: str) -> None:
    squared = float(quaternion @ quaternion)
    if abs(squared - 1) < UNIT:    # to do it again would change its last digits
        return
    norm = math.sqrt(squared)
    if norm < 1e-9:
        raise InvalidStateError(f"the quaternion of joint '{joint}' has norm zero")
    quaternion /= norm
