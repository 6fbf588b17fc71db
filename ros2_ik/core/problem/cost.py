"""What should be near something."""

from abc import ABC, abstractmethod
from collections.abc import Callable
import math
from typing import Any, ClassVar

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats, non_negative
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.problem.constraint import check_bounds, given, OfFunction, spread
from ros2_ik.core.robot import Configuration, Robot

ZERO = 0.0     # where no target is given


class Cost(ABC):
    """A number that should be small; `periodic` and `is_user_code` as of a function."""

    name: str
    periodic: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = False

    @abstractmethod
    def value(self, at: Configuration) -> float:
        """Return the cost."""

    def bind(self, robot: Robot) -> 'Cost':
        """Return this cost of one robot, with all that needs the number of rows."""
        return self

    @abstractmethod
    def joints(self, robot: Robot) -> frozenset[str]:
        """Names of the joints that change it."""


class LeastSquares(OfFunction, Cost):
    """
    1/2 r^T W r with r = f - target (by default 0), or how far f is outside lower..upper.

    `weight` W is a number, one for each row (m,), or a symmetric matrix (m, m) without negative
    eigenvalues; 0 means ignored. `factor` (k, m) is its root: W = factor^T factor.

    Raises InvalidConstraintError.
    """

    def __init__(self, function: KinematicFunction, target: Any = ZERO, weight: Any = 1.0,
                 name: str | None = None, *, lower: Any = None, upper: Any = None) -> None:
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
        bound = self if self.robot_key == at.robot.key else self.bind(at.robot)
        r = bound.factor @ bound.residual(bound.function.value(at))
        return 0.5 * float(r @ r)

    def residual(self, f: Array) -> Array:
        """Return r (m,) for a value f of the function."""
        r: Array = f - np.minimum(np.maximum(f, self.lower), self.upper)
        return r

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.function.joints(robot)


class ScalarCost(Cost):
    """
    Any number of a configuration, `callable(configuration) -> float`, times `weight`.

    `gradient(configuration) -> (nv,)` is found by differences where it is not given. It may be
    negative; what has a lowest value is found, what falls for ever ends at the limits. Programs
    take it as a function of one row.
    """

    labels = ('cost',)
    is_user_code = True

    def __init__(self, function: Callable[[Configuration], float],
                 gradient: Callable[[Configuration], Array] | None = None, weight: float = 1.0,
                 name: str | None = None) -> None:
        if not callable(function) or not (gradient is None or callable(gradient)):
            raise InvalidConstraintError('a scalar cost and its gradient are callables of a '
                                         f'configuration, not {function!r} and {gradient!r}')
        self.function, self.gradient_of = function, gradient
        self.weight = non_negative(weight, 'weight of a cost', InvalidConstraintError)
        self.name = str(name or getattr(function, '__name__', 'cost'))

    def value(self, at: Configuration) -> float:
        return self.weight * self._number(at)

    def _number(self, at: Configuration) -> float:
        value = floats(self.function(at), f"value of cost '{self.name}'", 'one number',
                       InvalidConstraintError)
        if value.size != 1 or not math.isfinite(number := float(value.reshape(-1)[0])):
            raise InvalidConstraintError(f"cost '{self.name}' gave {value.tolist()}, not one "
                                         'finite number')
        return number

    def gradient(self, at: Configuration, step: float = 1e-6) -> Array:
        """Return the gradient in the tangent space, (nv,)."""
        size = at.robot.nv
        if self.gradient_of is not None:
            g = floats(self.gradient_of(at), f"gradient of cost '{self.name}'", f'{size} numbers',
                       InvalidConstraintError).reshape(-1)
            if g.shape != (size,) or not np.isfinite(g).all():
                raise InvalidConstraintError(f"gradient of cost '{self.name}' must be {size} "
                                             f'finite numbers, not {g.tolist()}')
        else:
            g = np.array([self._number(at.with_q(at.integrate(v)))
                          - self._number(at.with_q(at.integrate(-v)))
                          for v in np.eye(size) * step]) / (2 * step)
        return self.weight * g

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        """Return the value (1,) and the gradient (1, nv)."""
        return np.array([self.value(at)]), self.gradient(at)[None]

    def joints(self, robot: Robot) -> frozenset[str]:
        return frozenset(robot.joint_names)


def _root(weight: Any, size: int, name: str) -> Array:
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
