"""Targets in groups that share joints, each of which is descended by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.lm import BOUNDS, GIVEN, LAYOUT, NUMBERS, ROWS, VALUES
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.problem_rows import OfTarget, ProblemRows

POSE = 12       # parameters of a target


@dataclass(frozen=True, eq=False)
class Parts:
    """
    Targets that share joints, as programs of their own that loops descend one after another.

    Two hands of a fixed torso then restart each by itself: a random start need not suit both.
    `arrays` are integers, floats and the addresses that loops take. The integers are the number of
    parts, a table, and what it tells the beginnings of, those of one part ending where those of
    the next begin: numbers (among the floats), layout, addresses, places of the parameters among
    the problem's, places of the values among the active ones', rows that ask for something, and
    bounds of these (4, k) (among the floats); last the places among the active values where those
    of floating joints begin. They hold while joints at `locked_q_indices` stay where they are.
    """

    arrays: tuple[Array | Indices, ...]
    locked_q_indices: Indices

    @classmethod
    def of(cls, problem: IKProblem, of_target: OfTarget) -> 'Parts':
        """Split a problem that has targets alone; `of_target` chooses the function of each."""
        parts, locked, groups = [], [], _sharing(problem)
        for numbers, names in groups:
            rows = ProblemRows(problem if len(groups) == 1 else problem.varied(
                targets=[problem.targets[t] for t in numbers], collisions=False, checker=None,
                locked=set(problem.robot.joint_names) - names), of_target)
            floats, layout, _, addresses = rows.hard.arrays
            parts.append((
                floats, layout, addresses,
                np.concatenate([np.arange(POSE * t, POSE * t + POSE) for t in numbers]),
                np.searchsorted(problem.active.indices, rows.problem.active.indices),
                rows.rows, rows.bounds.reshape(-1)))
            locked.append(rows.hard.locked_q_indices)
        return cls(_packed(parts, problem.active.floating_starts),
                   np.unique(np.concatenate(locked)))


def _packed(parts: Sequence[tuple[Array | Indices, ...]], bases: Indices
            ) -> tuple[Array | Indices, ...]:
    """Return the arrays of `Parts`, of what each part has in the order of the table."""
    ends = np.cumsum([[0] * 7, *([len(array) for array in part] for part in parts)], axis=0)
    numbers, layouts, addresses, given, values, rows, bounds = zip(*parts, strict=True)
    first = 1 + ends.size
    for column in (LAYOUT, GIVEN, VALUES, ROWS):
        ends[:, column] += first
        first = ends[-1, column]
    ends[:, BOUNDS] += ends[-1, NUMBERS]
    return (np.concatenate([[len(parts)], ends.reshape(-1), *layouts, *given, *values, *rows,
                            bases]).astype(np.int64),
            np.concatenate([*numbers, *bounds]),
            np.concatenate(addresses))


def _sharing(problem: IKProblem) -> list[tuple[list[int], set[str]]]:
    """Return the numbers of targets that share moving joints, with the names of these."""
    active = set(problem.active.names)
    groups: list[tuple[list[int], set[str]]] = []
    for t, target in enumerate(problem.targets):
        numbers = [t]
        names = active & problem.robot.moving_joints(target.tip, target.relative_to)
        if target.relative_to is not None:      # what moves the frame must not stand still
            names |= active & problem.robot.moving_joints(target.relative_to)
        for group in [group for group in groups if group[1] & names]:
            groups.remove(group)
            numbers, names = group[0] + numbers, group[1] | names
        groups.append((numbers, names))
    return groups if len(groups) > 1 else [(list(range(len(problem.targets))), active)]
