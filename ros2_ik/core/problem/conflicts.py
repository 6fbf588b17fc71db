"""Contradictory bounds and unreachable targets of a problem, detected without a search."""

from collections.abc import Hashable, Iterator
import math
from typing import TypeAlias

import numpy as np

from ros2_ik.core.functions import BoundJoints, RelativeFunction
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.robot import sphere_of_reach

# relative difference below which two numbers count as equal
EPSILON = 1e-9
# a target farther away than this multiple of the reach was probably given in millimetres
UNIT_MISTAKE_RATIO = 10
# key of the bounded number, name of the bound, lower and upper end
Bound: TypeAlias = tuple[Hashable, str, float, float]


def conflict(problem: IKProblem) -> str | None:
    """
    Return a sentence about two bounds that exclude each other, or None.

    Compares all bounds of each joint (limits, `max_joint_change`, constraints), and constraints on
    equal frame or centre-of-mass functions. A result of None does not prove a solution exists.
    """
    bounds: dict[Hashable, list[tuple[str, float, float]]] = {}
    for key, name, lower, upper in (*_joint_bounds(problem), *_function_bounds(problem)):
        for other, low, high in bounds.setdefault(key, []):
            most, least = min(upper, high), max(lower, low)
            rounding = EPSILON * (1 + abs(least) + abs(most)) if math.isfinite(least - most) else 0
            if least > most + rounding:
                return (f'{other} in [{low:.6g}, {high:.6g}] and {name} in [{lower:.6g}, '
                        f'{upper:.6g}] exclude each other')
        bounds[key].append((name, lower, upper))
    return None


def _joint_bounds(problem: IKProblem) -> Iterator[Bound]:
    """Yield each bound on a single joint, with the joint's index in q as the key."""
    # index in q for each column of the tangent space
    bound, q_indices = problem.change_bound, dict[int, int]()
    for joint in (joint for joint in problem.robot.joints if joint.is_scalar):
        index = q_indices[joint.velocity_index] = joint.index
        if joint.name not in problem.joint_names:
            fixed = float(problem.start[index])
            yield index, f"joint '{joint.name}', which does not move,", fixed, fixed
            continue
        if problem.joint_limits:
            yield index, f"limits of '{joint.name}'", joint.lower, joint.upper
        if bound is not None and joint.name in bound.most:
            origin, most = float(bound.origin[index]), bound.most[joint.name]
            yield (index, f"max_joint_change {most:g} of '{joint.name}'", origin - most,
                   origin + most)
    # rows of constraints f = A (q - reference) + offset that depend on one joint
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        if not isinstance(function, BoundJoints):
            continue
        for i, ratios in enumerate(function.A):
            columns = np.flatnonzero(ratios).tolist()
            # a row that ignores full turns allows many intervals of q, not one
            if len(columns) != 1 or columns[0] not in q_indices or function.turns[i]:
                continue
            index, ratio = q_indices[columns[0]], float(ratios[columns[0]])
            # solve ratio * q + shift = bound for q; a negative ratio swaps the ends
            shift = float(function.offset[i]) - ratio * float(function.reference[index])
            low, high = sorted((float(end) - shift) / ratio for end in (
                constraint.lower[i] - slack, constraint.upper[i] + slack))
            yield index, constraint.name, low, high


def _function_bounds(problem: IKProblem) -> Iterator[Bound]:
    """Yield bounds on rows of frame and centre-of-mass functions; equal functions share keys."""
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        key: Hashable = None
        if isinstance(function, RelativeFunction):
            key = (function.frame, function.relative_to, function.rows,
                   function.parameters.tobytes())
        elif masses := function.masses(problem.robot):
            key = masses.frames, masses.relative_to, masses.parameters.tobytes()
        for i, label in enumerate(constraint.labels if key else ()):
            yield ((key, i), f'{constraint.name} ({label})',
                   float(constraint.lower[i]) - slack, float(constraint.upper[i]) + slack)


def out_of_reach(problem: IKProblem) -> list[str]:
    """Return a sentence for each target with x y z fixed in the root frame but out of reach."""
    found = []
    for target in problem.targets:
        sphere = None
        if target.relative_to is None and target.counted[:3].all():
            sphere = sphere_of_reach(problem.robot, target.tip, problem.joint_names, problem.start,
                                     problem.joint_limits)
        if sphere is None:
            continue
        centre, radius, joint = sphere
        away = math.dist(target.transform[:3, 3].tolist(), centre)
        if away > (radius + target.position_tolerance) * (1 + EPSILON):
            unit = ' (positions are in metres)' if away > UNIT_MISTAKE_RATIO * radius else ''
            found.append(f"the target is out of reach: {away:.4g} m from '{joint}', "
                         f"reach of '{target.tip}' at most {radius:.4g} m{unit}")
    return found
