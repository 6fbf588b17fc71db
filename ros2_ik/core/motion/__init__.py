"""Motions in joint space: timing within joint limits, braking, and collision checks."""

from ros2_ik.core.motion.braking import braking_motion, braking_on_path, stopped_within
from ros2_ik.core.motion.motion import LIMIT_ROUNDING, Motion, MotionLimits, MotionState
from ros2_ik.core.motion.path_collision_check import blocked, PathCollision, PathCollisionCheck
from ros2_ik.core.motion.timing import straight_motion

__all__ = ['LIMIT_ROUNDING', 'Motion', 'MotionLimits', 'MotionState', 'PathCollision',
           'PathCollisionCheck', 'blocked', 'braking_motion', 'braking_on_path', 'stopped_within',
           'straight_motion']
