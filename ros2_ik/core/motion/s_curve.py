"""Motions of constant jerk in closed form, used where ruckig is not installed."""

from collections.abc import Sequence

import numpy as np

from ros2_ik.core import scipy_rooms as scipy
from ros2_ik.core.arrays import Array
from ros2_ik.core.motion.course import Course, ramp, ramp_time, stop, Stretch
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import MotionLimits

LINE = 1e-9      # how far, as a part of its size, a vector on a line may be off it
EXACT = {'xtol': 1e-300, 'rtol': 4 * float(np.finfo(float).eps)}


def motion_to_goal(joints: tuple[str, ...], position: Array, velocity: Array, goal: Array,
                   limits: MotionLimits) -> Motion:
    """
    Return the motion from positions and velocities (n,) to rest at a goal (n,).

    Each joint changes to one velocity, keeps it and stops, as fast as it can or with the joint
    that takes longest; one that moves already and would have to slow down and speed up for that
    arrives before. A motion along the line to the goal stays on it.
    """
    way = goal - position
    line = _common_line(way, velocity)
    if line is not None:
        course = course_to(_along(way, line), _along(velocity, line), *_limits_on(line, limits))
        return _on_line(joints, position, line, course)
    rows = np.column_stack([way, velocity, limits.velocity, limits.acceleration,
                            limits.jerk]).tolist()

    def courses(duration: float) -> list[Course]:
        return [course_to(far, speed, v, a, j, duration) for far, speed, v, a, j in rows]
    longest = max(course.duration for course in courses(0.0))
    return _independent(joints, position, courses(longest))


def motion_to_rest(joints: tuple[str, ...], position: Array, velocity: Array,
                   acceleration: Array, limits: MotionLimits) -> Motion:
    """
    Return the fastest way to rest from positions, velocities and accelerations (n,).

    On the line of the velocity, all joints in step, where the acceleration is on it, too;
    otherwise each joint stops as fast as it can.
    """
    line = _common_line(velocity, acceleration)
    if line is not None:
        course = stop(_along(velocity, line), _along(acceleration, line),
                      *_limits_on(line, limits)[1:])
        return _on_line(joints, position, line, course)
    rows = np.column_stack([velocity, acceleration, limits.acceleration, limits.jerk]).tolist()
    return _independent(joints, position, [stop(*row) for row in rows])


def course_to(distance: float, velocity: float, fastest: float, acceleration: float, jerk: float,
              duration: float = 0.0) -> Course:
    """
    Return the course over a distance to rest, with at most the velocity `fastest`.

    It takes `duration` [s] or, where that is too short or cannot be met, as little as possible.
    """
    def time(change: float) -> float:
        return ramp_time(change, acceleration, jerk)
    braking = velocity / 2 * time(velocity)
    sign = 1.0 if distance >= braking else -1.0
    # from here on seen in the direction in which it moves before it stops for good
    distance, braking, speed = sign * distance, sign * braking, sign * velocity

    def ramps(peak: float) -> float:
        """Return the distance of the changes to a velocity and from there to rest."""
        return (speed + peak) / 2 * time(peak - speed) + peak / 2 * time(peak)
    lowest = speed if 0 < speed < fastest else 0.0
    if ramps(fastest) <= distance:
        peak = fastest
    elif ramps(lowest) >= distance:     # it has just to stop
        peak = lowest
    else:
        peak = scipy.optimize.brentq(lambda v: ramps(v) - distance, lowest, fastest, **EXACT)

    def missing(peak: float) -> float:
        return (time(peak - speed) + time(peak) + max(distance - ramps(peak), 0.0) / peak
                - duration)
    if peak > 0 and missing(peak) < 0 < missing(1e-9 * peak):
        slower = scipy.optimize.brentq(missing, 1e-9 * peak, peak, **EXACT)
        peak = slower if ramps(slower) <= distance else peak
    cruise = max(distance - ramps(peak), 0.0) / peak if peak > 0 else 0.0
    return Course(velocity, [*ramp(sign * (peak - speed), acceleration, jerk),
                             Stretch(cruise, 0.0, 0.0),
                             *ramp(-sign * peak, acceleration, jerk)], sign * distance)


def _common_line(one: Array, other: Array) -> Array | None:
    """Return the direction that both vectors have, its largest part 1; None if there is none."""
    first = one if one.any() else other
    if not first.any():
        return np.ones(len(one))
    line = first / np.abs(first).max()
    off = np.abs(other - _along(other, line) * line).max()
    return line if off <= LINE * np.abs(other).max() else None


def _along(vector: Array, line: Array) -> float:
    return float(vector @ line / (line @ line))


def _limits_on(line: Array, limits: MotionLimits) -> list[float]:
    """Return the largest velocity, acceleration and jerk on a line."""
    part = np.abs(line)
    return [float((values[part > 0] / part[part > 0]).min())
            for values in (limits.velocity, limits.acceleration, limits.jerk)]


def _on_line(joints: tuple[str, ...], start: Array, line: Array, course: Course) -> Motion:
    def state(time: float) -> MotionState:
        position, velocity, acceleration = course.at(time)
        return MotionState(start + position * line, velocity * line, acceleration * line)
    return Motion(joints, course.duration, state)


def _independent(joints: tuple[str, ...], start: Array, courses: Sequence[Course]) -> Motion:
    def state(time: float) -> MotionState:
        position, velocity, acceleration = np.array([course.at(time) for course in courses]).T
        return MotionState(start + position, velocity, acceleration)
    return Motion(joints, max(course.duration for course in courses), state)
