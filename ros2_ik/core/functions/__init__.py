"""What can be measured of a configuration."""

from ros2_ik.core.functions.frame_pose import as_placement, FramePose
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import (
    function_kinds,
    KinematicFunction,
    register_function,
)
from ros2_ik.core.functions.relative_function import RelativeFunction

__all__ = ['FramePose', 'FramePosition', 'KinematicFunction', 'RelativeFunction', 'as_placement',
           'function_kinds', 'register_function']
