"""Velocities of the objects that clients move in the planning scene."""

from collections.abc import Iterable, Mapping
import math

import numpy as np

from ros2_ik.core import Array

RECENT = 0.3        # time for which an object or the base counts as moving after a change [s]
MIN_PERIOD = 0.02   # least time between two moves: changes reach the servo this often [s]


class ObjectVelocities:
    """
    Estimates the velocity of each object from its last two moves.

    Clients move objects at different rates, so an object's velocity is its displacement divided by
    the time since its own last move. It is 0 after a first move, and after RECENT without a move.
    """

    def __init__(self) -> None:
        self._moves = dict[str, tuple[float, Array]]()      # time [s] and velocity (3,), by id

    def note(self, displacements: Mapping[str, Array], now: float) -> dict[str, Array]:
        """Note displacements (3,) [m] by id at time `now` [s]; return all velocities [m/s]."""
        for name, way in displacements.items():
            seconds = now - self._moves[name][0] if name in self._moves else math.inf
            self._moves[name] = now, (way / max(seconds, MIN_PERIOD) if seconds < RECENT
                                      else np.zeros(3))
        return {name: velocity for name, (_, velocity) in self._moves.items()}

    def keep(self, names: Iterable[str]) -> None:
        """Drop all other objects."""
        self._moves = {name: self._moves[name] for name in names if name in self._moves}

    def rested(self, now: float) -> bool:
        """Drop objects that have not moved for RECENT; return whether there were any."""
        before = len(self._moves)
        self._moves = {name: move for name, move in self._moves.items() if now < move[0] + RECENT}
        return len(self._moves) < before
