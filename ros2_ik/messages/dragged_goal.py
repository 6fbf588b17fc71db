"""A goal that is dragged, and what the menu asks for besides."""

from collections.abc import Iterator
from dataclasses import dataclass

from builtin_interfaces.msg import Duration
import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Robot
from ros2_ik.messages.goal_arms import elbow
from ros2_ik.msg import Bounds, Function, FunctionParameter
from ros2_ik.srv import ComputeIK

LEVEL = 0.05        # by which a level tool may lean [rad]
GAZE = 0.05         # by which a tool that looks at a point may look past it [rad]
QUICK, PATIENT = Duration(nanosec=20_000_000), Duration(nanosec=100_000_000)
NEAR = 0.5          # no joint goes farther from its seed in the quick search [rad, m]


def drag_requests(request: ComputeIK.Request, near: bool) -> Iterator[ComputeIK.Request]:
    """
    Give what to ask in turn, until a solution comes: for one near the seed, then for any.

    So that the arm does not jump to another branch while the old one goes on. Without `near`
    only for any.
    """
    if near:
        request.timeout, request.max_joint_change = QUICK, NEAR
        yield request
    request.timeout, request.max_joint_change = PATIENT, 0.0
    yield request


@dataclass
class DraggedGoal:
    """
    Where a tip is to be, and what else of it.

    `up` is what in the tip's frame shall point upwards, `low` the height that the elbow shall
    stay below [m].
    """

    tip: str
    pose: pin.SE3
    up: Array | None = None
    low: float | None = None
    looks: bool = False

    @property
    def turns_freely(self) -> bool:
        """Whether the tip's rotation is left to what the menu asks for."""
        return self.up is not None or self.looks

    def constraints(self, robot: Robot, point: Array | None) -> Iterator[Function]:
        """Give what the menu has switched on; `point` (3,) is the one that is looked at."""
        if self.up is not None:
            yield _function('angle_between_vectors', self.tip, upper=[LEVEL],
                            vector=self.up.tolist(), other_vector=[0.0, 0.0, 1.0])
        if self.low is not None:
            yield _function('frame_position', elbow(robot, self.tip),
                            upper=[np.inf, np.inf, self.low])
        if self.looks and point is not None:
            yield _function('gaze_angle', self.tip, upper=[GAZE], origin=[0.0, 0.0, 0.0],
                            axis=[0.0, 0.0, 1.0], target=point.tolist())


def _function(kind: str, frame: str, upper: list[float], **fields: list[float]) -> Function:
    return Function(kind=kind, frame=frame, bounds=Bounds(upper=upper), parameters=[
        FunctionParameter(name=name, numbers=value) for name, value in fields.items()])
