"""The straight motion to joint values."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, JointLimitError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import LIMIT_ROUNDING, MotionLimits
from ros2_ik.core.motion.timing import start_of, timed
from ros2_ik.core.robot import Joint, LIMIT_TOLERANCE, Robot

N_SAMPLES = 250     # positions that are checked for an overshoot


def straight_motion(robot: Robot, joints: Sequence[str], start: Any, goal: Any,
                    limits: MotionLimits, velocity: Any = None) -> Motion:
    """
    Make the fastest motion within limits from a start to a goal at rest, all joints in step.

    `start` and `goal` are values (n,) of `joints`, [rad] or [m]. Continuous joints go the short
    way, so that the motion may end full turns from the goal. From rest the way is straight in
    joint space; with a start `velocity` (n,) it becomes so. A start beyond a limit by less than
    1e-3 may go on from there.

    Raises JointLimitError for a goal, or a start, outside the limits; InvalidStateError for NaN,
    and for a velocity that carries a joint beyond its limits; UnknownJointError;
    InvalidOptionError for a joint that has not one value.
    """
    chosen = tuple(_single(robot, name) for name in joints)
    names = tuple(joint.name for joint in chosen)
    position, speed = start_of(names, start, velocity)
    wanted = vector(goal, 'the goal', len(names), InvalidStateError)
    end = np.array([_end(joint, *pair) for joint, *pair in zip(
        chosen, position.tolist(), wanted.tolist(), strict=True)])
    if not speed.any():
        return _from_rest(names, position, end, limits)
    motion = timed(names, position, speed, limits, goal=end)
    _check_overshoot(chosen, motion)
    return motion


def _from_rest(names: tuple[str, ...], start: Array, end: Array, limits: MotionLimits) -> Motion:
    """
    Time the way of the joint that goes farthest; the others go along in proportion.

    For all joints at once ruckig now and then leaves the straight line.
    """
    limits.check_count(len(names))
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
    """Return the goal where it is reached, and check both ends."""
    if joint.kind == 'continuous':
        return start + math.remainder(goal - start, math.tau)
    for value, slack in ((start, LIMIT_TOLERANCE), (goal, LIMIT_ROUNDING)):
        if not joint.lower - slack <= value <= joint.upper + slack:
            raise JointLimitError(joint.name, value, joint.lower, joint.upper)
    return min(max(goal, joint.lower), joint.upper)


def _check_overshoot(joints: tuple[Joint, ...], motion: Motion) -> None:
    """Look at positions, since ruckig 0.19's `position_extrema` leaves out an overshoot."""
    way = np.array([motion.at(t).position for t in np.linspace(0.0, motion.duration, N_SAMPLES)])
    for joint, column in zip(joints, way.T, strict=True):
        least, most = float(column.min()), float(column.max())
        lower, upper = min(joint.lower, column[0]), max(joint.upper, column[0])
        if least < lower - LIMIT_ROUNDING or most > upper + LIMIT_ROUNDING:
            beyond = least if least < joint.lower else most
            raise InvalidStateError(
                f"joint '{joint.name}' is too fast to stop within its limits "
                f'[{joint.lower:.6g}, {joint.upper:.6g}]: it would come to {beyond:.6g}')
