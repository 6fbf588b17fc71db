"""Demands on joint values that cannot all be met."""

from collections.abc import Iterator
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.functions import BoundJoints
from ros2_ik.core.problem.active_joints import TURN
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.interval import exceeds, HAIR, Interval
from ros2_ik.core.robot import Joint

ROUNDS = 4     # of narrowing the values of joints by the relations between them


class Row(NamedTuple):
    """lower <= sum of ratios times the joint values at `places` in q <= upper."""

    name: str
    places: tuple[int, ...]
    ratios: tuple[float, ...]
    lower: float
    upper: float
    turns: bool      # any number of full turns away


class Side(NamedTuple):
    """An end of the values a joint may have, and what says so."""

    value: float
    why: tuple[str, ...]


def joints_apart(problem: IKProblem) -> Iterator[str]:
    """
    Return which demands on joint values exclude each other, or the limits of the joints.

    Relations between several joints, such as couplings, narrow what is left to each of them.
    """
    wanted: dict[Any, list[Interval]] = {}
    relations = []
    for row in _rows(problem):
        if not row.places:      # whatever the joints do
            if exceeds(0.0, row.upper) or exceeds(row.lower, 0.0):
                yield f'no joint value changes {row.name}, which does not hold'
        elif len(row.places) == 1:
            place, ratio = row.places[0], row.ratios[0]
            if place not in wanted:
                wanted[place] = [_allowed(problem, place)]
            low, high = sorted((row.lower / ratio, row.upper / ratio))
            found = Interval(row.name, low, high)
            yield from _entered(wanted[place], _of_turns(row, found, wanted[place][0]))
        else:
            # the same relation, whatever it is multiplied by
            low, high = sorted((row.lower / row.ratios[0], row.upper / row.ratios[0]))
            key = row.places, tuple(ratio / row.ratios[0] for ratio in row.ratios)
            yield from _entered(wanted.setdefault(key, []), Interval(row.name, low, high))
            relations.append(row)
    if relations:
        yield from _narrowed(problem, relations, wanted)


def _entered(known: list[Interval], wanted: Interval | None) -> Iterator[str]:
    if wanted is not None:
        yield from (other.against(wanted) for other in known if other.excludes(wanted))
        known.append(wanted)


def _rows(problem: IKProblem) -> Iterator[Row]:
    """Return the rows of constraints that are linear in the joint values."""
    places = {joint.velocity_index + i: joint.index + i for joint in problem.robot.joints
              if joint.kind != 'floating' for i in range(joint.size)}
    for constraint in problem.constraints:
        function = constraint.function
        if not isinstance(function, BoundJoints):
            continue
        for i, ratios in enumerate(function.A):
            columns = np.flatnonzero(ratios).tolist()
            if not set(columns) <= set(places):
                continue
            at = tuple(places[column] for column in columns)
            each = tuple(ratios[columns].tolist())
            shift = float(function.offset[i]) - sum(
                ratio * float(function.reference[place])
                for ratio, place in zip(each, at, strict=True))
            slack = constraint.tolerance
            yield Row(constraint.name, at, each, float(constraint.lower[i]) - slack - shift,
                      float(constraint.upper[i]) + slack - shift, bool(function.turns[i]))


def _allowed(problem: IKProblem, place: int) -> Interval:
    """Return where a joint can be: within its limits, or held."""
    joint = next(j for j in problem.robot.joints if j.index <= place < j.index + j.size)
    held = float(problem.start[place])
    if joint.name not in problem.joint_names:
        return Interval(f"'{joint.name}'", held, held, _fixed_at(problem, joint, held))
    low, high = float(problem.lower[place]), float(problem.upper[place])
    bound = problem.change_bound
    if bound is not None and (low, high) != (joint.lower, joint.upper):
        within = f'max_joint_change {bound.most.get(joint.name, math.inf):g} of'
    else:
        within = 'limits of'
    return Interval(f"{within} '{joint.name}'", low, high)


def _fixed_at(problem: IKProblem, joint: Joint, value: float) -> str:
    """Return why a joint stays at a value."""
    group = problem.group
    if group is not None and joint.name not in problem.robot.group(group).joint_names:
        why = f"is not in group '{group}'"
    else:
        why = 'is locked' if joint.name in problem.locked_joints else 'is passive'
    return f"joint '{joint.name}' {why} and stays at {value:.6g}"


def _of_turns(row: Row, wanted: Interval, allowed: Interval) -> Interval | None:
    """
    Return where a joint should be, of which a full turn may make no difference.

    None where more than one turn will do; one that is outside where none will.
    """
    if not row.turns:
        return wanted
    low, high = allowed.lower, allowed.upper
    if abs(row.ratios[0]) != 1 or not math.isfinite(high - low) or not math.isfinite(
            wanted.upper - wanted.lower):
        return None
    room = HAIR * (1 + abs(low) + abs(high))
    first = math.ceil((low - room - wanted.upper) / TURN - HAIR)
    last = math.floor((high + room - wanted.lower) / TURN + HAIR)
    if last > first:
        return None
    shift = first * TURN    # of the first that is not below: where it is above, none is between
    return Interval(wanted.name, wanted.lower + shift, wanted.upper + shift)


def _narrowed(problem: IKProblem, relations: list[Row], wanted: dict[Any, list[Interval]]
              ) -> Iterator[str]:
    """Narrow the values of joints by the relations, until a joint has none left."""
    ends = {place: _ends(wanted.get(place) or [_allowed(problem, place)])
            for row in relations for place in row.places}
    for _ in range(ROUNDS):
        before = dict(ends)
        for row in relations:
            if not row.turns:
                yield from _narrow(row, ends)
        if ends == before:
            return


def _ends(wanted: list[Interval]) -> tuple[Side, Side]:
    low, high = max(wanted, key=lambda one: one.lower), min(wanted, key=lambda one: one.upper)
    return (Side(low.lower, (low.fixed or low.name,)),
            Side(high.upper, (high.fixed or high.name,)))


def _narrow(row: Row, ends: dict[int, tuple[Side, Side]]) -> Iterator[str]:
    """Narrow the joints of a row by what the others leave; say where that is nothing."""
    terms = [(ratio, *(ends[place] if ratio > 0 else ends[place][::-1]))
             for place, ratio in zip(row.places, row.ratios, strict=True)]
    least = [ratio * low.value for ratio, low, _ in terms]
    most = [ratio * high.value for ratio, _, high in terms]
    hair = HAIR * (1 + sum(abs(end) for end in (*least, *most) if math.isfinite(end)))
    if sum(least) > row.upper + hair:
        yield _told(row.name, [low for _, low, _ in terms])
    if sum(most) < row.lower - hair:
        yield _told(row.name, [high for _, _, high in terms])
    for i, (place, (ratio, *_)) in enumerate(zip(row.places, terms, strict=True)):
        others = [term for k, term in enumerate(terms) if k != i]
        top = (row.upper - sum(least[:i] + least[i + 1:]) + hair) / ratio
        bottom = (row.lower - sum(most[:i] + most[i + 1:]) - hair) / ratio
        above = Side(top, _why(row.name, [side for _, side, _ in others]))
        below = Side(bottom, _why(row.name, [side for _, _, side in others]))
        lower, upper = (below, above) if ratio > 0 else (above, below)
        old_lower, old_upper = ends[place]
        ends[place] = (lower if exceeds(lower.value, old_lower.value) else old_lower,
                       upper if exceeds(old_upper.value, upper.value) else old_upper)
        if exceeds(ends[place][0].value, ends[place][1].value):
            yield _told('', list(ends[place]))
            return


def _why(name: str, sides: list[Side]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([name, *(why for side in sides for why in side.why)]))


def _told(name: str, sides: list[Side]) -> str:
    return f'{" and ".join(why for why in _why(name, sides) if why)} exclude each other'
