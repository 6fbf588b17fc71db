"""Where a frame should go."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices, Pose
from ros2_ik.core.checks import floats, tolerance_of
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions import (
    FramePose,
    KinematicFunction,
    OrientationAngle,
    PointToPointDistance,
)
from ros2_ik.core.functions.point_to_point_distance import length
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.robot import Configuration

ALL_AXES = (1.0,) * 6
LOOSE = (1e-4, 1e-3)   # tolerances above these [m, rad] leave a place worth looking for
EDGE = 0.01            # part of a tolerance that is kept from its edge


class PoseTarget:
    """
    A pose that the frame `tip` should have, relative to a frame.

    `target` is a (4, 4) array or pinocchio.SE3 in `relative_to` (default: the root frame), which
    may itself move. `weights` are x y z rx ry rz along the target's own axes: their ratios steer
    the search (above 1e4 it gets slow); 0 frees an axis, which then is not counted in the errors
    either.
    `position_tolerance` [m] and `orientation_tolerance` [rad] bound the length of the counted
    rows; both are from 1e-12 to 1e9.

    Raises InvalidTargetError.
    """

    def __init__(self, tip: str, target: Pose, relative_to: str | None = None,
                 weights: Sequence[float] | Array = ALL_AXES,
                 position_tolerance: float = 1e-5, orientation_tolerance: float = 1e-4) -> None:
        self.tip, self.relative_to = tip, relative_to
        self.function = FramePose(tip, target, relative_to)
        self.weights = _weights(weights, tip)
        self.whole = self.weights is _ALL
        self.counted = self.weights > 0    # (6,), which of the rows x y z rx ry rz count
        self.position_tolerance = _tolerance(position_tolerance, 'position_tolerance', tip)
        self.orientation_tolerance = _tolerance(orientation_tolerance, 'orientation_tolerance',
                                                tip)

    def errors(self, at: Configuration) -> tuple[float, float]:
        """Position [m] and orientation [rad] error at a configuration, freed axes left out."""
        error = self.function.value(at) * self.counted
        return math.sqrt(error[:3] @ error[:3]), math.sqrt(error[3:] @ error[3:])

    @property
    def loose(self) -> bool:
        """Whether one of its tolerances is so large that poses apart from the target count."""
        return (self.counted[:3].any() and self.position_tolerance > LOOSE[0]) or bool(
            self.counted[3:].any() and self.orientation_tolerance > LOOSE[1])

    def bounds(self) -> tuple[Constraint, ...]:
        """Give constraints that hold where the errors are within the tolerances."""
        reference = self.function.reference
        return tuple(self._bound(*half) for half in (
            (slice(0, 3), self.position_tolerance, PointToPointDistance(
                self.tip, np.zeros(3), reference.translation, self.relative_to)),
            (slice(3, 6), self.orientation_tolerance, OrientationAngle(
                self.tip, reference, self.relative_to))) if self.counted[half[0]].any())

    def _bound(self, rows: slice, tolerance: float, whole: KinematicFunction) -> Constraint:
        """Bound the length of the counted ones of three rows; `whole` is that of all."""
        edge, counted = EDGE * tolerance, np.flatnonzero(self.counted[rows]) + rows.start
        counts = whole if len(counted) == 3 else _Length(self.function, counted)
        return Constraint(counts, upper=tolerance - edge, tolerance=edge)


class _Length(RelativeFunction):
    """The length of some rows of a pose error, (1,)."""

    kind, labels, range = 'pose_error', ('length',), (0.0, math.inf)

    def __init__(self, function: FramePose, rows: Indices) -> None:
        super().__init__(function.frame, function.relative_to)
        self._function, self._rows = function, rows

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        f, W = self._function.measure(T_frame, T_relative)
        return length(f[self._rows], W[self._rows])


_ALL = np.ones(6)
_ALL.setflags(write=False)


def _tolerance(value: Any, name: str, tip: str) -> float:
    return tolerance_of(value, f"{name} of '{tip}'", InvalidTargetError)


def _weights(weights: Sequence[float] | Array, tip: str) -> Array:
    if weights is ALL_AXES:
        return _ALL
    name, wanted = f"weights of '{tip}'", 'six numbers x y z rx ry rz'
    array = floats(weights, name, wanted, InvalidTargetError)
    if array.shape != (6,):
        raise InvalidTargetError(f'{name} must be {wanted}, not {weights!r}')
    if not np.isfinite(array).all() or (array < 0).any():
        raise InvalidTargetError(f'{name} must be finite and not negative: {array.tolist()}')
    if (array == 1).all():
        return _ALL
    if not array.any():
        raise InvalidTargetError(f"all six weights of '{tip}' are zero: nothing is asked for")
    array.setflags(write=False)
    return array
