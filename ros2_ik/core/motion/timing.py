"""
Timing of motions by the library ruckig.

Source: Berscheid and Kroeger, "Jerk-limited real-time trajectory generation with arbitrary target
states", RSS 2021.
"""


import numpy as np
import ruckig

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import MotionLimits


def timed(joints: tuple[str, ...], position: Array, velocity: Array, limits: MotionLimits, *,
          acceleration: Array | None = None, goal: Array | None = None,
          in_step: bool = True) -> Motion:
    """
    Return the fastest motion to rest at a goal (n,), or, without a goal, at any position.

    With `in_step`, the joints stop at the same time and, if ruckig finds such a motion, move in
    proportion. Without `in_step`, each joint moves as fast as it can.

    Raises InvalidOptionError for a wrong number of limits, and if ruckig finds no motion.
    """
    n = len(joints)
    limits.check_count(n)
    asked = ruckig.InputParameter(n)
    asked.current_position, asked.current_velocity = position.tolist(), velocity.tolist()
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = (
        values.tolist() for values in (limits.velocity, limits.acceleration, limits.jerk))
    asked.synchronization = (ruckig.Synchronization.Phase if in_step
                             else ruckig.Synchronization.No)
    if acceleration is not None:
        asked.current_acceleration = acceleration.tolist()
    # the velocity interface brakes to rest without a target position
    if goal is None:
        asked.control_interface = ruckig.ControlInterface.Velocity
    else:
        asked.target_position = goal.tolist()
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(asked, found)
    except ruckig.RuckigError as error:
        raise InvalidOptionError(f'ruckig finds no motion: {error}') from None
    if result != ruckig.Result.Working:
        raise InvalidOptionError(f'ruckig finds no motion: {result}')

    def state(time: float) -> MotionState:
        return MotionState(*(np.array(values) for values in found.at_time(time)))
    rests = () if in_step else tuple(sorted(
        {time for time in found.independent_min_durations if time < found.duration}))
    return Motion(joints, float(found.duration), state, rests)


def start_of(joints: tuple[str, ...], position: object, velocity: object) -> tuple[Array, Array]:
    """Return positions and velocities at a start as arrays (n,); raises InvalidStateError."""
    n = len(joints)
    return (vector(position, 'the positions at the start', n, InvalidStateError),
            vector(velocity, 'the velocities at the start', n, InvalidStateError))
