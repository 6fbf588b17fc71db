"""The robot: its joints, links, frames, limits and groups, from a URDF and an SRDF."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
import hashlib
import math
from pathlib import Path
import threading
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, FLOAT, JointValues
from ros2_ik.core.checks import are_finite, floats, look_up, MAX_NORM, one_of
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
)
from ros2_ik.core.robot.joint import Joint, joints_in_q, LIMIT_TOLERANCE
from ros2_ik.core.robot.packages import expand_xacro
from ros2_ik.core.robot.pinocchio_model import build_model, model_joints
from ros2_ik.core.robot.shipped import shipped_robots, ShippedRobot
from ros2_ik.core.robot.srdf import Group, Semantics
from ros2_ik.core.robot.urdf import parse_urdf

ROOT_JOINTS = ('fixed', 'planar', 'freeflyer')
# largest rounding error of the squared norm of a normalized quaternion
UNIT_NORM_TOLERANCE = 2e-15


class Robot:
    """
    A robot from a URDF and, optionally, an SRDF; immutable and picklable.

    Create robots with `from_urdf` or `load`. `tree` has the links, joints and XML of the URDF;
    `elements` has all joints by name, with three joints for a planar joint, as in the Pinocchio
    `model`. `base_joint` names the joint between the world and the root link, None if fixed.

    `key` is a hash of URDF, SRDF and root joint, but not of mesh files: robots with equal keys
    have the same joints, links, groups and layout of q. `added_frames` are the frames added by
    `with_frames`; `key_with_frames` is a hashable key of the robot with these frames.

    q is an array (nq,) with the values of `joint_names` in order: an angle [rad] for a revolute or
    continuous joint, a distance [m] for a prismatic joint, x y z qx qy qz qw for a floating joint,
    x y theta for a planar joint. Fixed and mimic joints have no value in q. Angles of continuous
    joints are not wrapped: values that differ by 2 pi are different. Tangent vectors (nv,) have
    the same layout except for floating joints, which have six components: linear, then angular
    velocity, in the axes of the child link.
    """

    example = ", such as Robot.load('panda')"    # in errors of `instance`

    def __init__(self, urdf: str, package_dirs: tuple[str, ...], srdf: str | None,
                 root_joint: str, srdf_file: str = '') -> None:
        one_of(root_joint, 'root_joint', ROOT_JOINTS, RobotDescriptionError)
        self.urdf, self.srdf = urdf, srdf
        self.key = hashlib.sha256(repr((urdf, srdf, root_joint)).encode()).hexdigest()
        self.package_dirs, self.root_joint = package_dirs, root_joint
        self.tree = tree = parse_urdf(urdf)
        semantics = Semantics(srdf or '<robot/>', tree, f'SRDF {srdf_file}'.strip())
        self.name, self.warnings = tree.name, (*tree.warnings, *semantics.warnings)
        self.base_joint: str | None = None
        self.root_frame, joints = tree.root, [*tree.joints.values()]
        if root_joint != 'fixed':
            # rename the base joint and its parent frame if the URDF already uses their names
            name, frame = semantics.base_joint
            self.base_joint = f'{name}_of_base' if name in tree.joints else name
            self.root_frame = f'{frame}_of_base' if frame in tree.links else frame
            kind = 'planar' if root_joint == 'planar' else 'floating'
            joints.insert(0, Joint(self.base_joint, kind, self.root_frame, tree.root))
        self.elements = {part.name: part for joint in joints for part in model_joints(joint)}
        self.model = build_model(tree, self.root_frame, joints)
        self.mimics = {j.name: j.mimic for j in tree.joints.values() if j.mimic}
        self.joints = joints_in_q(self.model, joints)
        self.joint_names = tuple(joint.name for joint in self.joints)
        self._joints_by_name = {joint.name: joint for joint in self.joints}
        self.floating_joints = tuple(joint for joint in self.joints if joint.kind == 'floating')
        self.nq, self.nv = int(self.model.nq), int(self.model.nv)
        self._set_limits()
        self.passive_joints = semantics.passive_joints
        self.disabled_pairs, self.enabled_pairs = semantics.disabled_pairs, semantics.enabled_pairs
        self.groups = semantics.groups(self.joint_names)
        # leave out fixed joints, mimic joints, and joints with a wrong number of values
        self.group_states = {
            group: {state: {name: value[0] if len(value) == 1 else value
                            for name, value in values.items() if name in self._joints_by_name
                            and len(value) == self.joint(name).size}
                    for state, values in states.items()}
            for group, states in semantics.states.items()}
        self._scratch = threading.local()
        self._moving: dict[tuple[int, ...], frozenset[str]] = {}
        self._frame_ids = self._own_frames(semantics.world_frame)
        self.added_frames: Mapping[str, tuple[str | None, pin.SE3]] = MappingProxyType({})
        self.key_with_frames: tuple[Hashable, ...] = (self.key,)
        self._original: Robot | None = None     # not self: a reference cycle would delay freeing

    @classmethod
    def from_urdf(cls, text_or_path: str | Path, package_dirs: str | Iterable[str | Path] = (),
                  srdf: str | Path | None = None, root_joint: str = 'fixed',
                  xacro_args: Mapping[str, str] = MappingProxyType({})) -> 'Robot':
        """
        Return a robot from a URDF text, a URDF file or a .xacro file.

        A .xacro file is expanded with `xacro_args`. `package_dirs` are the folders searched for
        package:// URIs and relative mesh paths, after the folder of the URDF file. `srdf` is an
        SRDF text or file. `root_joint` is the kind of the joint between the world and the root
        link: 'fixed', 'planar' (x y theta) or 'freeflyer'. A virtual joint of the root link in the
        SRDF gives this joint its name and parent frame.

        Raises RobotDescriptionError, which names the invalid element.
        """
        if isinstance(package_dirs, (str, Path)):
            package_dirs = [package_dirs]
        folders = [str(folder) for folder in package_dirs]
        urdf = (expand_xacro(Path(text_or_path), folders, xacro_args)
                if str(text_or_path).endswith('.xacro') else _read(text_or_path, 'URDF'))
        if urdf is not text_or_path:
            folders.insert(0, str(Path(text_or_path).absolute().parent))
        text = None if srdf is None else _read(srdf, 'SRDF')
        return cls(urdf, tuple(folders), text, root_joint, '' if srdf is text else str(srdf))

    @classmethod
    def load(cls, robot: str | ShippedRobot, root_joint: str | None = None) -> 'Robot':
        """
        Return a shipped robot by its name, such as 'panda', or the robot of a ShippedRobot.

        `shipped_robots()` returns all names. Raises UnknownNameError, or RobotDescriptionError if
        the files of the robot are not installed or do not match its config file.
        """
        shipped = (robot if isinstance(robot, ShippedRobot)
                   else look_up(shipped_robots(), robot, partial(UnknownNameError, kind='robot')))
        urdf, folders, srdf = shipped.sources()
        loaded = cls.from_urdf(urdf, folders, srdf,
                               shipped.root_joint if root_joint is None else root_joint)
        # all names of the config file must exist, and `home` must be valid
        try:
            for frame in (shipped.tip or loaded.root_frame,
                          *(link for ends in shipped.chains.values() for link in ends)):
                loaded.frame_id(frame)
            if shipped.group:
                loaded.group(shipped.group)
            loaded.check_limits(loaded.to_q(shipped.home), LIMIT_TOLERANCE)
        except IKError as error:
            raise RobotDescriptionError(f'config/{shipped.name}.yaml: {error}') from None
        return loaded

    def __reduce__(self) -> tuple[object, ...]:
        # pickled as the robot without added frames, and the arguments that add them again
        if self.added_frames:
            return Robot.with_frames, (self.without_added_frames, dict(self.added_frames))
        return Robot, (self.urdf, self.package_dirs, self.srdf, self.root_joint)

    def __repr__(self) -> str:
        return f"Robot('{self.name}', {len(self.joints)} joints, nq={self.nq}, nv={self.nv})"

    # -- added frames ---------------------------------------------------------------------

    @property
    def without_added_frames(self) -> 'Robot':
        """The robot without the frames that `with_frames` added."""
        return self._original or self

    def with_frames(self, frames: Mapping[str, tuple[str | None, pin.SE3]]) -> 'Robot':
        """
        Return the robot with additional frames, such as a tool.

        `frames` maps the name of each new frame to a pair: the frame that it is fixed to (None:
        the root frame), and its pose in that frame. Scenes and collision checkers of the robot
        without these frames remain valid. Recent calls with equal frames return the same object.

        Raises UnknownFrameError, or InvalidOptionError for an invalid pair or a name that the
        robot already has.

            robot.with_frames({'tool': ('tool0', pin.SE3(np.eye(3), np.array([0, 0, 0.1])))})
        """
        if not frames:
            return self
        for name, at in frames.items():
            if not isinstance(name, str) or name in self._frame_ids:
                raise InvalidOptionError(f'{name!r} cannot name a frame; valid: a text that is '
                                         'not the name of a frame of the robot')
            if not (isinstance(at, tuple) and len(at) == 2 and _is_rigid(at[1])
                    and isinstance(at[0], str | None)):
                raise InvalidOptionError(f"frame '{name}' takes a pair of a frame (None: the root "
                                         f'frame) and a rigid pinocchio.SE3, not {at!r}')
        plain, added = self.without_added_frames, {**self.added_frames, **frames}
        return _framed(plain, *((name, parent, pose.homogeneous.tobytes())
                                for name, (parent, pose) in added.items()))

    def _with_added(self, *frames: tuple[str, str | None, bytes]) -> 'Robot':
        """Return the robot with added frames: tuples of name, parent, and pose (4, 4) as bytes."""
        robot = object.__new__(Robot)
        robot.__dict__.update(vars(self))
        robot._original, robot.key_with_frames = self, (self.key, *frames)
        robot.added_frames = MappingProxyType(
            {name: (parent, pin.SE3(np.frombuffer(pose).reshape(4, 4)))
             for name, parent, pose in frames})
        # added frames need a copy of the model, with its own data and caches of frame indices
        robot.model, robot._frame_ids = self.model.copy(), dict(self._frame_ids)
        robot._scratch, robot._moving = threading.local(), {}
        for name, (parent, pose) in robot.added_frames.items():
            index = 0 if parent is None else robot.frame_id(parent)
            base = robot.model.frames[index]
            robot._frame_ids[name] = robot.model.addFrame(pin.Frame(
                name, base.parentJoint, index, base.placement * pose, pin.FrameType.OP_FRAME),
                False)
        return robot

    # -- names ----------------------------------------------------------------------------

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Frame names: links, joints (at their child links), SRDF world frame, added frames."""
        return tuple(self._frame_ids)

    def _own_frames(self, world_frame: str | None) -> dict[str, int]:
        """Return Pinocchio's frame indices; links hide joints of the same name, as in MoveIt."""
        # skip frame 0 (universe); `ids` also omits the extra joints that replace a planar joint
        frames = list(enumerate(self.model.frames))[1:]
        links = {frame.name: index for index, frame in frames if frame.type == pin.FrameType.BODY}
        joints = {*self.tree.joints, self.base_joint} - links.keys()
        ids = links | {frame.name: index for index, frame in frames if frame.name in joints}
        # the parent frame of a fixed virtual joint is another name for the root frame
        if world_frame and self.root_joint == 'fixed':
            ids.setdefault(world_frame, ids[self.root_frame])
        return ids

    def frame_id(self, frame: str) -> int:
        """Return Pinocchio's index of a frame; raises UnknownFrameError."""
        return look_up(self._frame_ids, frame, UnknownFrameError)

    def joint(self, name: str) -> Joint:
        """Return the joint with this name; raises UnknownJointError."""
        return look_up(self._joints_by_name, name, UnknownJointError)

    def group(self, name: str) -> Group:
        """Return the group with this name; raises UnknownGroupError."""
        return look_up(self.groups, name, UnknownGroupError)

    def scratch_data(self) -> pin.Data:
        """Return the pinocchio.Data of this thread, which any computation may overwrite."""
        # createData takes longer than most computations with the data
        try:
            return self._scratch.data
        except AttributeError:
            self._scratch.data = self.model.createData()
            return self._scratch.data

    def moving_joints(self, frame: str, relative_to: str | None = None) -> frozenset[str]:
        """
        Return the joints in q that move `frame` relative to `relative_to` (None: the root frame).

        Mimic joints are represented by their leaders. Raises UnknownFrameError.
        """
        frames = self.frame_id(frame), 0 if relative_to is None else self.frame_id(relative_to)
        if frames not in self._moving:
            one, other = (set(self.model.supports[self.model.frames[index].parentJoint])
                          for index in frames)
            # a mimic joint has the column of its leader
            columns = {self.model.joints[joint].idx_v for joint in one ^ other}
            self._moving[frames] = frozenset(
                joint.name for joint in self.joints if joint.velocity_index in columns)
        return self._moving[frames]

    # -- values ---------------------------------------------------------------------------

    @cached_property
    def neutral(self) -> Array:
        """Default q (nq,): 0 if allowed, else mid-range or the only limit; quaternions 0 0 0 1."""
        q: Array = np.clip(0.0, self.lower, self.upper)
        # joints with two limits that exclude 0
        outside = (q != 0) & np.isfinite(self.upper - self.lower)
        q[outside] = (self.lower[outside] + self.upper[outside]) / 2
        q[[joint.index + 6 for joint in self.floating_joints]] = 1.0
        q.setflags(write=False)
        return q

    def to_q(self, values: JointValues | None = None, start: Array | None = None,
             what: str = 'q') -> Array:
        """
        Return joint values as q (nq,), with normalized quaternions.

        `values` is a mapping from joint names, or an array in the order of `joint_names`. Joints
        missing from a mapping take their values from `start` (nq,), by default `neutral`; values
        of mimic joints are ignored. `what` names the array in error messages.

        Raises UnknownJointError, or InvalidStateError for NaN, magnitudes of 1e150 or more, a
        wrong count or a quaternion of norm zero.
        """
        if type(values) is not np.ndarray and (values is None or isinstance(values, Mapping)):
            q = self.neutral.copy() if start is None else _floats(start, self.nq, 'start')
            for name, value in (values or {}).items():
                if not isinstance(name, str) or name not in self.mimics:
                    joint = self.joint(name)
                    # fast path: a plain float needs no array
                    q[joint.index:joint.index + joint.size] = (
                        value if type(value) is float and joint.size == 1
                        and abs(value) < MAX_NORM
                        else _floats(value, joint.size, f"joint '{name}'"))
        else:
            q = _floats(values, self.nq, what, self.joint_names)
        for joint in self.floating_joints:
            _normalise(q[joint.index + 3:joint.index + 7], joint.name)
        return q

    def to_joints(self, q: Array, names: Iterable[str] | None = None, *,
                  include_mimic: bool = False) -> dict[str, Any]:
        """
        Return the values of q (nq,) by joint name: floats, or arrays for multi-valued joints.

        `names` may include mimic joints. The default is `joint_names`, to which `include_mimic`
        adds all mimic joints.
        """
        q = np.asarray(q, dtype=float).reshape(self.nq)
        values = q.tolist()
        joints: dict[str, Any] = {
            joint.name: values[joint.index] if joint.size == 1
            else q[joint.index:joint.index + joint.size].copy() for joint in self.joints}
        if include_mimic or names is not None:
            for name, (leader, multiplier, offset) in self.mimics.items():
                joints[name] = multiplier * joints[leader] + offset
        if names is None:
            return joints
        return {name: look_up(joints, name, UnknownJointError) for name in names}

    def check_limits(self, q: Array, tolerance: float = 1e-6) -> None:
        """Raise JointLimitError for the first joint beyond a limit by more than `tolerance`."""
        for joint in self.joints:
            value = float(q[joint.index])
            if joint.is_scalar and not joint.lower - tolerance <= value <= joint.upper + tolerance:
                raise JointLimitError(joint.name, value, joint.lower, joint.upper)

    def sampling_limits(self) -> tuple[Array, Array]:
        """
        Return the lower and upper bounds of random joint values, (nq,) each.

        The bounds of a joint with two limits are these limits; with one limit, this limit and a
        value 2 pi (rad or m) away from it; without limits, -pi and pi (rad or m).
        """
        turn = 2 * np.pi
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        lower = np.where(low, self.lower, np.where(high, self.upper - turn, -np.pi))
        return lower, np.where(high, self.upper, np.where(low, self.lower + turn, np.pi))

    def random_q(self, generator: np.random.Generator) -> Array:
        """
        Draw a configuration (nq,) uniformly within `sampling_limits`.

        Floating and planar joints: positions within [-1, 1] m, uniformly random orientations.
        """
        q = generator.uniform(*self.sampling_limits())
        for joint in self.joints:
            part = q[joint.index:joint.index + joint.size]
            if joint.kind == 'floating':
                part[:3] = generator.uniform(-1, 1, 3)
                part[3:] = generator.normal(size=4)
            elif joint.kind == 'planar':
                part[:2] = generator.uniform(-1, 1, 2)
        return self.to_q(q)

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


# a small cache, because each of its robots has its own Pinocchio model and data
_framed = lru_cache(maxsize=32)(Robot._with_added)


def _is_rigid(pose: object) -> bool:
    """Return whether a pose is a finite pinocchio.SE3 with a valid rotation matrix."""
    return isinstance(pose, pin.SE3) and pose.isApprox(
        pin.SE3(pin.Quaternion(pose.rotation).normalized(), pose.translation), 1e-4)


def _read(text_or_path: str | Path, what: str) -> str:
    """Return XML text unchanged, or the content of the file at a path."""
    if isinstance(text_or_path, str) and '<' in text_or_path:
        return text_or_path
    if isinstance(text_or_path, str) and not text_or_path:
        raise RobotDescriptionError(f"the {what} is ''; valid: XML, or the name of a file")
    try:
        return Path(text_or_path).read_text('utf-8')
    except (OSError, ValueError, TypeError) as error:
        raise RobotDescriptionError(
            f"the {what} '{text_or_path}' is neither XML nor a readable file: {error}") from None


def _floats(values: object, size: int, what: str, names: Sequence[str] = ()) -> Array:
    """Return finite values as a float array (size,); raises InvalidStateError."""
    # fast path first: this code runs in each call of a solver
    if type(values) is np.ndarray and values.dtype is FLOAT and values.shape == (size,) \
            and math.hypot(*values.tolist()) < MAX_NORM:
        return values.copy()
    wanted = f'{size} finite number{"s" * (size != 1)} below {MAX_NORM:g}'
    array = floats(values, what, wanted, InvalidStateError).reshape(-1)
    if array.size != size or not are_finite(array):
        order = f' of {", ".join(names)}' if names else ''
        raise InvalidStateError(f'{what} must be {wanted}{order}, not {array.tolist()}')
    return array


def _normalise(quaternion: Array, joint: str) -> None:
    squared = float(quaternion @ quaternion)
    # normalizing a unit quaternion again would change its last digits
    if abs(squared - 1) < UNIT_NORM_TOLERANCE:
        return
    norm = math.sqrt(squared)
    if norm < 1e-9:
        raise InvalidStateError(f"the quaternion of joint '{joint}' has norm zero")
    quaternion /= norm
