"""Which links of a robot are checked against each other."""

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import combinations
import logging
from typing import Any, TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.cache import digest, remembered
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.robot_geometry import robot_geometry, RobotGeometry

if TYPE_CHECKING:
    from ros2_ik.core.arrays import Mask

SAMPLES = 200
ALWAYS = 0.95        # share of the samples, as MoveIt's setup assistant has it
RIGID, ADJACENT = 'rigidly joined', 'adjacent'
DISABLED, TOUCHING = 'disabled by the SRDF', 'in contact in nearly all sampled configurations'
Pair = tuple[str, str]
_KEPT = 8
_known: OrderedDict[tuple[str, str], 'SelfPairs'] = OrderedDict()
_log = logging.getLogger('ros2_ik')


@dataclass(frozen=True)
class SelfPairs:
    """
    Pairs of links with geometry, each in alphabetical order.

    `checked` are those to be checked; `allowed` those that are not, each with the reason.
    """

    checked: frozenset[Pair]
    allowed: dict[Pair, str] = field(hash=False)


def self_pairs(robot: Robot, geometry: RobotGeometry | None = None) -> SelfPairs:
    """
    Decide which pairs of links to check; kept for each robot and geometry.

    Never checked: links that do not move relative to each other, and what the SRDF disables. An
    SRDF that disables nothing says nothing: then also links next to each other (links without
    geometry do not count), and pairs in contact in 95 % of 200 configurations, drawn the same
    each time, are left out. `geometry` defaults to the robot's with hulls.
    """
    geometry = robot_geometry(robot) if geometry is None else geometry
    key = (robot.key, geometry.key)
    if key not in _known:
        _known[key] = _decide(robot, geometry)
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _decide(robot: Robot, geometry: RobotGeometry) -> SelfPairs:
    pairs = {(min(pair), max(pair)) for pair in combinations(geometry.links, 2)}
    allowed = dict.fromkeys((pair for pair in sorted(pairs)
                             if not robot.moving_joints(*pair)), RIGID)
    if robot.disabled_pairs:
        found = {DISABLED: set(robot.disabled_pairs)}
    else:
        found = {ADJACENT: _adjacent(robot, geometry)}
        rest = sorted(pairs - found[ADJACENT] - allowed.keys())
        found[TOUCHING] = _touching(robot, geometry, rest)
    for reason, some in found.items():
        allowed.update((pair, reason) for pair in sorted(some & pairs - allowed.keys()))
    checked = frozenset(pairs - allowed.keys())
    _report(robot, len(checked), allowed)
    return SelfPairs(checked, allowed)


def _report(robot: Robot, checked: int, allowed: dict[Pair, str]) -> None:
    counts = {reason: list(allowed.values()).count(reason) for reason in allowed.values()}
    _log.info("robot '%s': %d pairs of links are checked for self collision, %d are not (%s)",
              robot.name, checked, len(allowed),
              ', '.join(f'{count} {reason}' for reason, count in counts.items()) or 'none')
    guessed = [f'{a} - {b}' for (a, b), reason in allowed.items() if reason == TOUCHING]
    if guessed:
        _log.warning("robot '%s': no SRDF says so, but these touch nearly always and are not "
                     'checked: %s', robot.name, ', '.join(guessed))


def _adjacent(robot: Robot, geometry: RobotGeometry) -> set[Pair]:
    """Pairs in which one is the nearest with geometry above the other."""
    parents: dict[str, str] = {}
    for joint in ElementTree.fromstring(robot.urdf).findall('joint'):
        ends = [joint.find(tag) for tag in ('parent', 'child')]
        above, below = (end.get('link', '') if end is not None else '' for end in ends)
        parents[below] = above
    pairs = set()
    for link in geometry.links:
        above = parents.get(link, '')
        while above and above not in geometry.links:
            above = parents.get(above, '')
        if above:
            pairs.add((min(link, above), max(link, above)))
    return pairs


def _touching(robot: Robot, geometry: RobotGeometry, pairs: list[Pair]) -> set[Pair]:
    """Pairs in contact in nearly all sampled configurations."""
    key = digest(robot.key, geometry.key, repr((SAMPLES, pairs)))
    shares = remembered('self-pairs-1', key,
                        lambda: {'shares': _contact_shares(robot, geometry, pairs)})['shares']
    return {pair for pair, share in zip(pairs, shares, strict=True) if share >= ALWAYS}


def _contact_shares(robot: Robot, geometry: RobotGeometry, pairs: list[Pair]) -> Any:
    """Share of the sampled configurations in which each pair is in contact."""
    generator, data = np.random.default_rng(0), robot.model.createData()
    counts = np.zeros(len(pairs))
    for _ in range(SAMPLES):
        pin.forwardKinematics(robot.model, data, robot.random_q(generator))
        counts += links_in_contact(geometry, data, pairs)
    return counts / SAMPLES


def links_in_contact(geometry: RobotGeometry, data: Any, pairs: list[Pair]) -> 'Mask':
    """
    Say which pairs of links touch where `data`, Pinocchio's, has the joints.

    Looks at one pair after another: for once in a while, not for a search.
    """
    parts: dict[str, list[Any]] = {}
    for body in geometry.bodies:
        pose = data.oMi[body.joint] * body.placement
        place = Placement(pose.rotation, pose.translation)
        parts.setdefault(body.link, []).extend(
            coal.CollisionObject(part, place) for part in body.shape.parts())
    return np.array([any(_touch(a, b) for a in parts[first] for b in parts[second])
                     for first, second in pairs], dtype=bool)


def _touch(one: Any, other: Any) -> bool:
    return bool(one.getAABB().overlap(other.getAABB())
                and coal.collide(one, other, coal.CollisionRequest(), coal.CollisionResult()))
