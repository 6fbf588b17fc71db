"""Controllers: how motions reach the arm, one file a kind, and what watches over them."""

from ros2_ik.node.controllers import (  # noqa: F401  (registers its kinds)
    follow_joint_trajectory,
    joint_state,
    joint_trajectory,
    position,
)
