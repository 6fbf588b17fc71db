"""Targets in groups that share joints, each of which is descended by itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ros2_ik.core.kernels.lm import BOUNDS, GIVEN, LAYOUT, NUMBERS, ROWS, VALUES
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.problem.active_joints import active_joints
from ros2_ik.core.problem.program import Program
from ros2_ik.core.solvers.problem_rows import ProblemRows

_EMPTY = np.zeros(0, dtype=np.int64)


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
    of floating joints begin. `columns` is the largest number of a part.
    """

    arrays: tuple[Any, ...]
    columns: int

    @classmethod
    def of(cls, rows: ProblemRows) -> 'Parts':
        """Split the rows of a problem that has targets alone."""
        active, program, groups = rows.problem.active, rows.hard, _sharing(rows.problem)
        ends = np.cumsum([0, *(len(function.parameters) for function in program.functions)])
        sizes = [joint.size for joint in active.joints]
        places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        parts, most = [], 0
        for targets, names in groups:
            own = program if len(groups) == 1 else _part_of(
                rows, [program.functions[t] for t in targets], names)
            numbers, layout, _, addresses = own.arrays
            asked = [(rows.rows >= program.rows[t].start) & (rows.rows < program.rows[t].stop)
                     for t in targets]
            first = [own.rows[i].start - program.rows[t].start for i, t in enumerate(targets)]
            parts.append((
                numbers, layout, addresses,
                np.concatenate([_EMPTY, *(np.arange(ends[t], ends[t + 1]) for t in targets)]),
                np.concatenate([_EMPTY, *(place for place, joint in zip(
                    places, active.joints, strict=True) if joint.name in names)]),
                np.concatenate([_EMPTY, *(rows.rows[mine] + shift
                                          for mine, shift in zip(asked, first, strict=True))]),
                np.concatenate([np.zeros((4, 0)), *(rows.bounds[:, mine] for mine in asked)],
                               axis=1).reshape(-1)))
            most = max(most, len(own.active.columns))
        floating = [place[0] for place, joint in zip(places, active.joints, strict=True)
                    if joint.kind == 'floating']
        return cls(_packed(parts, floating), most)


def _packed(parts: list[tuple[Any, ...]], floating: list[int]) -> tuple[Any, ...]:
    """Return the arrays of `Parts`, of what each part has in the order of the table."""
    ends = np.cumsum([[0] * 7, *([len(array) for array in part] for part in parts)], axis=0)
    numbers, layouts, addresses, given, values, rows, bounds = zip(*parts, strict=True)
    first = 1 + ends.size
    for column in (LAYOUT, GIVEN, VALUES, ROWS):
        ends[:, column] += first
        first = ends[-1, column]
    ends[:, BOUNDS] += ends[-1, NUMBERS]
    return (np.concatenate([[len(parts)], ends.reshape(-1), *layouts, *given, *values, *rows,
                            floating]).astype(np.int64),
            np.concatenate([*numbers, *bounds]),
            np.concatenate(addresses))


def _part_of(rows: ProblemRows, functions: list[Any], names: set[str]) -> Program:
    """Return the program of some functions, which moves the joints in `names` alone."""
    robot, active = rows.problem.robot, rows.problem.active
    ordered = tuple(name for name in active.names if name in names)
    return Program(robot, functions, active_joints(robot, ordered), rows.problem.start)


def _sharing(problem: IKProblem) -> list[tuple[list[int], set[str]]]:
    """Return the numbers of targets that share moving joints, with the names of these."""
    active = set(problem.active.names)
    groups: list[tuple[list[int], set[str]]] = []
    for t, target in enumerate(problem.targets):
        numbers = [t]
        names = active & problem.robot.moving_joints(target.tip, target.relative_to)
        for group in [group for group in groups if group[1] & names]:
            groups.remove(group)
            numbers, names = group[0] + numbers, group[1] | names
        groups.append((numbers, names))
    return groups if len(groups) > 1 else [(list(range(len(problem.targets))), active)]
