"""
What bounds on a function mean for how one body is placed relative to another.

Each thing here holds of the placement of a frame F seen from a frame A, p = R P + t for a point P
of F, wherever the bounds hold: it is what proofs of impossibility rest on, so it may say too
little, never too much. Points and vectors are (3,) of numbers, rotations are (3, 3).
"""

from collections.abc import Sequence
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array

Vector: TypeAlias = Sequence[float] | Array


class Turn(NamedTuple):
    """R is `lower` to `upper` [rad] away from the rotation `R`."""

    name: str
    R: Array
    lower: float
    upper: float

    def seen(self, F: Any, A: Any) -> 'Turn':
        """Return what it says of frames in which F and A stand at these placements (SE3)."""
        return self._replace(R=A.rotation @ self.R @ F.rotation.T)

    def inverse(self) -> 'Turn':
        """Return what it says of A seen from F."""
        return self._replace(R=self.R.T)


class Cone(NamedTuple):
    """The angle between R a and b, both of length 1, is from `lower` to `upper` [rad]."""

    name: str
    a: Vector
    b: Vector
    lower: float
    upper: float

    def seen(self, F: Any, A: Any) -> 'Cone':
        return self._replace(a=(F.rotation @ self.a).tolist(), b=(A.rotation @ self.b).tolist())

    def inverse(self) -> 'Cone':
        return self._replace(a=self.b, b=self.a)


class Shell(NamedTuple):
    """The distance of p from c is from `lower` to `upper` [m]."""

    name: str
    P: Vector
    c: Vector
    lower: float
    upper: float

    def at(self, p: Vector) -> float:
        """Return the distance of a point."""
        return math.dist(p, self.c)

    def seen(self, F: Any, A: Any) -> 'Shell':
        return self._replace(P=F.act(np.asarray(self.P)).tolist(),
                             c=A.act(np.asarray(self.c)).tolist())

    def inverse(self) -> 'Shell':
        return self._replace(P=self.c, c=self.P)


class Slab(NamedTuple):
    """n . p is from `lower` to `upper` [m]; n is of length 1."""

    name: str
    P: Vector
    n: Vector
    lower: float
    upper: float

    def at(self, p: Vector) -> float:
        return dot(p, self.n)

    def seen(self, F: Any, A: Any) -> 'Slab':
        n = A.rotation @ self.n
        shift = float(n @ A.translation)
        return Slab(self.name, F.act(np.asarray(self.P)).tolist(), n.tolist(), self.lower + shift,
                    self.upper + shift)


class Tube(NamedTuple):
    """The distance of p from the line through c along n is from `lower` to `upper` [m]."""

    name: str
    P: Vector
    c: Vector
    n: Vector
    lower: float
    upper: float

    def at(self, p: Vector) -> float:
        return math.hypot(*cross([x - y for x, y in zip(p, self.c, strict=True)], self.n))

    def seen(self, F: Any, A: Any) -> 'Tube':
        return self._replace(P=F.act(np.asarray(self.P)).tolist(),
                             c=A.act(np.asarray(self.c)).tolist(),
                             n=(A.rotation @ self.n).tolist())


class Sight(NamedTuple):
    """The angle between R a and the ray from p to c is from `lower` to `upper` [rad]."""

    name: str
    P: Vector
    a: Vector
    c: Vector
    lower: float
    upper: float

    def seen(self, F: Any, A: Any) -> 'Sight':
        return self._replace(P=F.act(np.asarray(self.P)).tolist(),
                             a=(F.rotation @ self.a).tolist(),
                             c=A.act(np.asarray(self.c)).tolist())


Place: TypeAlias = Shell | Slab | Tube     # their `at` changes by no more than the point moves
Implication: TypeAlias = Turn | Cone | Place | Sight


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length_range(lower: Array, upper: Array) -> tuple[float, float]:
    """Return the least and the greatest length of a vector within bounds, row by row."""
    least = np.maximum(np.maximum(lower, -upper), 0.0)
    greatest = np.maximum(np.abs(lower), np.abs(upper))
    return math.hypot(*least), math.hypot(*greatest)


def from_chord(chord: float) -> float:
    """Return the angle [rad] behind a chord of the unit circle, pi for any longer one."""
    return 2 * math.asin(min(chord / 2, 1.0))


def turned(name: str, R: Array, offset: Array, axes: str, lower: Array, upper: Array
           ) -> list[Implication]:
    """Say what bounds on the rows `axes` of log3(R^T R_F offset) mean."""
    low, high = length_range(lower, upper)
    found: list[Implication] = [Turn(name, R @ offset.T, low,
                                     min(high, math.pi) if len(axes) == 3 else math.pi)]
    if len(axes) == 2 and high < math.pi:
        # an axis moves no further than the part of the rotation vector that is across it
        k = next(k for k in range(3) if 'xyz'[k] not in axes)
        found.append(Cone(name, offset[:, k].tolist(), R[:, k].tolist(), 0.0, high))
    return found


def boxed(name: str, P: Vector, R: Array, origin: Array, axes: str, lower: Array, upper: Array
          ) -> list[Implication]:
    """Say what bounds on the rows `axes` of R^T (p - origin) mean."""
    found: list[Implication] = []
    for axis, low, high in zip(axes, lower.tolist(), upper.tolist(), strict=True):
        n = R[:, 'xyz'.index(axis)]
        shift = float(n @ origin)
        found.append(Slab(name, P, n.tolist(), low + shift, high + shift))
    half = (upper - lower) / 2
    if len(axes) == 3 and np.isfinite(half).all():
        middle = np.zeros(3)
        middle[['xyz'.index(axis) for axis in axes]] = (lower + upper) / 2
        found.append(Shell(name, P, (origin + R @ middle).tolist(), 0.0, math.hypot(*half)))
    return found
