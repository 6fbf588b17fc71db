"""
Timing of motions by the library ruckig, and straight motions in joint space.

Source: Berscheid and Kroeger, "Jerk-limited real-time trajectory generation with arbitrary target
states", RSS 2021.
"""

from collections.abc import Sequence
import math

import numpy as np
import ruckig

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, JointLimitError
from ros2_ik.core.motion.motion import LIMIT_ROUNDING, Motion, MotionLimits, MotionState
from ros2_ik.core.robot import Joint, LIMIT_TOLERANCE, Robot


def timed(joints: tuple[str, ...], start: Array, goal: Array, limits: MotionLimits) -> Motion:
    """
    Return the fastest motion from rest to rest, from a start (n,) to a goal (n,).

    Raises InvalidOptionError for a wrong number of limits, and if ruckig finds no motion.
    """
    n = len(joints)
    limits.check_count(n)
    request = ruckig.InputParameter(n)
    request.current_position, request.target_position = start.tolist(), goal.tolist()
    request.max_velocity, request.max_acceleration, request.max_jerk = (
        values.tolist() for values in (limits.velocity, limits.acceleration, limits.jerk))
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(request, found)
    except ruckig.RuckigError as error:
        result = error
    if result != ruckig.Result.Working:
        raise InvalidOptionError(f'ruckig finds no motion: {result}')

    def state(time: float) -> MotionState:
        return MotionState(*(np.array(values) for values in found.at_time(time)))
    return Motion(joints, float(found.duration), state)


def straight_motion(robot: Robot, joints: Sequence[str], start: 'ArrayLike',
                    goal: 'ArrayLike', limits: MotionLimits) -> Motion:
    """
    Return the fastest motion from rest to rest on a straight line in joint space.

    `start` and `goal` are values (n,) of `joints`, [rad] or [m]. Continuous joints turn in the
    shorter direction, so the motion may end full turns away from the goal. The start may be
    outside a position limit by up to 1e-3 [rad, m].

    Raises JointLimitError for a start or goal outside the limits, InvalidStateError unless both
    are n finite numbers, UnknownJointError, and InvalidOptionError for a planar or floating joint,
    or a wrong number of limits.
    """
    chosen = tuple(robot.joint(name) for name in joints)
    names = tuple(joint.name for joint in chosen)
    for joint in chosen:
        if not joint.is_scalar:
            raise InvalidOptionError(f"joint '{joint.name}' is {joint.kind}; only joints of one "
                                     'value can be moved')
    begin = vector(start, 'the positions at the start', len(names), InvalidStateError)
    wanted = vector(goal, 'the goal', len(names), InvalidStateError)
    change = np.array([_end(joint, *pair) for joint, *pair in zip(
        chosen, begin.tolist(), wanted.tolist(), strict=True)]) - begin
    limits.check_count(len(names))
    # Time the joint that moves farthest; the other joints move in proportion. Ruckig could time
    # all joints at once, but it often leaves the straight line if joints have different limits
    # (0.19.4: 80 % of 5000 motions with random limits, by up to 0.5 rad).
    far = float(np.abs(change).max(initial=0.0))
    # change of each joint relative to the largest change, and the tightest limits along the line
    ratio = change / far if far else np.zeros(len(names))
    share = np.abs(ratio) if far else np.ones(len(names))
    least = MotionLimits(*(np.array([(values[share > 0] / share[share > 0]).min()])
                           for values in (limits.velocity, limits.acceleration, limits.jerk)))
    displacement = timed(('displacement',), np.zeros(1), np.array([far]), least)

    def state(time: float) -> MotionState:
        position, velocity, acceleration = displacement.state(time)
        return MotionState(begin + position * ratio, velocity * ratio, acceleration * ratio)
    return Motion(names, displacement.duration, state)


def _end(joint: Joint, start: float, goal: float) -> float:
    """Return the checked goal; for a continuous joint, the equivalent value nearest the start."""
    if joint.kind == 'continuous':
        return start + math.remainder(goal - start, math.tau)
    for value, slack in ((start, LIMIT_TOLERANCE), (goal, LIMIT_ROUNDING)):
        if not joint.lower - slack <= value <= joint.upper + slack:
            raise JointLimitError(joint.name, value, joint.lower, joint.upper)
    return min(max(goal, joint.lower), joint.upper)
