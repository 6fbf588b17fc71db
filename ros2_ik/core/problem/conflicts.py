"""What can be shown to be impossible without searching."""

from collections.abc import Iterator
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import (
    CenterOfMass,
    JointPositions,
    KinematicFunction,
    RelativeFunction,
)
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.robot import Configuration


class Interval(NamedTuple):
    """Where something wants one row of a function to be."""

    name: str
    lower: float
    upper: float

    def __str__(self) -> str:
        return f'{self.name} in [{self.lower:.6g}, {self.upper:.6g}]'


def conflict(problem: IKProblem) -> str | None:
    """
    Say which two demands exclude each other whatever the joint values, or None.

    Shown are demands on the same quantity without a common value, such as two boxes of one point
    that do not meet, and joint values outside the joint's limits. None proves nothing.
    """
    wanted: dict[Any, list[Interval]] = {}
    for key, interval in _intervals(problem):
        for other in wanted.setdefault(key, []):
            if interval.lower > other.upper or interval.upper < other.lower:
                return f'{other} and {interval} exclude each other'
        wanted[key].append(interval)
    return None


def _intervals(problem: IKProblem) -> Iterator[tuple[Any, Interval]]:
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        lower, upper = constraint.lower - slack, constraint.upper + slack
        if isinstance(function, JointPositions):
            yield from _of_joints(problem, function, constraint.name, lower, upper)
            continue
        if not isinstance(function, (RelativeFunction, CenterOfMass)):
            continue       # two of these are the same if their arguments are
        key = _key(function)
        for label, low, high in zip(constraint.labels, lower, upper, strict=True):
            yield (key, label), Interval(f'{constraint.name} ({label})', low, high)


def _of_joints(problem: IKProblem, function: JointPositions, name: str, lower: Array,
               upper: Array) -> Iterator[tuple[Any, Interval]]:
    """Where joints should be, and where they can be: within their limits, or held."""
    robot = problem.robot
    names = robot.joint_names if function.names is None else function.names
    if len(names) != len(lower) or not set(names) <= set(robot.joint_names):
        return     # joints of several numbers, followers
    value = function.value(Configuration(robot, problem.start))
    for row, joint in enumerate(map(robot.joint, names)):
        held = float(problem.start[joint.index])
        low, high = problem.lower[joint.index], problem.upper[joint.index]
        if joint.name not in problem.joint_names:
            low = high = held
        if joint.rotary and not math.isfinite(high - low):
            continue       # as many turns as one likes
        yield joint.name, Interval(f"limits of '{joint.name}'", low, high)
        shift = held - value[row]
        yield joint.name, Interval(name, lower[row] + shift, upper[row] + shift)


def _key(function: KinematicFunction) -> Any:
    """Give what two functions that measure the same share; labels tell axes apart."""
    left_out = ('axes', 'labels', '_rows')
    parts = {name: value for name, value in vars(function).items() if name not in left_out}
    return function.kind, tuple((name, _bytes(parts[name])) for name in sorted(parts))


def _bytes(value: Any) -> Any:
    if hasattr(value, 'homogeneous'):
        value = value.homogeneous
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value)
