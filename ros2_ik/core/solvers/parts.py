"""Independent parts of a problem: groups of targets that share no joints with other groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.lm import BOUNDS, GIVEN, LAYOUT, NUMBERS, ROWS, VALUES
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.problem_rows import OfTarget, ProblemRows

# number of parameters of a target
POSE = 12


@dataclass(frozen=True, eq=False)
class Parts:
    """
    The parts of a problem as arrays for compiled loops, which search each part separately.

    A robot with two arms on a fixed torso has two parts: each arm restarts alone, because a random
    start that suits one arm rarely suits the other.

    `arrays` are integers, floats and formula addresses. The integers are the number of parts p, a
    table (p + 1, 7), the data that the table refers to, and the first indices of floating joints
    in the active values. Column c of the table has the boundaries of block c of each part:

    0. numbers of the program (in the floats)
    1. layout of the program
    2. addresses
    3. indices of the part's parameters in the parameters of the problem
    4. indices of the part's values in the active values
    5. rows with finite bounds
    6. bounds (4, k) of these rows (in the floats)

    The arrays are valid as long as the joints at `locked_q_indices` keep their values.
    """

    arrays: tuple[Array | Indices, ...]
    locked_q_indices: Indices

    @classmethod
    def of(cls, problem: IKProblem, of_target: OfTarget) -> 'Parts':
        """Split a problem with targets only; `of_target` returns the function of a target."""
        parts, locked, groups = [], [], _target_groups(problem)
        for numbers, names in groups:
            # a program of this group's targets and joints; the other joints are locked
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
    """Return `Parts.arrays` from the seven blocks of each part."""
    # boundaries of each block within its column
    ends = np.cumsum([[0] * 7, *([len(array) for array in part] for part in parts)], axis=0)
    numbers, layouts, addresses, given, values, rows, bounds = zip(*parts, strict=True)
    # the integer columns follow the table one after another; the bounds follow the numbers
    first = 1 + ends.size
    for column in (LAYOUT, GIVEN, VALUES, ROWS):
        ends[:, column] += first
        first = ends[-1, column]
    ends[:, BOUNDS] += ends[-1, NUMBERS]
    return (np.concatenate([[len(parts)], ends.reshape(-1), *layouts, *given, *values, *rows,
                            bases]).astype(np.int64),
            np.concatenate([*numbers, *bounds]),
            np.concatenate(addresses))


def _target_groups(problem: IKProblem) -> list[tuple[list[int], set[str]]]:
    """Return groups of targets that share active joints: target numbers and joint names."""
    active = set(problem.active.names)
    groups: list[tuple[list[int], set[str]]] = []
    for t, target in enumerate(problem.targets):
        numbers = [t]
        names = active & problem.robot.moving_joints(target.tip, target.relative_to)
        # joints that move tip and reference frame alike leave the error unchanged, but stay active
        if target.relative_to is not None:
            names |= active & problem.robot.moving_joints(target.relative_to)
        # merge with the groups that share a joint
        for group in [group for group in groups if group[1] & names]:
            groups.remove(group)
            numbers, names = group[0] + numbers, group[1] | names
        groups.append((numbers, names))
    # floating joints are part of every group, except in the middle of an arm
    is_split = len(groups) > 1 and not len(problem.active.floating_starts)
    return groups if is_split else [(list(range(len(problem.targets))), active)]
