"""Braking motions as cubic polynomials."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, Mask
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.motion.motion import Motion, MotionLimits, MotionState

# number of durations tried, in a geometric series
N_DURATIONS = 1000
# number of durations that are evaluated together
N_TOGETHER = 50
# N_DURATIONS and N_TOGETHER of `braking_on_path`; fewer, as rest points are evaluated one by one
N_PATH_DURATIONS = 80
N_PATH_TOGETHER = 10
# shortest duration tried on a path, or by `braking_motion` if start and `others` are at rest [s]
MIN_DURATION = 0.03
# longest duration tried by `braking_motion`, unless even the shortest one is longer [s]
MAX_DURATION = 10.0
# excess over a limit, divided by the limit, that counts as rounding
ROUNDING = 1e-9
# speed below which a joint has no direction of motion [rad/s, m/s]
REST_SPEED = 1e-6
# a joint hardly moves if its braking time is below this share of the longest of all joints
HARDLY_MOVING = 0.03


def braking_motion(joints: Sequence[str], position: Any, velocity: 'ArrayLike',
                   limits: MotionLimits, others: Sequence[MotionState] = (),
                   reversible: Sequence[MotionState] = (), min_duration: float = 0.0) -> Motion:
    """
    Return a motion from positions and velocities (n,) to rest, without a jerk limit.

    Joints follow cubic polynomials and stop at the same time, after at least `min_duration` [s]
    unless all states are equal and at rest. Without `others`, the decelerations are constant and
    the path is a straight line in joint space. For position limits see `stopped_within`.

    A controller that is not at the start state moves to the end along its own cubic polynomial.
    `others` are the states of such controllers: if possible, their polynomials stay within the
    velocity and acceleration limits, and no joint reverses its direction. The fastest state among
    the start and `others` determines the braking distance. `reversible` are states of further
    such controllers, whose joints may reverse.

    Raises InvalidStateError unless positions and velocities are n finite numbers each.
    """
    names = tuple(joints)
    start, speed = _checked(names, position, velocity)
    limits.check_count(len(names))
    checked = [(start, speed), *(_checked(names, state.position, state.velocity)
                                 for state in (*others, *reversible))]
    position, velocities = np.array(checked).swapaxes(0, 1)
    # number of leading states from which joints must not reverse
    n_irreversible = 1 + len(others)
    # velocities of the fastest state, which determines the braking distance
    fastest = velocities[int(np.argmax(np.linalg.norm(velocities[:n_irreversible], axis=1)))]
    duration = _duration(start, fastest, position, velocities, n_irreversible, limits,
                         min_duration)
    return _cubics(names, start, speed, start + fastest * duration / 2,
                   np.full(len(names), duration))


def braking_on_path(motion: Motion, time: float, states: Sequence[MotionState],
                    limits: MotionLimits, rate: float = 1.0,
                    min_duration: float = 0.0) -> Motion | None:
    """
    Return a braking motion to a position ahead on the path of a motion.

    At `time` [s] the motion proceeds at `rate` times its planned speed. Braking with duration T
    ends at the motion's position at `time` + `rate` * T / 2. T is the shortest duration, at least
    `min_duration`, for which the cubic polynomials from all `states` to this position stay within
    the velocity and acceleration limits. If T is longer than the rest of the motion, the caller
    should let the motion end at its goal. Returns None if no T with a rest position on the path
    stays within the limits. The returned motion begins at the first of the `states`.
    """
    position, velocity = np.array([state[:2] for state in states]).swapaxes(0, 1)
    least = max(float((np.abs(velocity) / limits.acceleration).max()), MIN_DURATION, min_duration)
    # braking for this time or longer would end at the goal
    most = 2 * (motion.duration - time) / rate
    if least >= most:
        return None
    tried = np.geomspace(least, most, N_PATH_DURATIONS)
    for batch in tried.reshape(-1, N_PATH_TOGETHER):
        ends = np.array([motion.at(each).position for each in time + rate * batch / 2])
        duration = batch[:, None, None]
        first, last = _end_accelerations(ends[:, None] - position, velocity, duration)
        within = _are_within(first, last, velocity, duration, limits)
        if within.any():
            k = int(np.argmax(within))
            return _cubics(motion.joints, position[0], velocity[0], ends[k],
                           np.full(len(motion.joints), batch[k]))
    return None


def stopped_within(braking: Motion, bounds: 'tuple[ArrayLike, ArrayLike]') -> Motion:
    """
    Return the braking motion, but stop joints at bounds (lower, upper; (n,) each) [rad, m].

    A motion that stays within the bounds is returned unchanged. A stop at a bound exceeds the
    acceleration limit if the joint cannot stop before the bound within this limit.
    """
    start, speed, _ = braking.at(0.0)
    kept = np.clip(braking.goal, np.minimum(bounds[0], start), np.maximum(bounds[1], start))
    outside = kept != braking.goal
    if not outside.any():
        return braking
    # time in which constant deceleration stops a joint at `kept`
    times = np.full(len(start), braking.duration)
    np.divide(2 * (kept - start), speed, out=times, where=outside & (np.abs(speed) > REST_SPEED))
    return _cubics(braking.joints, start, speed, kept, np.minimum(np.abs(times), braking.duration))


def _checked(joints: tuple[str, ...], position: object, velocity: object) -> tuple[Array, Array]:
    """Return positions and velocities at a start as arrays (n,); raises InvalidStateError."""
    n = len(joints)
    return (vector(position, 'the positions at the start', n, InvalidStateError),
            vector(velocity, 'the velocities at the start', n, InvalidStateError))


def _duration(start: Array, start_velocity: Array, position: Array, velocity: Array,
              n_irreversible: int, limits: MotionLimits, min_duration: float) -> float:
    """Return the shortest duration [s] within limits, if possible without reversing joints."""
    least = float((np.abs(start_velocity) / limits.acceleration).max(initial=min_duration))
    spread = np.ptp(position, axis=0).max(initial=0.0)
    if max(spread, np.abs(velocity).max(initial=0.0)) < REST_SPEED:
        return 0.0
    tried = np.geomspace(least or MIN_DURATION, max(least, MAX_DURATION), N_DURATIONS)
    shortest = None     # shortest duration within the limits if joints may reverse
    # evaluate in batches: larger arrays double the time of a first call (new pages of memory)
    for batch in tried.reshape(-1, N_TOGETHER):
        duration = batch[:, None, None]
        displacement = start + start_velocity * duration / 2 - position
        first, last = _end_accelerations(displacement, velocity, duration)
        within = _are_within(first, last, velocity, duration, limits)
        good = within & ~_reverses(last[:, :n_irreversible], velocity[:n_irreversible], limits)
        if good.any():
            return float(batch[int(np.argmax(good))])
        if shortest is None and within.any():
            shortest = float(batch[int(np.argmax(within))])
    return float(tried[-1]) if shortest is None else shortest


def _end_accelerations(displacement: Array, velocity: Array, duration: Array
                       ) -> tuple[Array, Array]:
    """Return accelerations (m, k, n) at start and end of the cubics: m durations, k states."""
    mean = 6 * displacement / duration
    return (mean - 4 * velocity) / duration, (2 * velocity - mean) / duration


def _are_within(first: Array, last: Array, velocity: Array, duration: Array,
                limits: MotionLimits) -> Mask:
    """Return a mask (m,) of the durations (m, 1, 1) that keep all motions within limits."""
    most = limits.acceleration * (1 + ROUNDING)
    # if the acceleration changes its sign, the velocity has a peak in between
    peaks = first * last < 0
    peak = velocity + np.where(peaks, first**2 * duration, 0.0) / (
        2 * np.where(peaks, first - last, 1.0))
    fastest = np.maximum(limits.velocity, np.abs(velocity).max(axis=0)) * (1 + ROUNDING)
    return np.asarray(((np.abs(first) <= most) & (np.abs(last) <= most)
                       & (np.abs(peak) <= fastest)).all(axis=(1, 2)))


def _reverses(last: Array, velocity: Array, limits: MotionLimits) -> Mask:
    """
    Return a mask (m,) of the durations for which a joint reverses.

    A joint reverses if its acceleration at the end, `last` (m, k, n), has the sign of its
    `velocity` (k, n) at the start. Joints that move in opposite directions in two of the k states
    are ignored. A joint is also ignored in each state in which it hardly moves, because its
    measured position may be off its path by more than the joint moves.
    """
    speed = np.abs(velocity) / limits.acceleration
    moving = np.where((speed > HARDLY_MOVING * speed.max()) & (np.abs(velocity) > REST_SPEED),
                      np.sign(velocity), 0.0)
    same_sign = (moving.min(axis=0) >= 0) | (moving.max(axis=0) <= 0)
    return np.asarray((same_sign & (last * moving > ROUNDING * limits.acceleration)).any(
        axis=(1, 2)))


def _cubics(names: tuple[str, ...], start: Array, speed: Array, ends: Array,
            times: Array) -> Motion:
    """Return a motion in which joints follow cubics to rest at `ends` after `times` (n,) [s]."""
    # coefficients of t^2 and t^3 of the Hermite polynomial with velocity 0 at the end
    duration = np.where(times > 0, times, 1.0)
    mean = (ends - start) / duration
    c2, c3 = (3 * mean - 2 * speed) / duration, (speed - 2 * mean) / duration**2

    def state(time: float) -> MotionState:
        t, moving = np.minimum(time, times), time < times
        return MotionState(start + t * (speed + t * (c2 + t * c3)),
                           moving * (speed + t * (2 * c2 + 3 * t * c3)),
                           moving * (2 * c2 + 6 * t * c3))
    *rests, last = sorted({*times.tolist()})
    return Motion(names, last, state, tuple(rests))
