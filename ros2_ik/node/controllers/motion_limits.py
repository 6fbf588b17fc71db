"""Velocity, acceleration, jerk and position limits from the parameters and the URDF."""

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core import Array, MotionLimits, Robot

if TYPE_CHECKING:
    from ros2_ik.node.parameters import Parameters


def motion_limits(robot: Robot, joints: Sequence[str], parameters: 'Parameters') -> MotionLimits:
    """Return the velocity, acceleration and jerk limits of joints, without scaling."""
    return MotionLimits(np.array([_velocity(robot, joint, parameters) for joint in joints]),
                        acceleration_limits(joints, parameters),
                        _chosen('jerk', joints, parameters))


def acceleration_limits(joints: Sequence[str], parameters: 'Parameters') -> Array:
    """Return the acceleration limits (n,) of joints, without scaling [rad/s^2, m/s^2]."""
    return _chosen('acceleration', joints, parameters)


def _chosen(kind: str, joints: Sequence[str], parameters: 'Parameters') -> Array:
    usual = getattr(parameters, f'default_max_{kind}')
    return np.array([parameters.limit(joint, kind) or usual for joint in joints])


def position_bounds(robot: Robot, joints: Sequence[str]) -> tuple[Array, Array]:
    """Return the lower and upper position limits of joints, (n,) each, +-inf if unlimited."""
    limits = [robot.joint(joint) for joint in joints]
    return (np.array([joint.lower for joint in limits]),
            np.array([joint.upper for joint in limits]))


def _velocity(robot: Robot, joint: str, parameters: 'Parameters') -> float:
    """Return the smaller of the velocity limits in URDF and parameters; 0 counts as unset."""
    limits = robot.joint(joint).velocity_limit, parameters.limit(joint, 'velocity') or 0.0
    return min((limit for limit in limits if 0 < limit < math.inf),
               default=parameters.default_max_velocity)
