"""Checks of the steps between configurations of a path: length, deviation, contacts."""

import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.path.branches import Branches
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Configuration

# bisections of a step until the tool is within the allowed deviation
MAX_BISECTIONS = 10
# parameters and configurations (nq,) in the order of the path
Chain = list[tuple[float, Array]]


def refined(branches: Branches, chain: Chain) -> tuple[Chain, int | None]:
    """
    Return a chain with configurations added until each step is allowed.

    All needed parameters are added. If a step cannot be refined, the result ends before this step,
    and the second return value is the index of the step, otherwise None.
    """
    found = chain[:1]
    for i, (start, end) in enumerate(zip(chain, chain[1:], strict=False)):
        steps = _divided(branches, start, end, MAX_BISECTIONS)
        if steps is None:
            return found, i
        found += steps
    return found, None


def _divided(branches: Branches, start: tuple[float, Array], end: tuple[float, Array],
             bisections: int) -> Chain | None:
    """Return the configurations after `start` up to `end`, or None if a step is not allowed."""
    (s, q), (s_end, q_end) = start, end
    # done if the step spans no needed parameter, is short, and its middle is near the path
    middle, is_needed = branches.between(s, s_end)
    between = q + (q_end - q) * (middle - s) / (s_end - s)
    if not is_needed and branches.is_step(q, q_end) and _is_near(branches, middle, between):
        return [end] if _is_free(branches, q, q_end) else None
    # otherwise add a configuration in the middle and divide both halves
    added = branches.follow(middle, between) if bisections else None
    bisections -= not is_needed
    first = None if added is None else _divided(branches, start, (middle, added), bisections)
    second = None if first is None else _divided(branches, first[-1], end, bisections)
    return None if first is None or second is None else first + second


def _is_near(branches: Branches, s: float, q: Array) -> bool:
    """Return whether the tool at q (nq,) is within the allowed deviation from the path."""
    error, = accept(branches.at(s), q).errors
    return (error.position <= branches.options.max_deviation
            and error.orientation <= branches.options.max_rotation)


def _is_free(branches: Branches, q: Array, end: Array) -> bool:
    """Return whether there is no contact between two configurations without contact."""
    checker = branches.problem.checker
    count = math.ceil(float(np.abs(end - q).max()) / branches.options.resolution)
    return checker is None or not any(checker.collides(q + (end - q) * k / count)
                                      for k in range(1, count))


def pose_jacobian(problem: IKProblem, q: Array) -> Array:
    """Return the Jacobian (m, n) of the counted target rows w.r.t. the active columns."""
    target, robot = problem.targets[0], problem.robot
    at = Configuration(robot, q, robot.scratch_data())
    # rotate from the axes of the tip to those of the target
    R = target.transform[:3, :3].T @ at.transform(target.tip, target.relative_to)[:3, :3]
    J = np.kron(np.eye(2), R) @ at.jacobian(target.tip, target.relative_to)
    counted: Array = J[target.counted][:, problem.active.v_slice]
    return counted
