"""Adapters that send motions to the robot's controllers; one module per kind of controller."""

from ros2_ik.node.controllers import (  # noqa: F401  (registers its kinds)
    follow_joint_trajectory,
    joint_state,
    joint_trajectory,
    position,
)
