"""Costs, which the solution minimizes."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import floats, non_negative
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions import KinematicFunction, UserFunction
from ros2_ik.core.problem.constraint import check_bounds, given, OfFunction, spread
from ros2_ik.core.robot import Configuration, Robot

ZERO = 0.0     # where no target is given


class Cost(OfFunction, ABC):
    """A number that should be small, of a function."""

    name: str

    @abstractmethod
    def value(self, at: Configuration) -> float:
        """Return the cost."""

    def joints(self, robot: Robot) -> frozenset[str]:
        """Names of the joints that change it."""
        return self.function.joints(robot)


class LeastSquares(Cost):
    """
    1/2 r^T W r with r = f - target (by default 0), or how far f is outside lower..upper.

    `weight` W is a number, one for each row (m,), or a symmetric matrix (m, m) without negative
    eigenvalues; 0 means ignored. `factor` (k, m) is its root: W = factor^T factor.

    Raises InvalidConstraintError.
    """

    kind = 'costs'

    def __init__(self, function: KinematicFunction, target: Any = ZERO,
                 weight: 'ArrayLike' = 1.0, name: str | None = None, *,
                 lower: 'ArrayLike | None' = None, upper: 'ArrayLike | None' = None) -> None:
        if not isinstance(function, KinematicFunction):
            raise InvalidConstraintError(f'a cost takes a KinematicFunction, not {function!r}')
        self.function, self.name = function, str(function) if name is None else name
        self._soft = lower is not None or upper is not None
        self._weight = weight
        if self._soft and target is not ZERO:
            raise InvalidConstraintError(f'{self.name} has a target and lower or upper; valid: '
                                         'target alone, or lower, upper or both')
        if self._soft:
            self.lower = given(-np.inf if lower is None else lower, f'lower of {self.name}')
            self.upper = given(np.inf if upper is None else upper, f'upper of {self.name}')
        else:
            self.lower = self.upper = given(target, f'target of {self.name}')
            if not np.isfinite(self.lower).all():
                raise InvalidConstraintError(f'target of {self.name} is not finite: {target!r}')
        if function.labels:
            self._spread(function.labels)

    def _spread(self, labels: tuple[str, ...]) -> None:
        self.lower = spread(self.lower, f'lower or target of {self.name}', labels)
        self.upper = spread(self.upper, f'upper or target of {self.name}', labels)
        if self._soft:
            check_bounds(self.function, self.lower, self.upper, labels, self.name)
        self.factor = _root(self._weight, len(labels), f'weight of {self.name}')

    def value(self, at: Configuration) -> float:
        bound = self if self.robot_key == at.robot.key_with_frames else self.bind(at.robot)
        r = bound.factor @ bound.residual(bound.function.value(at))
        return 0.5 * float(r @ r)

    def residual(self, f: Array) -> Array:
        """Return r (m,) for a value f of the function."""
        r: Array = f - np.minimum(np.maximum(f, self.lower), self.upper)
        return r


class ScalarCost(Cost):
    """
    Any number of a configuration, `callable(configuration) -> float`, times `weight`.

    `gradient(configuration) -> (nv,)` is found by differences where it is not given. It may be
    negative; what has a lowest value is found, what falls for ever ends at the limits. `function`
    is the callable as a UserFunction.
    """

    kind = 'scalar costs'

    def __init__(self, function: Callable[[Configuration], float],
                 gradient: Callable[[Configuration], Array] | None = None, weight: float = 1.0,
                 name: str | None = None) -> None:
        if not callable(function) or not (gradient is None or callable(gradient)):
            raise InvalidConstraintError('a scalar cost and its gradient are callables of a '
                                         f'configuration, not {function!r} and {gradient!r}')
        self.function = UserFunction(
            function, 1, None if gradient is None else partial(_row, gradient), name=name)
        self.weight = non_negative(weight, 'weight of a cost', InvalidConstraintError)
        self.name = self.function.name

    def value(self, at: Configuration) -> float:
        return self.weight * float(self.function.value(at)[0])

    def gradient(self, at: Configuration) -> Array:
        """Return the gradient in the tangent space, (nv,)."""
        g: Array = self.weight * self.function.jacobian(at)[0]
        return g


def _row(gradient: Callable[[Configuration], 'ArrayLike'], at: Configuration) -> Array:
    return floats(gradient(at), 'the gradient of a cost', 'numbers',
                  InvalidConstraintError).reshape(1, -1)


def _root(weight: object, size: int, name: str) -> Array:
    """Return L (k, m) with L^T L = W; rows of weight zero are left out."""
    W = floats(weight, name, f'a number, ({size},) or ({size}, {size})', InvalidConstraintError)
    if W.shape not in ((), (size,), (size, size)):
        raise InvalidConstraintError(f'{name} has shape (), ({size},) or ({size}, {size}), not '
                                     f'{W.shape}')
    if not np.isfinite(W).all():
        raise InvalidConstraintError(f'{name} is not finite: {weight!r}')
    if W.ndim < 2:
        values, vectors = np.full(size, W), np.eye(size)
    elif not np.allclose(W, W.T, rtol=1e-9, atol=0):
        raise InvalidConstraintError(f'{name} is not symmetric: {weight!r}')
    else:
        values, vectors = np.linalg.eigh(W)
        values[np.abs(values) < 1e-12 * np.abs(values).max(initial=0.0)] = 0.0
    if (values < 0).any():
        raise InvalidConstraintError(f'{name} is negative: {W.tolist()}')
    kept = values > 0
    root: Array = np.sqrt(values[kept])[:, None] * vectors.T[kept]
    root.setflags(write=False)
    return root
