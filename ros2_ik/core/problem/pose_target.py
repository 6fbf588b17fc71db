"""Target poses of frames."""

from collections.abc import Sequence
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import between, floats, MAX_TOLERANCE, MIN_TOLERANCE
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions import as_transform, FrameOrientation, FramePose, PointToPointDistance
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import LeastSquares
from ros2_ik.core.robot import Configuration

ALL_AXES = (1.0,) * 6
POSITION_TOLERANCE = 1e-5       # default tolerance [m]
ORIENTATION_TOLERANCE = 1e-4    # default tolerance [rad]
# tolerances [m, rad] above which the search also tries poses other than the exact target
MIN_LOOSE = (1e-4, 1e-3)
# solvers bound an error by its tolerance minus this fraction of the tolerance
TOLERANCE_MARGIN = 0.01


class PoseTarget:
    """
    A target pose of the frame `tip`.

    `target` is the pose in the frame `relative_to` (default: the root frame), a (4, 4) array or a
    pinocchio.SE3; `relative_to` may be a moving frame. In the search, `weights` (6,) weight the
    errors x y z rx ry rz, measured along the axes of the target; ratios of weights above 1e4 make
    the search slow. An error of weight 0 does not count: its axis is free.
    `position_tolerance` [m] bounds the norm of the three position errors, `orientation_tolerance`
    [rad] the norm of the three orientation errors. Both tolerances are from 1e-12 to 1e9.

    Raises InvalidTargetError.
    """

    def __init__(self, tip: str, target: Pose, relative_to: str | None = None,
                 weights: Sequence[float] | Array = ALL_AXES,
                 position_tolerance: float = POSITION_TOLERANCE,
                 orientation_tolerance: float = ORIENTATION_TOLERANCE) -> None:
        self.tip, self.relative_to = tip, relative_to
        self.transform = as_transform(target, f"target of '{tip}'")     # (4, 4)
        self.weights = _weights(weights, tip)
        self.has_unit_weights = self.weights is _ALL
        # mask (6,) of the errors x y z rx ry rz with a weight above 0
        self.counted = _ALL_COUNT if self.has_unit_weights else self.weights > 0
        self.position_tolerance = _tolerance(position_tolerance, 'position_tolerance', tip)
        self.orientation_tolerance = _tolerance(orientation_tolerance, 'orientation_tolerance',
                                                tip)
        # True if the tolerance of a counted error is above MIN_LOOSE
        self.loose = bool(self.position_tolerance > MIN_LOOSE[0] and self.counted[:3].any()
                          or self.orientation_tolerance > MIN_LOOSE[1] and self.counted[3:].any())

    @property
    def shape(self) -> 'TargetShape':
        """Cache key, equal for targets that differ only in their poses."""
        return TargetShape(self.tip, self.relative_to,
                           b'' if self.has_unit_weights else self.weights.tobytes(),
                           self.position_tolerance, self.orientation_tolerance, self.loose)

    @property
    def function(self) -> FramePose:
        """The pose error as a function, zero at the target."""
        return FramePose(self.tip, self.transform, self.relative_to)

    def replaced(self, **arguments: Any) -> 'PoseTarget':
        """Return the target with some constructor arguments replaced."""
        return PoseTarget(**{
            'tip': self.tip, 'target': self.transform, 'relative_to': self.relative_to,
            'weights': self.weights, 'position_tolerance': self.position_tolerance,
            'orientation_tolerance': self.orientation_tolerance, **arguments})

    def at(self, pose: Pose) -> 'PoseTarget':
        """Return the target at another pose; raises InvalidTargetError."""
        # not copy.copy, which takes 2 us
        target = object.__new__(PoseTarget)
        target.__dict__ = self.__dict__.copy()
        target.transform = as_transform(pose, f"target of '{self.tip}'")
        return target

    def error_cost(self) -> LeastSquares:
        """Return the cost 1/2 |e|^2 of the counted errors e, each divided by its tolerance."""
        units = np.repeat([self.position_tolerance, self.orientation_tolerance], 3)
        return LeastSquares(self.function, weight=self.counted / units**2)

    def resolved(self, at: Configuration) -> 'PoseTarget':
        """Return the target relative to the root frame, with `relative_to` at its pose in `at`."""
        if self.relative_to is None:
            return self
        return self.replaced(target=at.placement(self.relative_to) * self.function.reference,
                             relative_to=None)

    def errors(self, placed: pin.SE3) -> tuple[float, float]:
        """
        Return the position error [m] and the orientation error [rad], without free axes.

        `placed` is the pose of the tip relative to the frame `relative_to`.
        """
        # used by the acceptance check, so this method shares no arithmetic with the solvers
        error = pin.SE3(self.transform).actInv(placed)
        shift = error.translation * self.counted[:3]
        turn = pin.log3(error.rotation) * self.counted[3:]
        return math.sqrt(shift @ shift), math.sqrt(turn @ turn)

    def tolerance_constraints(self) -> tuple[Constraint, ...]:
        """Return constraints that keep the errors within the tolerances; some are stricter."""
        reference, found = self.function.reference, list[Constraint]()
        for rows, tolerance, length in (
                (slice(0, 3), self.position_tolerance, PointToPointDistance(
                    self.tip, np.zeros(3), reference.translation, self.relative_to)),
                (slice(3, 6), self.orientation_tolerance, FrameOrientation(
                    self.tip, reference, self.relative_to, form='angle'))):
            margin = max(TOLERANCE_MARGIN * tolerance, MIN_TOLERANCE)
            # if all three errors count, bound their norm; if fewer count, bound each error by at
            # most tolerance / sqrt(count), so that their norm is within the tolerance
            if (count := np.count_nonzero(self.counted[rows])) == 3:
                found.append(Constraint(length, upper=tolerance - margin, tolerance=margin))
            elif count:
                most, share = np.full(6, np.inf), 1 / math.sqrt(count)
                most[rows][self.counted[rows]] = max(share * tolerance - margin, 0.0)
                found.append(Constraint(self.function, -most, most,
                                        tolerance=max(share * margin, MIN_TOLERANCE)))
        return tuple(found)


class TargetShape(NamedTuple):
    """The fields of a target except its pose."""

    tip: str
    relative_to: str | None
    weights: bytes      # the bytes of the weights (6,), empty if all are 1
    position_tolerance: float
    orientation_tolerance: float
    loose: bool


_ALL, _ALL_COUNT = np.ones(6), np.ones(6, dtype=bool)
_ALL.setflags(write=False)
_ALL_COUNT.setflags(write=False)


def _tolerance(value: object, name: str, tip: str) -> float:
    return between(value, f"{name} of '{tip}'", MIN_TOLERANCE, MAX_TOLERANCE, InvalidTargetError)


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
        raise InvalidTargetError(f"all six weights of '{tip}' are zero; valid: at least one > 0")
    array.setflags(write=False)
    return array
