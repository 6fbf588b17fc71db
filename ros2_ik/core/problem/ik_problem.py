"""A question: which joints may move, and where to."""

from collections.abc import Iterable, Sequence
from typing import Any

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import listed
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem.free_joints import free_joints
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration, Robot


class IKProblem:
    """
    Targets for frames of a robot, and the joints that may move to reach them.

    The joints of `group` may move; without a group, all that move the tips. Passive joints and
    those named in `locked` never do. Joints that do not move stay at their values in `start`
    (anything `Robot.to_q` takes), by default `robot.neutral`. A target in a frame that only such
    joints move is resolved to the root frame here.

    Raises UnknownFrameError, UnknownGroupError, or InvalidTargetError when a tip cannot move.
    """

    def __init__(self, robot: Robot, targets: Sequence[PoseTarget] | PoseTarget,
                 group: str | None = None, start: JointValues | None = None,
                 locked: Iterable[str] = ()) -> None:
        found = [targets] if isinstance(targets, PoseTarget) else listed(targets)
        names = listed(locked)
        if not found or not all(isinstance(target, PoseTarget) for target in found):
            raise InvalidTargetError(f'targets must be a list of PoseTarget, not {targets!r}')
        if names is None:
            raise InvalidOptionError(f'locked is a list of joint names, not {locked!r}')
        self.robot, self.group = robot, group
        self.start = robot.to_q(start)
        self.start.setflags(write=False)
        self.locked_joints = frozenset(robot.joint(name).name for name in names)
        self.free = free_joints(robot, self._free_names(found))
        self.targets = tuple(self._resolved(target) for target in found)

    def _free_names(self, targets: Sequence[PoseTarget]) -> tuple[str, ...]:
        names = (set(self.robot.group(self.group).joint_names) - self.locked_joints
                 if self.group is not None else None)
        used: set[str] = set()
        for target in targets:
            moving = self._moving(target)
            if not moving & (names if names is not None else moving):
                group = '' if self.group is None else f" of group '{self.group}'"
                raise InvalidTargetError(f"no joint{group} moves '{target.tip}' relative to "
                                         f"'{target.relative_to or self.robot.root_frame}'")
            used |= moving
        free = used if names is None else names
        return tuple(name for name in self.robot.joint_names if name in free)

    def _moving(self, target: PoseTarget) -> frozenset[str]:
        """Joints that move a tip relative to its reference frame, passive ones left out."""
        moving = self.robot.moving_joints(target.tip, target.relative_to)
        return moving - self.robot.passive_joints - self.locked_joints

    def _resolved(self, target: PoseTarget) -> PoseTarget:
        """Restate a target in the root frame where its frame stands still."""
        frame = target.relative_to
        if frame is None or self.robot.moving_joints(frame) & set(self.joint_names):
            return target
        placement = Configuration(self.robot, self.start,
                                  self.robot.scratch_data()).placement(frame)
        return PoseTarget(target.tip, placement * target.function.reference, None, target.weights,
                          target.position_tolerance, target.orientation_tolerance)

    def question(self) -> dict[str, Any]:
        """Give the arguments that make this problem again, with its robot."""
        return {'targets': self.targets, 'group': self.group, 'start': self.start,
                'locked': self.locked_joints}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that may move, in the robot's order."""
        return self.free.names

    def locked(self, q: Array) -> Array:
        """Give q with every joint that may not move put where `start` has it, (nq,)."""
        result = self.start.copy()
        place = self.free.place
        result[place] = q[place]
        return result
