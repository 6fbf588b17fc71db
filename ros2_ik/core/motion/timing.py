"""Time-optimal motions between two states, by ruckig."""

from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import MotionLimits

try:
    import ruckig
except ImportError:      # everything but motions works without
    ruckig = None


def timed(joints: tuple[str, ...], position: Array, velocity: Array, limits: MotionLimits,
          **wanted: Any) -> Motion:
    """
    Give the fastest synchronised motion.

    `wanted` are further fields of ruckig's input. Source: Berscheid and Kroeger, "Jerk-limited
    real-time trajectory generation with arbitrary target states", RSS 2021. Raises
    InvalidStateError or InvalidOptionError.
    """
    n = len(joints)
    if ruckig is None:
        raise InvalidOptionError('motions need ruckig, which is not installed; '
                                 'pip install ruckig')
    check_count(limits, n)
    asked = ruckig.InputParameter(n)
    asked.current_position, asked.current_velocity = position.tolist(), velocity.tolist()
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = (
        values.tolist() for values in (limits.velocity, limits.acceleration, limits.jerk))
    asked.synchronization = ruckig.Synchronization.Phase
    for name, value in wanted.items():
        setattr(asked, name, value)
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(asked, found)
    except ruckig.RuckigError as error:
        raise InvalidOptionError(f'ruckig finds no motion: {error}') from None
    if result != ruckig.Result.Working:
        raise InvalidOptionError(f'ruckig finds no motion: {result}')

    def state(time: float) -> MotionState:
        return MotionState(*(np.array(values) for values in found.at_time(time)))
    return Motion(joints, float(found.duration), state)


def check_count(limits: MotionLimits, n: int) -> None:
    """Raise InvalidOptionError unless these are the limits of n joints."""
    if len(limits.velocity) != n:
        raise InvalidOptionError(f'there are limits of {len(limits.velocity)} joints, and '
                                 f'{n} joints')


def velocity_control() -> Any:
    """Give the mark by which ruckig is to reach a velocity, wherever that is."""
    return ruckig.ControlInterface.Velocity if ruckig else None


def start_of(joints: tuple[str, ...], position: Any, velocity: Any) -> tuple[Array, Array]:
    """Check a start; raises InvalidStateError."""
    n = len(joints)
    return (vector(position, 'the positions at the start', n, InvalidStateError),
            vector(np.zeros(n) if velocity is None else velocity, 'the velocities at the start',
                   n, InvalidStateError))
