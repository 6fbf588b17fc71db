"""Tasks: the target and velocity that a function should have."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import floats, instance, non_negative, whole
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.problem.constraint import spread
from ros2_ik.core.robot import Robot
from ros2_ik.core.velocity.gain import Gain

PREVIOUS = 'previous'   # the velocity that the last step had


class Task:
    """
    f should go to `target` (m,), or move with `velocity` (m,) [units of f per s], or both.

    In a step of dt the function should change by gain (target - f) + velocity dt; the square of
    what is missing counts with `weight`, a number or one for each row: 1/2 weight |J dq - step|^2.
    Without a target (None) velocities are compared: 1/2 weight |J v - velocity|^2, whatever dt is.

    `gain` is the part of the error that one step removes, in (0, 1]; or `gain_per_second` k: the
    part 1 - exp(-k dt). Of several tasks those of a lower `priority` number come first: others
    only use what these leave free. A task that is `scaled` keeps its direction where limits bite:
    J dq = s step with the largest s in [0, 1], one for all such tasks, whatever their priority.
    `lm_damping` times weight |gain error|^2 damps all joints, so that targets beyond reach end in
    rest; 0 makes no difference to them.

    A function that has no gradient at its target, such as an angle at zero, is replaced by the
    smooth one behind it (`equality_form`). Raises InvalidTargetError, InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, target: 'ArrayLike | None' = 0.0, *,
                 velocity: 'ArrayLike | None' = None, weight: 'ArrayLike' = 1.0,
                 gain: float = 1.0, gain_per_second: float | None = None,
                 lm_damping: float = 1.0, priority: int = 0, scaled: bool = False,
                 name: str | None = None) -> None:
        self.given: KinematicFunction = instance(
            function, KinematicFunction, 'the function of a task', InvalidTargetError)
        self.function = self.given
        self.name = str(function) if name is None else name
        self.smooth_at: Array | None = None
        if target is None and velocity is None:
            raise InvalidTargetError(f"task '{self.name}' has neither target nor velocity")
        self.target = None if target is None else row_numbers(target, f'target of {self.name}')
        self.follows_previous = isinstance(velocity, str) and velocity == PREVIOUS
        self.velocity = row_numbers(0.0 if velocity is None or self.follows_previous else velocity,
                                 f'velocity of {self.name}')
        self.weight = checked_weight(weight, self.name)
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.lm_damping = non_negative(lm_damping, f'lm_damping of {self.name}',
                                       InvalidOptionError)
        self.priority = whole(priority, f'priority of {self.name}', InvalidOptionError, least=0)
        self.scaled = bool(scaled)
        if function.labels:
            self._spread(function.labels)

    def bind(self, robot: Robot) -> 'Task':
        """Return this task of one robot, with numbers for each row, on a smooth function."""
        bound = copy(self)
        bound.given = self.function.spec
        bound.function = self.function.bind(robot)
        bound._spread(bound.function.labels)
        if bound.target is None:
            return bound
        smooth = bound.function.equality_form(bound.target, bound.target)
        if smooth is None:
            return bound
        bound.smooth_at, bound.function = bound.target, smooth.bind(robot)
        bound.target = bound.velocity = np.zeros(())
        if len(bound.weight) != len(smooth.labels):
            bound.weight = bound.weight.max()
        bound._spread(bound.function.labels)
        return bound

    @property
    def is_at_reference(self) -> bool:
        """True if f should become zero, at a reference that `toward` replaces."""
        return (self.given.reference_field is not None and self.target is not None
                and not self.target.any())

    def toward(self, reference: object, robot: Robot) -> KinematicFunction:
        """Return the function of this bound task with another reference, of that robot."""
        changed: Any = {self.given.reference_field: reference}
        function = replace(self.given, **changed)   # type: ignore[type-var]
        smooth = (None if self.smooth_at is None
                  else function.equality_form(self.smooth_at, self.smooth_at))
        return (function if smooth is None else smooth).bind(robot)

    def _spread(self, labels: tuple[str, ...]) -> None:
        for name in ('target', 'velocity', 'weight'):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, spread(value, f'{name} of {self.name}', labels,
                                           InvalidTargetError))

    def __repr__(self) -> str:
        return f"Task('{self.name}')"


def checked_weight(weight: object, name: str) -> Array:
    """Return a weight of the task of that name as an array; raises InvalidTargetError."""
    array = row_numbers(weight, f'weight of {name}')
    if (array < 0).any():
        raise InvalidTargetError(f'weight of {name} is negative: {weight!r}')
    return array


def row_numbers(value: object, what: str) -> Array:
    """Return finite numbers, one or one for each row; raises InvalidTargetError."""
    array = floats(value, what, 'finite numbers, one or one for each row', InvalidTargetError)
    if array.ndim > 1 or not np.isfinite(array).all():
        raise InvalidTargetError(f'{what} must be finite numbers, one or one for each row, not '
                                 f'{value!r}')
    return array
