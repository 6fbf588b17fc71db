"""Contradictions that need no search: looked for after a first attempt that failed."""

from collections.abc import Iterator
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.functions import BoundJoints, KinematicFunction, RelativeFunction
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Joint, Robot, sphere_of_reach

EPSILON = 1e-9     # relative rounding error below which two bounds count as equal
FAR = 10           # a target at more than FAR times the reach was probably given in millimetres


class Interval(NamedTuple):
    """A demand on one number."""

    name: str
    lower: float
    upper: float

    def excludes(self, other: 'Interval') -> bool:
        """Return whether no value meets both, by more than rounding."""
        return _exceeds(self.lower, other.upper) or _exceeds(other.lower, self.upper)

    def __str__(self) -> str:
        return f'{self.name} in [{self.lower:.6g}, {self.upper:.6g}]'


def conflict(problem: IKProblem) -> str | None:
    """
    Return which demands exclude each other whatever the joint values, or None.

    Compared are bounds of one joint (its limits, `max_joint_change`, constraints) and constraints
    on one and the same function. None proves nothing.
    """
    wanted: dict[Any, list[Interval]] = {}
    for key, interval in (*_joint_bounds(problem), *_function_bounds(problem)):
        for other in wanted.setdefault(key, []):
            if other.excludes(interval):
                return f'{other} and {interval} exclude each other'
        wanted[key].append(interval)
    return None


def out_of_reach(problem: IKProblem) -> list[str]:
    """Return one sentence for each target that is farther away than the arm is long."""
    found = (_missed(problem, target) for target in problem.targets)
    return [text for text in found if text]


def _exceeds(value: float, most: float) -> bool:
    if math.isinf(value) or math.isinf(most):
        return value > most
    return value > most + EPSILON * (1 + abs(value) + abs(most))


def _joint_bounds(problem: IKProblem) -> Iterator[tuple[Any, Interval]]:
    scalars = [joint for joint in problem.robot.joints if joint.is_scalar]
    places = {joint.velocity_index: joint.index for joint in scalars}
    for joint in scalars:
        yield from ((joint.index, one) for one in _allowed(problem, joint))
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


def _allowed(problem: IKProblem, joint: Joint) -> Iterator[Interval]:
    """Return the range of a joint: its limits and the bound on its change, or its fixed value."""
    if joint.name not in problem.joint_names:
        held = float(problem.start[joint.index])
        yield Interval(f"joint '{joint.name}', which does not move,", held, held)
        return
    if problem.joint_limits:
        yield Interval(f"limits of '{joint.name}'", joint.lower, joint.upper)
    bound = problem.change_bound
    if bound is not None and joint.name in bound.most:
        begin, most = float(bound.origin[joint.index]), bound.most[joint.name]
        yield Interval(f"max_joint_change {most:g} of '{joint.name}'", begin - most, begin + most)


def _function_bounds(problem: IKProblem) -> Iterator[tuple[Any, Interval]]:
    for constraint in problem.constraints:
        key, slack = _key(constraint.function, problem.robot), constraint.tolerance
        for i, label in enumerate(constraint.labels if key else ()):
            yield (key, label), Interval(
                f'{constraint.name} ({label})', float(constraint.lower[i]) - slack,
                float(constraint.upper[i]) + slack)


def _key(function: KinematicFunction, robot: Robot) -> Any:
    """Return what functions that measure the same have in common, None where it is not known."""
    if isinstance(function, RelativeFunction):
        return function.frame, function.relative_to, function.rows, function.parameters.tobytes()
    masses = function.masses(robot)
    return masses and (masses.frames, masses.relative_to, masses.parameters.tobytes())


def _missed(problem: IKProblem, target: PoseTarget) -> str:
    if target.relative_to is not None or not target.counted[:3].all():
        return ''
    sphere = sphere_of_reach(problem.robot, target.tip, problem.joint_names, problem.start,
                             problem.joint_limits)
    if sphere is None:
        return ''
    away = math.dist(target.function.reference.translation.tolist(), sphere.centre)
    if away <= (sphere.radius + target.position_tolerance) * (1 + EPSILON):
        return ''
    unit = ' (positions are in metres)' if away > FAR * sphere.radius else ''
    return (f"it is out of reach: {away:.4g} m from '{sphere.joint}', from where '{target.tip}' "
            f'reaches {sphere.radius:.4g} m{unit}')
