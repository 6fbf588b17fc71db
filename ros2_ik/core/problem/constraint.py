"""Hard constraints: lower <= f(q) <= upper."""

from collections.abc import Hashable
from copy import copy
import math
from typing import ClassVar, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import between, MAX_TOLERANCE, MIN_TOLERANCE, row_numbers
from ros2_ik.core.errors import IKError, InvalidConstraintError
from ros2_ik.core.functions import KinematicFunction, RelativeFunction
from ros2_ik.core.robot import Robot

# default tolerance of a constraint [m, rad]
TOLERANCE = 1e-6
T = TypeVar('T', bound='FunctionTerm')


class FunctionTerm:
    """
    Base class of constraints and costs: a function with bounds or weights for each row.

    `kind` is the term's entry in `IKProblem.kinds`. `bind` sets `moved_by`, the names of the
    joints that change the function.
    """

    kind: ClassVar[str]
    function: KinematicFunction
    robot_key: tuple[Hashable, ...] | None = None
    moved_by = frozenset[str]()

    def bind(self: T, robot: Robot) -> T:
        """Return the term bound to a robot; raises the errors of `function.bind`."""
        if self.robot_key == robot.key_with_frames:
            return self
        bound = copy(self)
        bound.robot_key = robot.key_with_frames
        bound.function = self.function.bind(robot)
        bound.moved_by = bound.function.joints(robot)
        if bound.function is not self.function:
            bound._spread(bound.function.labels)
        return bound

    def _spread(self, labels: tuple[str, ...]) -> None:
        """Expand bounds or weights to one number for each row label."""
        raise NotImplementedError


class Constraint(FunctionTerm):
    """
    A hard constraint: lower <= f <= upper in each row, within `tolerance` [m] or [rad].

    Bounds are inclusive; each is one number or an array (m,). An infinite bound has no effect;
    equal bounds are an equality constraint. Solvers use `form`, a function with its bounds: f
    itself, or, for an equality at which f has no gradient, an equivalent smooth function. The
    acceptance check always uses f.

    Raises InvalidConstraintError for NaN, lower > upper, or bounds that no value of f meets.
    """

    kind = 'constraints'

    def __init__(self, function: KinematicFunction, lower: 'ArrayLike' = -np.inf,
                 upper: 'ArrayLike' = np.inf,
                 name: str | None = None, tolerance: float = TOLERANCE) -> None:
        if not isinstance(function, KinematicFunction):
            raise InvalidConstraintError('a constraint takes a KinematicFunction, not '
                                         f'{function!r}')
        self.function, self.name = function, str(function) if name is None else name
        self.lower, self.upper = (
            row_numbers(bound, f'{side} bound of {self.name}', InvalidConstraintError, math.inf,
                        len(function.labels))
            for side, bound in (('lower', lower), ('upper', upper)))
        self.tolerance = between(tolerance, 'tolerance', MIN_TOLERANCE, MAX_TOLERANCE,
                                 InvalidConstraintError)
        self.form = self.function, self.lower, self.upper
        if function.labels:
            self._spread(function.labels)

    def _spread(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.lower = spread(self.lower, f'lower bound of {self.name}', labels)
        self.upper = spread(self.upper, f'upper bound of {self.name}', labels)
        check_bounds(self.function, self.lower, self.upper, labels, self.name)
        self.form = self.function, self.lower, self.upper
        smooth = self.function.equality_form(self.lower, self.upper)
        if smooth is not None:
            zero = np.zeros(len(smooth.labels))
            self.form = smooth, zero, zero
        for function in (self.function, self.form[0]):
            if isinstance(function, RelativeFunction):
                # compute the cached parameters and compile now instead of in the first search
                _ = function.parameters, function.rows.address

    def __repr__(self) -> str:
        return f"Constraint('{self.name}', {self.lower.tolist()}, {self.upper.tolist()})"


def spread(array: Array, name: str, labels: tuple[str, ...],
           fault: type[IKError] = InvalidConstraintError) -> Array:
    """Return a read-only array (m,) from one number (repeated) or from one for each row."""
    if array.shape not in ((), (len(labels),)):
        several = f' or {len(labels)}' if len(labels) != 1 else ''
        raise fault(f'{name} must be one number{several}, not of shape {array.shape}')
    full = array if array.shape else np.full(len(labels), array)
    full.setflags(write=False)
    return full


def check_bounds(function: KinematicFunction, lower: Array, upper: Array,
                 labels: tuple[str, ...], name: str) -> None:
    """Raise InvalidConstraintError for bounds that no value of the function meets."""
    least, most = function.range
    for label, low, high in zip(labels, lower.tolist(), upper.tolist(), strict=True):
        if low > high:
            raise InvalidConstraintError(f'{name}, {label}: lower bound {low:g} is above the '
                                         f'upper bound {high:g}')
        if high < least or low > most or low == np.inf or high == -np.inf:
            raise InvalidConstraintError(f'{name}, {label}: bounds [{low:g}, {high:g}] are never '
                                         f'met; values are in [{least:g}, {most:g}]')
