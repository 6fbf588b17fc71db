"""Motions that end a motion: as fast as limits let it, or by cubic polynomials."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, Mask
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import LIMIT_ROUNDING, MotionLimits
from ros2_ik.core.motion.timing import start_of, timed

N_DURATIONS = 1000      # durations that are tried, in a geometric series
MIN_DURATION = 0.03     # the first one, where no velocity asks for more [s]
MAX_DURATION = 10.0     # the last one [s]
ROUNDING = 1e-9         # part of the limits by which rounding may exceed them
REST_SPEED = 1e-6       # a slower joint has no direction [rad/s, m/s]


def braking_motion(joints: Sequence[str], position: 'ArrayLike', velocity: 'ArrayLike',
                   limits: MotionLimits, acceleration: 'ArrayLike | None' = None,
                   bounds: 'tuple[ArrayLike, ArrayLike] | None' = None) -> Motion:
    """
    Make the fastest way to rest from positions (n,) and velocities (n,), all joints in step.

    With the `acceleration` (n,) at the start, by default 0, a motion that slows down already
    comes no farther than it would by itself. `bounds` are the lower and upper position limits
    (n,): if that way would leave them, each joint brakes as fast as it can by itself.

    Raises InvalidStateError for NaN.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    rest = np.zeros(len(names))
    slowing = vector(rest if acceleration is None else acceleration,
                     'the accelerations at the start', len(names), InvalidStateError)
    # without an acceleration all joints stop in step on a straight way
    even = rest if slowing @ speed >= 0 else slowing
    motion = timed(names, start, speed, limits, acceleration=even)
    if bounds is None or (motion.goal >= np.minimum(bounds[0], start) - LIMIT_ROUNDING).all() and (
            motion.goal <= np.maximum(bounds[1], start) + LIMIT_ROUNDING).all():
        return motion       # inside the bounds, or no farther outside than the motion begins
    own = np.where(slowing * speed < 0, slowing, 0.0)
    return timed(names, start, speed, limits, acceleration=own, in_step=False)


def even_braking_motion(joints: Sequence[str], position: Any, velocity: 'ArrayLike',
                        limits: MotionLimits, others: Sequence[MotionState] = (),
                        bounds: 'tuple[ArrayLike, ArrayLike] | None' = None,
                        commands: Sequence[MotionState] = ()) -> Motion:
    """
    Make the way to rest from positions (n,) and velocities (n,) with constant decelerations.

    The jerk is not limited. All joints come to rest at once, on a straight way, unless one would
    leave its `bounds`, the lower and upper position limits (n,): that one rests on the bound,
    earlier.

    `others` are further states in which it may be begun: a cubic polynomial from any of them to
    the end, at rest there, stays within accelerations and velocities, and does not turn back. The
    fastest of the states says how far it goes; its decelerations are constant when it is the only
    one. From `commands`, too, it stays within both limits, but may turn back.

    Raises InvalidStateError for NaN.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    limits.check_count(len(names))
    checked = [(start, speed), *(start_of(names, state.position, state.velocity)
                                 for state in (*others, *commands))]
    position, velocities = np.array(checked).swapaxes(0, 1)
    one_way = 1 + len(others)
    going = velocities[int(np.argmax(np.linalg.norm(velocities[:one_way], axis=1)))]
    duration = _duration(start, going, position, velocities, one_way, limits)
    ends, times = start + going * duration / 2, np.full(len(names), duration)
    if bounds is not None:
        ends, times = _inside(start, speed, ends, times, bounds)
    return _cubics(names, start, speed, ends, times)


def _duration(start: Array, going: Array, position: Array, velocity: Array, one_way: int,
              limits: MotionLimits) -> float:
    """Return the shortest duration [s] for states (k, n); the first ones must not turn back."""
    least = float((np.abs(going) / limits.acceleration).max(initial=0.0))
    spread = np.ptp(position, axis=0).max(initial=0.0)
    if max(spread, np.abs(velocity).max(initial=0.0)) < REST_SPEED:
        return 0.0
    tried = np.geomspace(least or MIN_DURATION, max(least, MAX_DURATION), N_DURATIONS)
    duration = tried[:, None, None]
    way = start + going * duration / 2 - position
    first = (6 * way / duration - 4 * velocity) / duration      # the accelerations at both ends
    last = (2 * velocity - 6 * way / duration) / duration
    within = _are_within(first, last, velocity, duration, limits)
    good = within & ~_turn_back(last[:, :one_way], velocity[:one_way], limits)
    good = good if good.any() else within
    return float(tried[int(np.argmax(good))] if good.any() else tried[-1])


def _are_within(first: Array, last: Array, velocity: Array, duration: Array,
                limits: MotionLimits) -> Mask:
    """Return for which durations (m, 1, 1) all states (k, n) stay within limits, (m,)."""
    most = limits.acceleration * (1 + ROUNDING)
    peaks = first * last < 0
    peak = velocity + np.where(peaks, first**2 * duration, 0.0) / (
        2 * np.where(peaks, first - last, 1.0))
    fastest = np.maximum(limits.velocity, np.abs(velocity).max(axis=0)) * (1 + ROUNDING)
    return np.asarray(((np.abs(first) <= most) & (np.abs(last) <= most)
                       & (np.abs(peak) <= fastest)).all(axis=(1, 2)))


def _turn_back(last: Array, velocity: Array, limits: MotionLimits) -> Mask:
    """Return for which durations a joint turns back that all states (k, n) move one way, (m,)."""
    moving = np.where(np.abs(velocity) > REST_SPEED, np.sign(velocity), 0.0)
    one_way = (moving.min(axis=0) >= 0) | (moving.max(axis=0) <= 0)
    return np.asarray((one_way & (last * moving > ROUNDING * limits.acceleration)).any(
        axis=(1, 2)))


def _inside(start: Array, speed: Array, ends: Array, times: Array,
            bounds: 'tuple[ArrayLike, ArrayLike]') -> tuple[Array, Array]:
    """
    Have joints rest on the bounds that they would leave: ends (n,) and their times (n,).

    A motion that stays inside can brake so, since it has to do so itself.
    """
    kept = np.clip(ends, np.minimum(bounds[0], start), np.maximum(bounds[1], start))
    short = (kept != ends) & (np.abs(speed) > REST_SPEED)
    own = np.divide(2 * (kept - start), speed, out=times.copy(), where=short)
    return kept, np.where(short, np.minimum(np.abs(own), times), times)


def _cubics(names: tuple[str, ...], start: Array, speed: Array, ends: Array,
            times: Array) -> Motion:
    """Return the cubic polynomials from a state to rest at `ends` (n,), after `times` (n,)."""
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
