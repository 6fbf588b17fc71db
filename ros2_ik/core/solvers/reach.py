"""Targets that are further away than a tip can get."""

import math

from ros2_ik.core.problem import IKProblem, mobility_of, PoseTarget

HAIR = 1e-9     # part of the lengths that rounding may come to
TIP = (0.0, 0.0, 0.0)


def out_of_reach(problem: IKProblem) -> list[str]:
    """
    Return which targets no joint values reach, for being too far away or too near.

    That is shown by the chain from the first joint that may move to the tip, stretched and
    folded, and by how far the limits of its joints move the tip. Other targets may be out of
    reach, too.
    """
    found = (_missed(problem, target) for target in problem.targets)
    return [text for text in found if text]


def _missed(problem: IKProblem, target: PoseTarget) -> str:
    if target.relative_to is not None or not target.counted[:3].all():
        return ''
    moves = mobility_of(problem, target.tip)
    if not moves.is_bounded:    # nothing moves, or a base moves about
        return ''
    p, slack = target.function.reference.translation.tolist(), target.position_tolerance
    chain = moves.stretched(TIP)
    away = chain.at(p)
    column = problem.active.columns[moves.first_column]
    joint = next(j.name for j in problem.active.joints
                 if 0 <= column - j.velocity_index < j.velocity_size)
    where = f"it is out of reach: {away:.4g} m from '{joint}', from where '{target.tip}' gets no"
    if away > (chain.upper + slack) * (1 + HAIR):
        return f'{where} further than {chain.upper:.4g} m'
    if away < (chain.lower - slack) * (1 - HAIR) - HAIR:
        return f'{where} nearer than {chain.lower:.4g} m'
    for place in (moves.around(TIP), *moves.slabs(TIP)):
        if place is None:
            continue
        value = place.at(p)
        missing = max(value - place.upper, place.lower - value) - slack
        if missing > HAIR * (1 + abs(value) + math.hypot(*p)):
            return f'it is out of reach: the {place.name} end {missing:.4g} m short of it'
    return ''
