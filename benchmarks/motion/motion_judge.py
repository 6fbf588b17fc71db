"""
Judges of motions that share nothing with what moves the arm.

Limits are read from the URDF's text, forward kinematics is yourdfpy's, collisions are judged by
python-fcl, on the solids that meshes enclose and on the raw triangles.
"""

from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'test/core'))   # judges shared with the tests

from fcl_judge import FclJudge  # noqa: E402
from solid_judge import SolidJudge  # noqa: E402
from state_record import Way  # noqa: E402

STEP = 0.002       # of the fastest joint between two looks on a straight way [rad, m]
NEXT = 0.01        # of the fastest joint between two recorded configurations looked at [rad, m]
SHORTEST = 0.002   # states nearer in time say nothing of speed: stamps are in nanoseconds, and
                   # positions have 16 digits, but a cycle may be cut short by a busy machine [s]


class Touch(NamedTuple):
    """A place on a way: how far on [rad or m of the fastest joint], positions (n,), who touch."""

    way: float
    position: np.ndarray
    pairs: set[frozenset[str]]


class Extremes(NamedTuple):
    """
    How far a way went, each as part of what is allowed (1 is the limit).

    `beyond` [rad, m] is how far the positions were outside their limits. `steps` are the
    velocities that differences of positions show, `speeds` those that were told.
    """

    beyond: float
    steps: float
    speeds: float
    accelerations: float

    def worst(self, other: 'Extremes') -> 'Extremes':
        """Give the larger ones of both."""
        return Extremes(*(max(pair) for pair in zip(self, other, strict=True)))


class MotionJudge:
    """
    Judges ways of some joints of a robot, whose accelerations may be as large as is said.

    By the mean value theorem a difference of positions over their stamps never shows more than
    the largest velocity between, nor one of velocities more than the largest acceleration.
    """

    def __init__(self, robot: Any, joints: Sequence[str], acceleration: float) -> None:
        self.joints, self._acceleration = tuple(joints), acceleration
        self._solids, self._raw = SolidJudge(robot), FclJudge(robot, raw=True)
        self.frames = self._solids.frames
        limits = {joint.get('name'): joint.find('limit') for joint in
                  ElementTree.fromstring(robot.urdf).findall('joint')}
        self._fastest = np.array([float(limits[name].get('velocity')) for name in joints])
        bounds = [self.frames.bounds.get(name, (-np.inf, np.inf)) for name in joints]
        self.lower, self.upper = np.array(bounds).T
        self.others: dict[str, float] = {}

    def surround(self, scene: Any, others: dict[str, float]) -> None:
        """Take the objects of a scene, and where the joints stand that do not move."""
        self._solids.surround(scene)
        self._raw.surround(scene)
        self.others = dict(others)

    def extremes(self, way: Way) -> Extremes:
        """Say how far a way went."""
        apart = np.concatenate([[True], np.diff(way.times) > SHORTEST])
        times, positions, velocities = (column[apart] for column in way)
        beyond = np.maximum(self.lower - positions, positions - self.upper).max()
        seconds = np.diff(times)[:, None]
        return Extremes(
            float(beyond), _largest(np.diff(positions, axis=0) / seconds / self._fastest),
            _largest(velocities / self._fastest),
            _largest(np.diff(velocities, axis=0) / seconds / self._acceleration))

    def touching(self, position: np.ndarray, raw: bool = False) -> set[frozenset[str]]:
        """Give the pairs of names that touch at positions (n,)."""
        return (self._raw if raw else self._solids).touching(self._named(position))

    def _named(self, position: np.ndarray) -> dict[str, float]:
        return {**self.others, **dict(zip(self.joints, position.tolist(), strict=True))}

    def touched(self, positions: np.ndarray) -> list[Touch]:
        """Look at recorded positions (k, n); gives those at which something touches."""
        found, before, way = [], None, 0.0
        for position in positions:
            step = np.inf if before is None else float(np.abs(position - before).max())
            if step >= NEXT:
                way += step if before is not None else 0.0
                before = position
                if pairs := self.touching(position):
                    found.append(Touch(way, position, pairs))
        return found

    def contacts_along(self, start: np.ndarray, end: np.ndarray,
                       raw: bool = False) -> list[Touch]:
        """Look along the straight way; gives each place at which something touches."""
        found = []
        for part in np.linspace(0, 1, 2 + int(np.abs(end - start).max() / STEP)):
            position = start + part * (end - start)
            if pairs := self.touching(position, raw):
                found.append(Touch(float(part * np.abs(end - start).max()), position, pairs))
        return found

    def depth(self, touch: Touch) -> float:
        """Say how deep hulls are in each other [m]."""
        self._solids.place(self._named(touch.position))
        return max(-self._solids.distance(*pair) for pair in touch.pairs)


def longest(touches: Sequence[Touch]) -> float:
    """Give the longest piece of a way, looked at in steps, that touches from end to end."""
    pieces, before = [0.0], -np.inf
    for touch in touches:
        step = touch.way - before
        pieces.append(pieces[-1] + step if step < 1.5 * STEP else 0.0)
        before = touch.way
    return max(pieces)


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
