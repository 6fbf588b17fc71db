"""Tasks of velocity IK: functions with desired values, desired rates and gains."""

from copy import copy
from dataclasses import replace
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import instance, non_negative, positive, row_numbers, whole
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.problem.constraint import spread
from ros2_ik.core.robot import Robot

PREVIOUS = 'previous'   # as `velocity` of a Task: the joint velocities of the last step


def step_gain(gain: float | None, rate: float | None, name: str, dt: float = 1.0) -> float:
    """
    Return the fraction, in (0, 1], of an error that a step of `dt` [s] removes.

    `gain` is this fraction; a `rate` [1/s] (gain_per_second) may be given instead. Raises
    InvalidOptionError, which names the task, barrier or limit.
    """
    if gain is not None and rate is not None:
        raise InvalidOptionError(f'{name} has gain and gain_per_second; valid: one of the two')
    if rate is not None:
        # exponential decay, which does not depend on the length of the steps
        return -math.expm1(-dt * positive(rate, f'gain_per_second of {name}', InvalidOptionError))
    fraction = positive(gain, f'gain of {name}', InvalidOptionError)
    if fraction > 1:
        raise InvalidOptionError(f'gain of {name} must be in (0, 1], not {gain!r}; for a rate use '
                                 'gain_per_second')
    return fraction


class Task:
    """
    Desired value `target` (m,) and rate `velocity` (m,) [units of f per s] of a function f.

    In a step of dt [s], f should change by step = gain (target - f) + velocity dt. The task adds
    the cost 1/2 weight |J dq - step|^2; `weight` is one number, or one number per row. A task
    without target (None) adds 1/2 weight |J v - velocity|^2, independent of dt.

    `gain`, in (0, 1] (default 1), is the fraction of the error that one step removes; instead, a
    `gain_per_second` k means gain 1 - exp(-k dt). Tasks with a lower `priority` number come first:
    the next priority uses only the remaining degrees of freedom. Limits make a `scaled` task
    slower rather than change its direction: J dq = s step, where s in [0, 1] is as large as
    possible, and the same for all scaled tasks. `lm_damping` (unused by scaled tasks and tasks in
    `constraints`) adds lm_damping * weight * |gain * error|^2 to the damping of the task's limb
    (coupled joints), so that the robot comes to rest if a target is beyond reach; 0 disables it.

    A function without gradient at its target, such as an angle at zero, is replaced by its smooth
    `equality_form`. Raises InvalidTargetError, InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, target: 'ArrayLike | None' = 0.0, *,
                 velocity: 'ArrayLike | None' = None, weight: 'ArrayLike' = 1.0,
                 gain: float | None = None, gain_per_second: float | None = None,
                 lm_damping: float = 1.0, priority: int = 0, scaled: bool = False,
                 name: str | None = None) -> None:
        self.function: KinematicFunction = instance(
            function, KinematicFunction, 'the function of a task', InvalidTargetError)
        self.name = str(function) if name is None else name
        self.unbound, self.awaits_target = self, False
        if target is None and velocity is None:
            raise InvalidTargetError(f"task '{self.name}' has neither target nor velocity")
        self.target = None if target is None else row_numbers(
            target, f'target of {self.name}', InvalidTargetError, count=len(function.labels))
        self.follows_previous = isinstance(velocity, str) and velocity == PREVIOUS
        self.velocity = row_numbers(0.0 if velocity is None or self.follows_previous else velocity,
                                    f'velocity of {self.name}', InvalidTargetError,
                                    count=len(function.labels))
        self.weight = checked_weight(weight, self.name)
        self.gain = 1.0 if gain is None and gain_per_second is None else gain
        self.gain_per_second = gain_per_second
        step_gain(self.gain, gain_per_second, self.name)
        self.lm_damping = non_negative(lm_damping, f'lm_damping of {self.name}',
                                       InvalidOptionError)
        self.priority = whole(priority, f'priority of {self.name}', InvalidOptionError, lower=0)
        self.scaled = bool(scaled)
        # the number of rows may depend on the robot; then `bind` checks the lengths
        if function.labels:
            self._spread(function.labels)

    def bind(self, robot: Robot) -> 'Task':
        """Return a copy bound to a robot: the function is smooth, arrays have one item per row."""
        bound = copy(self)
        bound.function = self.function.bind(robot)
        bound._spread(bound.function.labels)
        if bound.target is None:
            return bound
        smooth = bound.function.equality_form(bound.target, bound.target)
        if smooth is None:
            return bound
        if bound.velocity.any():
            raise InvalidOptionError(f"task '{self.name}' has a velocity, but its function has no "
                                     'gradient at the target')
        bound.function = smooth.bind(robot)
        bound.target = bound.velocity = np.zeros(())
        # the smooth function may have more rows than the weight (angle: 1 row, rotation vector: 3)
        if len(bound.weight) != len(smooth.labels):
            bound.weight = bound.weight.max()
        bound._spread(bound.function.labels)
        return bound

    @property
    def is_at_reference(self) -> bool:
        """True if the target is the function's reference (f = 0); see `with_reference`."""
        return (self.unbound.function.spec.reference_field is not None
                and self.target is not None and not self.target.any())

    def with_reference(self, reference: object, robot: Robot) -> 'Task':
        """Return a copy that has another reference and is bound to the robot."""
        task, spec = copy(self.unbound), self.unbound.function.spec
        changed: Any = {spec.reference_field: reference}
        task.function = replace(spec, **changed)   # type: ignore[type-var]
        return task.bind(robot)

    def _spread(self, labels: tuple[str, ...]) -> None:
        for name in ('target', 'velocity', 'weight'):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, spread(value, f'{name} of {self.name}', labels,
                                           InvalidTargetError))

    def __repr__(self) -> str:
        return f"Task('{self.name}')"


def checked_weight(weight: object, name: str) -> Array:
    """Return the weight of task `name` as an array; raises InvalidTargetError if negative."""
    array = row_numbers(weight, f'weight of {name}', InvalidTargetError)
    if (array < 0).any():
        raise InvalidTargetError(f'weight of {name} is negative: {weight!r}')
    return array
