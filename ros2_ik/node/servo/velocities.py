"""Velocities of scene objects, which clients move in steps."""

from collections.abc import Collection, Mapping
import math

import numpy as np

from ros2_ik.core import Array

VELOCITY_TIMEOUT = 0.3    # time for which a velocity counts after a move [s]
MIN_PERIOD = 0.02   # minimum time between moves: the period at which changes reach the servo [s]


class ObjectVelocities:
    """
    Estimates the velocity of each object from its last two moves.

    Clients move objects at different rates, so an object's velocity is its displacement divided by
    the time since its own last move. The velocity is 0 until an object has moved twice within
    VELOCITY_TIMEOUT, and again after VELOCITY_TIMEOUT without a move.
    """

    def __init__(self) -> None:
        self._moves = dict[str, tuple[float, Array]]()      # time [s] and velocity, by name

    def record(self, displacements: Mapping[str, Array], now: float) -> None:
        """Record displacements (3,) [m] of objects, by name, at time `now` [s]."""
        for name, displacement in displacements.items():
            dt = now - self._moves[name][0] if name in self._moves else math.inf
            self._moves[name] = now, (displacement / max(dt, MIN_PERIOD)
                                      if dt < VELOCITY_TIMEOUT else np.zeros_like(displacement))

    def outdated(self, now: float) -> bool:
        """Return whether any velocity has expired since the last call of `at`."""
        return any(now >= at + VELOCITY_TIMEOUT for at, _ in self._moves.values())

    def at(self, now: float, names: Collection[str]) -> dict[str, Array]:
        """Return the velocities at `now` [s] of the objects in `names`; drop all others."""
        self._moves = {name: (at, v) for name, (at, v) in self._moves.items()
                       if name in names and now < at + VELOCITY_TIMEOUT}
        return {name: v for name, (_, v) in self._moves.items()}
