"""Tips and elbows of the arms that get draggable goals."""

from contextlib import suppress
from typing import Any

from ros2_ik.core import (
    AmbiguousTipError,
    default_group,
    default_tip,
    Robot,
    UnknownNameError,
)

ARM = 4             # joints that a group has whose tip gets handles


def goal_tips(robot: Robot, parameters: Any) -> tuple[str, ...]:
    """
    Return the tips that get handles: the default one, and one of each other arm.

    An arm is a group with one tip and at least four joints, none of which an earlier one has.
    A default that the robot does not have counts as none: the node tells of it.
    """
    tips, taken = list[str](), set[str]()
    with suppress(AmbiguousTipError, UnknownNameError):
        tip = default_tip(robot, default_group(robot, parameters), parameters)
        taken |= robot.moving_joints(tip)
        tips.append(tip)
    for group in robot.groups.values():
        names = {name for name in group.joint_names if name in robot.joint_names}
        if len(group.tips) == 1 and len(names) >= ARM and not names & taken:
            tips.append(group.tips[0])
            taken |= robot.moving_joints(group.tips[0])
    return tuple(tips)


def elbow(robot: Robot, tip: str) -> str:
    """Return the joint frame half-way along what moves a tip."""
    model = robot.model
    chain = [index for index in model.supports[model.frames[robot.frame_id(tip)].parentJoint]
             if index and model.names[index] in robot.joint_names]
    return str(model.names[chain[len(chain) // 2]])
