"""Where joints shall go: what of it can be, and must be, moved."""

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from ros2_ik.core import Joint, Robot, Status, UnknownJointError
from ros2_ik.node.controllers.joint_feedback import JointFeedback, offset
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.request_error import RequestError

HAIR = 1e-6   # a goal so far outside is meant to be on the limit [rad, m]


def read_goal(robot: Robot, joints: Mapping[str, Any], group: str, controllers: RobotControllers,
              measured: JointFeedback, tolerance: float) -> dict[str, float]:
    """
    Return the joints to be moved, and where to; {} when all are there already.

    A joint that may not move, or that no controller moves, must be within `tolerance` of the
    goal. Raises RequestError.
    """
    if not joints:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS, 'the goal names no joint')
    allowed = robot.group(group).joint_names if group else robot.joint_names
    goal = {}
    for name, value in joints.items():
        if name in robot.mimics:
            continue
        joint = _checked(robot, name, value)
        if joint.name in allowed and controllers.moves(name):
            goal[name] = float(value)
        elif not _there(robot, name, value, measured, tolerance):
            if name in allowed:
                raise RequestError(Status.CONTROL_FAILED, controllers.lack([name]))
            raise RequestError(Status.INVALID_GOAL_CONSTRAINTS, f"joint '{name}' is not in group "
                               f"'{group}', and not where the goal wants it")
    return goal


def _checked(robot: Robot, name: str, value: Any) -> Joint:
    try:
        joint = robot.joint(name)
    except UnknownJointError as error:
        raise RequestError(Status.INVALID_ROBOT_STATE, f'the goal: {error}') from None
    if not joint.is_scalar:
        raise RequestError(
            Status.INVALID_ROBOT_STATE,
            f"the goal: joint '{name}' is {joint.kind}, which nothing here can move")
    if not math.isfinite(value):
        raise RequestError(Status.INVALID_ROBOT_STATE, f"the goal: joint '{name}' is at {value}")
    if not joint.lower - HAIR <= value <= joint.upper + HAIR:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                           f"the goal: joint '{name}' is at {value:.6g}, outside its limits "
                           f'[{joint.lower:.6g}, {joint.upper:.6g}]')
    return joint


def _there(robot: Robot, name: str, value: float, measured: JointFeedback,
           tolerance: float) -> bool:
    if measured.stale([name]):
        return False
    off = offset(robot, [name], measured.state([name])[0], np.array([value]))
    return bool(abs(off[0]) <= tolerance)
