"""Limits of motions by the parameters and the URDF."""

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core import Array, MotionLimits, Robot

if TYPE_CHECKING:
    from ros2_ik.node.parameters import Parameters


def motion_limits(robot: Robot, joints: Sequence[str], parameters: 'Parameters') -> MotionLimits:
    """Return the limits of joints, not scaled."""
    return MotionLimits(np.array([_velocity(robot, joint, parameters) for joint in joints]),
                        acceleration_limits(joints, parameters),
                        _chosen('jerk', joints, parameters))


def acceleration_limits(joints: Sequence[str], parameters: 'Parameters') -> Array:
    """Return the largest accelerations (n,) of joints, not scaled."""
    return _chosen('acceleration', joints, parameters)


def _chosen(kind: str, joints: Sequence[str], parameters: 'Parameters') -> Array:
    usual = getattr(parameters, f'default_max_{kind}')
    return np.array([parameters.limit(joint, kind) or usual for joint in joints])


def position_bounds(robot: Robot, joints: Sequence[str]) -> tuple[Array, Array]:
    """Return the smallest and the largest positions of joints, (n,) each; infinite ones, too."""
    limits = [robot.joint(joint) for joint in joints]
    return (np.array([joint.lower for joint in limits]),
            np.array([joint.upper for joint in limits]))


def _velocity(robot: Robot, joint: str, parameters: 'Parameters') -> float:
    """Return the smaller one of the URDF's and the parameters'; 0 in the URDF says nothing."""
    said = robot.joint(joint).velocity_limit, parameters.limit(joint, 'velocity') or 0.0
    return min((most for most in said if 0 < most < math.inf),
               default=parameters.default_max_velocity)
