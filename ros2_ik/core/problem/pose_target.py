"""Target pose of a frame."""

from collections.abc import Sequence
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import between, COARSEST, FINEST, floats
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions import (
    as_transform,
    FrameOrientation,
    FramePose,
    PointToPointDistance,
)
from ros2_ik.core.kernels.comparisons import distance_between
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import LeastSquares
from ros2_ik.core.robot import Configuration

ALL_AXES = (1.0,) * 6
POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-5, 1e-4   # [m], [rad]
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
                 position_tolerance: float = POSITION_TOLERANCE,
                 orientation_tolerance: float = ORIENTATION_TOLERANCE) -> None:
        self.tip, self.relative_to = tip, relative_to
        self.transform = as_transform(target, f"target of '{tip}'")     # (4, 4)
        self._function: FramePose | None = None
        self.weights = _weights(weights, tip)
        self.whole = self.weights is _ALL
        # (6,), which of the rows x y z rx ry rz count
        self.counted = _ALL_COUNT if self.whole else self.weights > 0
        self.position_tolerance = _tolerance(position_tolerance, 'position_tolerance', tip)
        self.orientation_tolerance = _tolerance(orientation_tolerance, 'orientation_tolerance',
                                                tip)
        # whether a tolerance is so large that poses apart from the target count
        self.loose = bool(self.position_tolerance > LOOSE[0] and self.counted[:3].any()
                          or self.orientation_tolerance > LOOSE[1] and self.counted[3:].any())

    @property
    def shape(self) -> 'TargetShape':
        """The key shared by targets that differ in the pose alone."""
        return TargetShape(self.tip, self.relative_to,
                           b'' if self.whole else self.weights.tobytes(),
                           self.position_tolerance, self.orientation_tolerance)

    @property
    def function(self) -> FramePose:
        """The pose error, zero at the target."""
        # no cached_property: its lock, in Python 3.11, may be held where a process is forked
        if self._function is None:
            self._function = FramePose(self.tip, self.transform, self.relative_to)
        return self._function

    def at(self, pose: Pose) -> 'PoseTarget':
        """Return the target at another pose in its frame."""
        target = object.__new__(PoseTarget)   # copy.copy takes 2 us
        target.__dict__.update(self.__dict__)
        target.transform = as_transform(pose, f"target of '{self.tip}'")
        target._function = None
        return target

    def varied(self, **parts: Any) -> 'PoseTarget':
        """Return the target with other arguments than these."""
        return PoseTarget(**{
            'tip': self.tip, 'target': self.transform, 'relative_to': self.relative_to,
            'weights': self.weights, 'position_tolerance': self.position_tolerance,
            'orientation_tolerance': self.orientation_tolerance, **parts})

    def error_cost(self) -> LeastSquares:
        """Return half the squared error of the counted axes, in units of the tolerances."""
        units = np.repeat([self.position_tolerance, self.orientation_tolerance], 3)
        return LeastSquares(self.function, weight=self.counted / units**2)

    def resolved(self, at: Configuration) -> 'PoseTarget':
        """Return the target in the root frame, where its frame stands in a configuration."""
        if self.relative_to is None:
            return self
        return self.varied(target=at.placement(self.relative_to) * self.function.reference,
                           relative_to=None)

    def errors(self, placed: pin.SE3) -> tuple[float, float]:
        """
        Return the position [m] and orientation [rad] error, freed axes left out.

        `placed` (SE3) is where the tip stands relative to the frame of the target.
        """
        # not the formulas' arithmetic: what judges shares none with solvers
        if self.whole:
            found: tuple[float, float] = distance_between.run(placed.homogeneous, self.transform)
            return found
        error = pin.SE3(self.transform).actInv(placed)
        shift = error.translation * self.counted[:3]
        turn = pin.log3(error.rotation) * self.counted[3:]
        return math.sqrt(shift @ shift), math.sqrt(turn @ turn)

    def tolerance_constraints(self) -> tuple[Constraint, ...]:
        """Return constraints that hold only where the errors are within the tolerances."""
        reference, found = self.function.reference, list[Constraint]()
        for rows, tolerance, length in (
                (slice(0, 3), self.position_tolerance, PointToPointDistance(
                    self.tip, np.zeros(3), reference.translation, self.relative_to)),
                (slice(3, 6), self.orientation_tolerance, FrameOrientation(
                    self.tip, reference, self.relative_to, form='angle'))):
            count, edge = np.count_nonzero(self.counted[rows]), max(EDGE * tolerance, FINEST)
            if count == 3:
                found.append(Constraint(length, upper=tolerance - edge, tolerance=edge))
            elif count:     # each row by itself: a box inside the ball of that radius
                most, share = np.full(6, np.inf), 1 / math.sqrt(count)
                most[rows][self.counted[rows]] = max(share * tolerance - edge, 0.0)
                found.append(Constraint(self.function, -most, most,
                                        tolerance=max(share * edge, FINEST)))
        return tuple(found)


class TargetShape(NamedTuple):
    """A target but for its pose."""

    tip: str
    relative_to: str | None
    weights: bytes      # none where all six are 1
    position_tolerance: float
    orientation_tolerance: float


_ALL, _ALL_COUNT = np.ones(6), np.ones(6, dtype=bool)
_ALL.setflags(write=False)
_ALL_COUNT.setflags(write=False)


def _tolerance(value: object, name: str, tip: str) -> float:
    return between(value, f"{name} of '{tip}'", FINEST, COARSEST, InvalidTargetError)


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
