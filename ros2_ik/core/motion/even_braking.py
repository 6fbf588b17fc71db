"""Braking by one cubic polynomial, also for who begins it in a state that is not quite known."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Mask
from ros2_ik.core.motion.motion import Motion, MotionState, together
from ros2_ik.core.motion.motion_limits import MotionLimits
from ros2_ik.core.motion.timing import start_of

FINER = 1.01      # from one duration that is tried to the next,
SHORTEST = 0.03   # from this one on where no velocity asks for more,
LONGEST = 10.0    # up to this one [s]
SAME = 1e-9       # of the largest values, by which rounding exceeds them
STANDS = 1e-6     # a slower joint has no direction [rad/s, m/s]


def even_braking_motion(joints: Sequence[str], position: Any, velocity: Any,
                        limits: MotionLimits, others: Sequence[MotionState] = (),
                        bounds: tuple[Any, Any] | None = None,
                        commands: Sequence[MotionState] = ()) -> Motion:
    """
    Make the way to rest from positions (n,) and velocities (n,) with constant decelerations.

    The jerk is not limited. All joints come to rest at once, on a straight way, unless one would
    leave its `bounds`, the lower and upper position limits (n,): that one rests on the bound,
    earlier.

    `others` are further states in which it may be begun. Who goes from any of them by a cubic
    polynomial to the end, to be at rest there, stays within accelerations and velocities, and
    does not turn back. The fastest of the states says how far it goes; its decelerations are
    constant when it is the only one. From `commands`, too, it stays within accelerations and
    velocities, but it may turn back.

    Raises InvalidStateError for NaN.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    limits.check_count(len(names))
    states = _rows(names, [MotionState(start, speed, speed), *others])
    going = states[1][int(np.argmax(np.linalg.norm(states[1], axis=1)))]
    duration = _duration(start, states, _rows(names, commands), going, limits)
    ends, times = start + going * duration / 2, np.full(len(names), duration)
    if bounds is not None:
        ends, times = _inside(start, speed, ends, times, bounds)
    return together([_cubic(name, *values) for name, *values in zip(
        names, start.tolist(), speed.tolist(), ends.tolist(), times.tolist(), strict=True)])


def _rows(names: tuple[str, ...], states: Sequence[MotionState]) -> tuple[Array, Array]:
    """Check states; gives their positions and velocities (k, n)."""
    checked = [start_of(names, state.position, state.velocity) for state in states]
    shape = len(checked), len(names)
    return (np.array([at for at, _ in checked]).reshape(shape),
            np.array([fast for _, fast in checked]).reshape(shape))


def _duration(start: Array, states: tuple[Array, Array], commands: tuple[Array, Array],
              going: Array, limits: MotionLimits) -> float:
    """Return the shortest duration that is good for all states and commands, (k, n) each [s]."""
    least = float((np.abs(going) / limits.acceleration).max(initial=0.0))
    if not least and not len(commands[0]) and np.ptp(states[0], axis=0).max(initial=0.0) < STANDS:
        return 0.0
    least = least or SHORTEST
    tried = np.geomspace(least, max(LONGEST, least), 2 + int(
        np.log(max(LONGEST / least, 1.0)) / np.log(FINER)))
    ends, times = start + going * tried[:, None, None] / 2, tried[:, None, None]
    within, forward = _good(*states, ends, limits, times)
    if len(commands[0]):
        within &= _good(*commands, ends, limits, times)[0]
    good = within & forward if (within & forward).any() else within
    return float(tried[int(np.argmax(good))] if good.any() else tried[-1])


def _good(at: Array, fast: Array, ends: Array, limits: MotionLimits,
          duration: Array) -> tuple[Mask, Mask]:
    """
    Return which ends (m, 1, n) and durations (m, 1, 1) are good for states (k, n).

    Whether all stay within accelerations and velocities, and whether none turns back, (m,) each.
    """
    way = ends - at
    first = (6 * way / duration - 4 * fast) / duration       # the accelerations at both ends
    last = (2 * fast - 6 * way / duration) / duration
    most = limits.acceleration * (1 + SAME)
    within = (np.abs(first) <= most) & (np.abs(last) <= most)
    speeding = first * last < 0
    change = np.where(speeding, first - last, 1.0)
    peak = np.where(speeding, fast + first**2 * duration / (2 * change), fast)
    within &= np.abs(peak) <= np.maximum(limits.velocity, np.abs(fast).max(axis=0)) * (1 + SAME)
    moving = np.where(np.abs(fast) > STANDS, np.sign(fast), 0.0)
    one_way = (moving.min(axis=0) >= 0) | (moving.max(axis=0) <= 0)
    back = one_way & (last * moving > SAME * limits.acceleration)
    return np.asarray(within.all(axis=(1, 2))), ~np.asarray(back.any(axis=(1, 2)))


def _inside(start: Array, speed: Array, ends: Array, times: Array,
            bounds: tuple[Any, Any]) -> tuple[Array, Array]:
    """
    Have joints rest on the bounds that they would leave: ends (n,) and their times (n,).

    A motion that stays inside can brake so, since it has to do so itself.
    """
    kept = np.clip(ends, np.minimum(bounds[0], start), np.maximum(bounds[1], start))
    short = (kept != ends) & (np.abs(speed) > STANDS)
    own = np.divide(2 * (kept - start), speed, out=times.copy(), where=short)
    return kept, np.where(short, np.minimum(np.abs(own), times), times)


def _cubic(name: str, start: float, speed: float, end: float, duration: float) -> Motion:
    """Return the cubic polynomial from a state to rest."""
    if not duration:
        return Motion((name,), 0.0, lambda _: MotionState(
            np.array([end]), np.zeros(1), np.zeros(1)))
    return Motion.spline((name,), np.array([0.0, duration]), np.array([[start], [end]]),
                         np.array([[speed], [0.0]]))
