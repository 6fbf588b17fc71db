"""Contradictions that need no search: looked for after a first attempt that failed."""

from collections.abc import Hashable, Iterator
import math
from typing import NamedTuple

import numpy as np

from ros2_ik.core.functions import BoundJoints, RelativeFunction
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.robot import sphere_of_reach

EPSILON = 1e-9     # relative rounding error below which two bounds count as equal
FAR = 10           # a target at more than FAR times the reach was probably given in millimetres


class Interval(NamedTuple):
    """A demand on one number."""

    name: str
    lower: float
    upper: float

    def __str__(self) -> str:
        return f'{self.name} in [{self.lower:.6g}, {self.upper:.6g}]'


def conflict(problem: IKProblem) -> str | None:
    """
    Return which demands exclude each other whatever the joint values, or None.

    Compared are bounds of one joint (its limits, `max_joint_change`, constraints) and constraints
    on one and the same function. None proves nothing.
    """
    wanted: dict[Hashable, list[Interval]] = {}
    for key, interval in (*_joint_bounds(problem), *_function_bounds(problem)):
        for other in wanted.setdefault(key, []):
            low, high = max(other.lower, interval.lower), min(other.upper, interval.upper)
            rounding = EPSILON * (1 + abs(low) + abs(high)) if math.isfinite(low - high) else 0.0
            if low > high + rounding:
                return f'{other} and {interval} exclude each other'
        wanted[key].append(interval)
    return None


def _joint_bounds(problem: IKProblem) -> Iterator[tuple[Hashable, Interval]]:
    """Yield limits, bounds on changes, fixed values and constraints of single joints."""
    bound, places = problem.change_bound, dict[int, int]()
    for joint in (joint for joint in problem.robot.joints if joint.is_scalar):
        place = places[joint.velocity_index] = joint.index
        if joint.name not in problem.joint_names:
            held = float(problem.start[place])
            yield place, Interval(f"joint '{joint.name}', which does not move,", held, held)
            continue
        if problem.joint_limits:
            yield place, Interval(f"limits of '{joint.name}'", joint.lower, joint.upper)
        if bound is not None and joint.name in bound.most:
            begin, most = float(bound.origin[place]), bound.most[joint.name]
            yield place, Interval(f"max_joint_change {most:g} of '{joint.name}'", begin - most,
                                  begin + most)
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        if not isinstance(function, BoundJoints):
            continue
        for i, ratios in enumerate(function.A):
            columns = np.flatnonzero(ratios).tolist()
            # where full turns make no difference, one of them may meet the bounds
            if len(columns) != 1 or columns[0] not in places or function.turns[i]:
                continue
            place, ratio = places[columns[0]], float(ratios[columns[0]])
            shift = float(function.offset[i]) - ratio * float(function.reference[place])
            ends = sorted((float(bound) - shift) / ratio for bound in (
                constraint.lower[i] - slack, constraint.upper[i] + slack))
            yield place, Interval(constraint.name, *ends)


def _function_bounds(problem: IKProblem) -> Iterator[tuple[Hashable, Interval]]:
    """Yield the bounds of functions, under what those that measure the same have in common."""
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        key: Hashable = None
        if isinstance(function, RelativeFunction):
            key = (function.frame, function.relative_to, function.rows,
                   function.parameters.tobytes())
        elif masses := function.masses(problem.robot):
            key = masses.frames, masses.relative_to, masses.parameters.tobytes()
        for i, label in enumerate(constraint.labels if key else ()):
            yield (key, label), Interval(
                f'{constraint.name} ({label})', float(constraint.lower[i]) - slack,
                float(constraint.upper[i]) + slack)


def out_of_reach(problem: IKProblem) -> list[str]:
    """Return one sentence for each target that is farther away than the arm is long."""
    found = []
    for target in problem.targets:
        sphere = None
        if target.relative_to is None and target.counted[:3].all():
            sphere = sphere_of_reach(problem.robot, target.tip, problem.joint_names, problem.start,
                                     problem.joint_limits)
        if sphere is None:
            continue
        away = math.dist(target.function.reference.translation.tolist(), sphere.centre)
        if away > (sphere.radius + target.position_tolerance) * (1 + EPSILON):
            unit = ' (positions are in metres)' if away > FAR * sphere.radius else ''
            found.append(f"it is out of reach: {away:.4g} m from '{sphere.joint}', from where "
                         f"'{target.tip}' reaches {sphere.radius:.4g} m{unit}")
    return found
