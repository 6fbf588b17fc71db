"""Straight motions in joint space."""

from collections.abc import Sequence
import math

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, JointLimitError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import LIMIT_ROUNDING, MotionLimits
from ros2_ik.core.motion.timing import timed
from ros2_ik.core.robot import Joint, LIMIT_TOLERANCE, Robot


def straight_motion(robot: Robot, joints: Sequence[str], start: 'ArrayLike',
                    goal: 'ArrayLike', limits: MotionLimits) -> Motion:
    """
    Return the fastest motion from rest to rest on a straight line in joint space.

    `start` and `goal` are values (n,) of `joints`, [rad] or [m]. Continuous joints take the
    shorter direction, so that the motion may end full turns away from the goal. The start may be
    outside a position limit by up to 1e-3.

    Raises JointLimitError for a start or goal outside the limits, InvalidStateError for NaN,
    UnknownJointError, and InvalidOptionError for a planar or floating joint.
    """
    chosen = tuple(_single(robot, name) for name in joints)
    names = tuple(joint.name for joint in chosen)
    position = vector(start, 'the positions at the start', len(names), InvalidStateError)
    wanted = vector(goal, 'the goal', len(names), InvalidStateError)
    end = np.array([_end(joint, *pair) for joint, *pair in zip(
        chosen, position.tolist(), wanted.tolist(), strict=True)])
    return _timed(names, position, end, limits)


def _timed(names: tuple[str, ...], start: Array, end: Array, limits: MotionLimits) -> Motion:
    """
    Time the joint that moves farthest; the other joints move in proportion.

    Ruckig could time all joints at once, but with different limits of the joints it often leaves
    the straight line (0.19.4: 80 % of 5000 motions with random limits, by up to 0.5 rad).
    """
    limits.check_count(len(names))
    # motion of each joint relative to the largest, and the tightest limits along the line
    far = float(np.abs(end - start).max(initial=0.0))
    part = (end - start) / far if far else np.zeros(len(names))
    share = np.abs(part) if far else np.ones(len(names))
    least = MotionLimits(*(np.array([(values[share > 0] / share[share > 0]).min()])
                           for values in (limits.velocity, limits.acceleration, limits.jerk)))
    way = timed(('way',), np.zeros(1), np.zeros(1), least, goal=np.array([far]))

    def state(time: float) -> MotionState:
        position, velocity, acceleration = way.state(time)
        return MotionState(start + position * part, velocity * part, acceleration * part)
    return Motion(names, way.duration, state)


def _single(robot: Robot, name: str) -> Joint:
    joint = robot.joint(name)
    if not joint.is_scalar:
        raise InvalidOptionError(f"joint '{name}' is {joint.kind}; only joints of one value can "
                                 'be moved')
    return joint


def _end(joint: Joint, start: float, goal: float) -> float:
    """Return the checked goal; for a continuous joint, the equivalent value nearest the start."""
    if joint.kind == 'continuous':
        return start + math.remainder(goal - start, math.tau)
    for value, slack in ((start, LIMIT_TOLERANCE), (goal, LIMIT_ROUNDING)):
        if not joint.lower - slack <= value <= joint.upper + slack:
            raise JointLimitError(joint.name, value, joint.lower, joint.upper)
    return min(max(goal, joint.lower), joint.upper)
