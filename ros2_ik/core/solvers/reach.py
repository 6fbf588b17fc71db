"""Targets that are further away than a tip can get."""

import numpy as np

from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.robot.tree import FLOATING, PRISMATIC, tree_of

HAIR = 1e-9     # part of the lengths that rounding may come to


def out_of_reach(problem: IKProblem) -> list[str]:
    """
    Return which targets no joint values reach, for being too far away.

    That is shown by the length of the stretched chain: of all that lies between the first joint
    that may move and the tip, taken as one straight line. Nearer targets may be out of reach, too.
    """
    found = (_too_far(problem, target) for target in problem.targets)
    return [text for text in found if text]


def _too_far(problem: IKProblem, target: PoseTarget) -> str:
    if target.relative_to is not None or not target.counted[:3].all():
        return ''
    chain = tree_of(problem.robot, (problem.robot.frame_id(target.tip),), problem.joint_names,
                    problem.start)
    if not len(chain.kind) or FLOATING in chain.kind:    # nothing moves, or a base moves about
        return ''
    lower, upper = (chain.multiplier * limit[chain.column] + chain.offset
                    for limit in (problem.active.lower, problem.active.upper))
    travel = np.where(chain.kind == PRISMATIC, np.maximum(np.abs(lower), np.abs(upper)), 0.0)
    links = [*chain.before[1:, 9:], chain.mounting[0, 9:]]
    longest = float(travel.sum() + np.linalg.norm(links, axis=1).sum())
    away = float(np.linalg.norm(target.function.reference.translation - chain.before[0, 9:]))
    if not away > (longest + target.position_tolerance) * (1 + HAIR):
        return ''
    column = problem.active.columns[chain.column[0]]
    joint = next(j.name for j in problem.active.joints if j.velocity_index == column)
    return (f"it is out of reach: {away:.4g} m from '{joint}', from where '{target.tip}' gets no "
            f'further than {longest:.4g} m')
