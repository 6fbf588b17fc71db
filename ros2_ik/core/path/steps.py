"""Steps from one configuration of a path to the next: short, on the path, free of contact."""

import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.path.branches import Branches
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Configuration

HALVINGS = 10       # of a step, until its tool stays within the deviation
Chain = list[tuple[float, Array]]   # parameters and configurations (nq,)


def refined(branches: Branches, chain: Chain) -> tuple[Chain, int | None]:
    """
    Return a chain refined by configurations at needed parameters until each step is allowed.

    It ends before the first step that cannot be made so, whose index is returned, too, or None.
    """
    found = chain[:1]
    for i, (start, end) in enumerate(zip(chain, chain[1:], strict=False)):
        steps = _divided(branches, start, end, HALVINGS)
        if steps is None:
            return found, i
        found += steps
    return found, None


def _divided(branches: Branches, start: tuple[float, Array], end: tuple[float, Array],
             halvings: int) -> Chain | None:
    """Return the configurations after `start` up to `end`, None where a step does not hold."""
    (s, q), (s_end, q_end) = start, end
    middle, is_needed = branches.between(s, s_end)
    between = q + (q_end - q) * (middle - s) / (s_end - s)
    if not is_needed and branches.is_step(q, q_end) and _is_near(branches, middle, between):
        return [end] if _is_free(branches, q, q_end) else None
    added = branches.follow(middle, between) if halvings else None
    halvings -= not is_needed
    first = None if added is None else _divided(branches, start, (middle, added), halvings)
    second = None if first is None else _divided(branches, first[-1], end, halvings)
    return None if first is None or second is None else first + second


def _is_near(branches: Branches, s: float, q: Array) -> bool:
    """Return whether the tool is within the allowed deviation from its path."""
    error, = accept(branches.at(s), q).errors
    return (error.position <= branches.options.max_deviation
            and error.orientation <= branches.options.max_rotation)


def _is_free(branches: Branches, q: Array, end: Array) -> bool:
    """Return whether nothing touches between two configurations that touch nothing."""
    checker = branches.problem.checker
    count = math.ceil(float(np.abs(end - q).max()) / branches.options.resolution)
    return checker is None or not any(checker.collides(q + (end - q) * k / count)
                                      for k in range(1, count))


def pose_jacobian(problem: IKProblem, q: Array) -> Array:
    """Return the Jacobian (m, n) of the counted rows of the target for the active joints."""
    target, robot = problem.targets[0], problem.robot
    at = Configuration(robot, q, robot.scratch_data())
    # from the tip's axes to the target's, along which rows are counted
    R = target.transform[:3, :3].T @ at.transform(target.tip, target.relative_to)[:3, :3]
    J = np.kron(np.eye(2), R) @ at.jacobian(target.tip, target.relative_to)
    counted: Array = J[target.counted][:, problem.active.v_slice]
    return counted
