"""How one joint moves: stretches of constant jerk."""

from collections.abc import Iterable
import math
from typing import NamedTuple

import numpy as np


class Stretch(NamedTuple):
    """A duration [s] that begins with an acceleration and has a constant jerk."""

    duration: float
    acceleration: float
    jerk: float


class Course:
    """
    The position of one joint that starts at 0 with a velocity, and then stands still.

    `distance` is where it ends, if that is known better than by adding up.
    """

    def __init__(self, velocity: float, stretches: Iterable[Stretch],
                 distance: float | None = None) -> None:
        rows, time, state = [], 0.0, (0.0, velocity)
        for duration, acceleration, jerk in stretches:
            if duration > 0:
                rows.append((time, *state, acceleration, jerk))
                time += duration
                state = _after(duration, *rows[-1][1:])[:2]
        self.duration, self.distance = time, state[0] if distance is None else distance
        self._rows = np.array(rows).reshape(-1, 5)

    def at(self, time: float) -> tuple[float, float, float]:
        """Return position, velocity and acceleration at a time from 0 on."""
        if time >= self.duration:
            return self.distance, 0.0, 0.0
        begin, *row = self._rows[np.searchsorted(self._rows[:, 0], time, 'right') - 1].tolist()
        return _after(time - begin, *row)


def _after(t: float, position: float, velocity: float, acceleration: float,
           jerk: float) -> tuple[float, float, float]:
    return (position + t * (velocity + t * (acceleration / 2 + t * jerk / 6)),
            velocity + t * (acceleration + t * jerk / 2), acceleration + t * jerk)


def ramp(change: float, acceleration: float, jerk: float) -> list[Stretch]:
    """Return the fastest change of velocity, without acceleration at its start and end."""
    sign, size = math.copysign(1.0, change), abs(change)
    if math.isinf(jerk):
        return [Stretch(size / acceleration, sign * acceleration, 0.0)]
    rise = min(acceleration / jerk, math.sqrt(size / jerk))
    if rise == 0:
        return []
    most, rate = sign * rise * jerk, sign * jerk
    return [Stretch(rise, 0.0, rate), Stretch(max(size / (rise * jerk) - rise, 0.0), most, 0.0),
            Stretch(rise, most, -rate)]


def ramp_time(change: float, acceleration: float, jerk: float) -> float:
    """Return how long `ramp` takes."""
    size = abs(change)
    if math.isinf(jerk) or size * jerk >= acceleration**2:
        return size / acceleration + acceleration / jerk
    return 2 * math.sqrt(size / jerk)


def stop(velocity: float, current: float, acceleration: float, jerk: float) -> Course:
    """Return the fastest way to rest from a velocity and the acceleration `current`."""
    if math.isinf(jerk):
        return Course(velocity, ramp(-velocity, acceleration, jerk))
    left = velocity + current * abs(current) / (2 * jerk)    # if the acceleration went to 0
    sign = -1.0 if left > 0 else 1.0
    now, change = sign * current, -sign * velocity
    most = min(math.sqrt(max(jerk * change + now**2 / 2, 0.0)), acceleration)
    before, after = abs(most - now) / jerk, most / jerk
    gained = (now + most) / 2 * before + most / 2 * after
    hold = max(change - gained, 0.0) / most if most else 0.0
    return Course(velocity, [
        Stretch(before, current, sign * math.copysign(jerk, most - now)),
        Stretch(hold, sign * most, 0.0), Stretch(after, sign * most, -sign * jerk)])
