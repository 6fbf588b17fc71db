"""What can be measured of a configuration."""

from ros2_ik.core.functions.frame_pose import as_placement, FramePose
from ros2_ik.core.functions.kinematic_function import KinematicFunction

__all__ = ['FramePose', 'KinematicFunction', 'as_placement']
