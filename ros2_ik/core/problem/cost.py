"""Costs, whose sum the solvers minimize."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import floats, non_negative, row_numbers
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions import KinematicFunction, UserFunction
from ros2_ik.core.problem.constraint import check_bounds, FunctionTerm, spread
from ros2_ik.core.robot import Configuration

# default target, compared by identity to detect an omitted argument
ZERO = 0.0


class Cost(FunctionTerm, ABC):
    """A number to minimize, computed from a function."""

    name: str

    @abstractmethod
    def value(self, at: Configuration) -> float:
        """Return the cost of a configuration, weight included."""


class LeastSquares(Cost):
    """
    The cost 1/2 r^T W r of a residual r (m,).

    r = f - target (default 0), or, with `lower` or `upper`, the signed excess of f beyond them.
    `weight` W is one number, one number for each row (m,), or a positive semidefinite matrix
    (m, m); rows of weight 0 are ignored. `factor` (k, m) is the root of W: W = factor^T factor.

    Raises InvalidConstraintError.
    """

    kind = 'costs'

    def __init__(self, function: KinematicFunction, target: Any = ZERO,
                 weight: 'ArrayLike' = 1.0, name: str | None = None, *,
                 lower: 'ArrayLike | None' = None, upper: 'ArrayLike | None' = None) -> None:
        if not isinstance(function, KinematicFunction):
            raise InvalidConstraintError(f'a cost takes a KinematicFunction, not {function!r}')
        self.function, self.name = function, str(function) if name is None else name
        self._has_bounds = lower is not None or upper is not None
        self.weight = weight
        if self._has_bounds and target is not ZERO:
            raise InvalidConstraintError(f'{self.name} has a target and lower or upper; valid: '
                                         'target alone, or lower, upper or both')
        if self._has_bounds:
            self.lower, self.upper = (
                row_numbers(absent if bound is None else bound, f'{side} of {self.name}',
                            InvalidConstraintError, np.inf, len(function.labels))
                for side, bound, absent in (('lower', lower, -np.inf), ('upper', upper, np.inf)))
        else:
            # a target is an interval of length zero
            self.lower = self.upper = row_numbers(target, f'target of {self.name}',
                                                  InvalidConstraintError,
                                                  count=len(function.labels))
        if function.labels:
            self._spread(function.labels)

    def _spread(self, labels: tuple[str, ...]) -> None:
        self.lower = spread(self.lower, f'lower or target of {self.name}', labels)
        self.upper = spread(self.upper, f'upper or target of {self.name}', labels)
        if self._has_bounds:
            check_bounds(self.function, self.lower, self.upper, labels, self.name)
        self.factor = _root(self.weight, len(labels), f'weight of {self.name}')

    def value(self, at: Configuration) -> float:
        bound = self if self.robot_key == at.robot.key_with_frames else self.bind(at.robot)
        r = bound.factor @ bound.residual(bound.function.value(at))
        return 0.5 * float(r @ r)

    def residual(self, f: Array) -> Array:
        """Return the residual r (m,) for a value f (m,) of the function."""
        # the signed distance of f from the nearest point of the interval
        r: Array = f - np.minimum(np.maximum(f, self.lower), self.upper)
        return r


class ScalarCost(Cost):
    """
    A cost from a Python function: `weight` times `function(configuration) -> float`.

    `gradient(configuration) -> (nv,)` is the gradient of `function` in the tangent space; by
    default finite differences. The cost may be negative; a cost without a minimum drives joints
    to their limits. The attribute `function` is a UserFunction that calls the argument `function`.
    """

    kind = 'scalar costs'

    def __init__(self, function: Callable[[Configuration], float],
                 gradient: Callable[[Configuration], Array] | None = None, weight: float = 1.0,
                 name: str | None = None) -> None:
        if not callable(function) or not (gradient is None or callable(gradient)):
            raise InvalidConstraintError('a scalar cost and its gradient must be callables, not '
                                         f'{function!r} and {gradient!r}')
        self.function = UserFunction(
            function, 1, None if gradient is None else partial(_row, gradient), name=name)
        self.weight = non_negative(weight, 'weight of a cost', InvalidConstraintError)
        self.name = self.function.name

    def value(self, at: Configuration) -> float:
        return self.weight * float(self.function.value(at)[0])


def _row(gradient: Callable[[Configuration], 'ArrayLike'], at: Configuration) -> Array:
    return floats(gradient(at), 'the gradient of a cost', 'numbers',
                  InvalidConstraintError).reshape(1, -1)


def _root(weight: object, size: int, name: str) -> Array:
    """Return L (k, m) with L^T L = W, where k is the rank of W."""
    W = floats(weight, name, f'a number, ({size},) or ({size}, {size})', InvalidConstraintError)
    if W.shape not in ((), (size,), (size, size)):
        raise InvalidConstraintError(f'{name} must be of shape (), ({size},) or ({size}, {size}), '
                                     f'not {W.shape}')
    if not np.isfinite(W).all():
        raise InvalidConstraintError(f'{name} is not finite: {weight!r}')
    # eigenvalues and eigenvectors of W; values within rounding of zero become zero
    if W.ndim < 2:
        values, vectors = np.full(size, W), np.eye(size)
    elif not np.allclose(W, W.T, rtol=1e-9, atol=0):
        raise InvalidConstraintError(f'{name} is not symmetric: {weight!r}')
    else:
        values, vectors = np.linalg.eigh(W)
        values[np.abs(values) < 1e-12 * np.abs(values).max(initial=0.0)] = 0.0
    if (values < 0).any():
        raise InvalidConstraintError(f'{name} is negative; valid: numbers >= 0, or a '
                                     'positive semidefinite matrix')
    kept = values > 0
    root: Array = np.sqrt(values[kept])[:, None] * vectors.T[kept]
    root.setflags(write=False)
    return root
