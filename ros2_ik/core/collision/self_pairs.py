"""The pairs of a robot's links that are checked for self-collision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import instance
from ros2_ik.core.collision.collision_geometry import link_geometries
from ros2_ik.core.collision.contact_check import ContactCheck
from ros2_ik.core.collision.distance_check import DistanceCheck
from ros2_ik.core.collision.pair_model import PairModel
from ros2_ik.core.errors import counted, InvalidOptionError
from ros2_ik.core.meshes.cache import cached, digest
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.srdf import sorted_pair
from ros2_ik.core.scene.robot_geometry import robot_geometry, RobotGeometry

SAMPLES = 200        # number of random configurations
MAX_NAMES = 10       # largest number of names that a sentence lists
ALWAYS = 0.9         # fraction of samples in contact that counts as nearly all; 0.95 in MoveIt
SHALLOW = 1e-3       # largest contact depth due to modelling errors, as in a closed gripper [m]
RIGID, ADJACENT = 'rigidly joined', 'adjacent'
DISABLED, TOUCHING = 'disabled by the SRDF', 'in contact in nearly all sampled configurations'
NEUTRAL = 'in contact in the neutral state, nowhere deeper than 1 mm'
GUESSED = (TOUCHING, NEUTRAL)
Pair = tuple[str, str]


@dataclass(frozen=True)
class SelfPairs:
    """
    Pairs of links with geometry; the two names of a pair are in alphabetical order.

    `checked` are the pairs to check; `allowed` are the other pairs, each with the reason.
    """

    checked: frozenset[Pair]
    allowed: dict[Pair, str] = field(hash=False)

    @property
    def guessed(self) -> dict[Pair, str]:
        """Pairs allowed because of contacts in tested configurations, with the reason."""
        return {pair: reason for pair, reason in self.allowed.items() if reason in GUESSED}

    def report(self) -> str:
        """Return one sentence about the guessed pairs, or ''."""
        return count_sentence('pair', 'of links left unchecked, as their models seem to overlap '
                              '(an SRDF with disable_collisions decides instead)',
                              [f'{first} - {second} ({reason})'
                               for (first, second), reason in self.guessed.items()])


def self_pairs(robot: Robot, geometry: RobotGeometry | None = None) -> SelfPairs:
    """
    Return the pairs of links to check, cached for each robot and geometry.

    Not checked are:
    - links that no joint moves relative to each other;
    - pairs that the SRDF disables;
    - pairs in contact in at least 90 % of 200 random configurations (fixed seed): an SRDF may fail
      to disable them;
    - if the SRDF disables no pair: adjacent links, which have at most one moving joint and no
      other link with geometry between them;
    - if the SRDF disables no pair: pairs in contact in the neutral state, but at most 1 mm deep
      there and in all samples. (MoveIt's setup assistant also leaves out pairs in deeper contact;
      here they stay checked, as the neutral posture itself may collide.)

    Contacts in these configurations do not exclude a pair that the SRDF enables. `geometry`
    defaults to `robot_geometry(robot)`, with exact meshes.
    """
    instance(robot, Robot, 'robot', InvalidOptionError)
    geometry = robot_geometry(robot) if geometry is None else geometry
    return _decide(robot.without_added_frames, geometry)


@lru_cache(maxsize=8)
def _decide(robot: Robot, geometry: RobotGeometry) -> SelfPairs:
    # the first reason of a pair counts: rigid, disabled or adjacent, in contact
    pairs = {sorted_pair(*pair) for pair in combinations(geometry.links, 2)}
    allowed = dict.fromkeys((pair for pair in sorted(pairs)
                             if not robot.moving_joints(*pair)), RIGID)
    found = ({DISABLED: set(robot.disabled_pairs)} if robot.disabled_pairs
             else {ADJACENT: _adjacent(robot, geometry)})
    rest = sorted(pairs - set().union(*found.values(), robot.enabled_pairs) - allowed.keys())
    found[TOUCHING], neutral = _sampled(robot, geometry, rest)
    found[NEUTRAL] = set() if robot.disabled_pairs else neutral
    for reason, some in found.items():
        allowed.update((pair, reason) for pair in sorted(some & pairs - allowed.keys()))
    return SelfPairs(frozenset(pairs - allowed.keys()), allowed)


def count_sentence(what: str, which: str, names: Sequence[str]) -> str:
    """Return a sentence that counts and lists names; '' without names."""
    count = counted(len(names), what)
    return f'collisions: {count} {which}: {join_first(names)}' if names else ''


def join_first(names: Sequence[str]) -> str:
    """Return a text with the first MAX_NAMES names and the number of further names."""
    more = f' and {len(names) - MAX_NAMES} more' if len(names) > MAX_NAMES else ''
    return f'{", ".join(names[:MAX_NAMES])}{more}'


def _adjacent(robot: Robot, geometry: RobotGeometry) -> set[Pair]:
    """Return pairs with at most one moving joint, and no link with geometry, between them."""
    edges: dict[str, list[tuple[str, int]]] = {}
    for joint in robot.tree.joints.values():
        # floating and planar joints move links far apart: links joined by them are not adjacent
        cost = {'fixed': 0, 'floating': 2, 'planar': 2}.get(joint.kind, 1)
        for one, other in ((joint.parent, joint.child), (joint.child, joint.parent)):
            edges.setdefault(one, []).append((other, cost))
    return {sorted_pair(link, other) for link in geometry.links
            for other in _adjacent_to(link, edges, set(geometry.links))}


def _adjacent_to(link: str, edges: dict[str, list[tuple[str, int]]], solid: set[str]) -> set[str]:
    """Return links in `solid` reached via links outside it and at most one moving joint."""
    found, waiting = set(), [(link, '', 0)]
    # depth-first over links without geometry, counting moving joints
    while waiting:
        here, before, moved = waiting.pop()
        for there, cost in edges.get(here, ()):
            if there == before or moved + cost > 1:
                continue
            if there in solid:
                found.add(there)
            else:
                waiting.append((there, here, moved + cost))
    return found


def _sampled(robot: Robot, geometry: RobotGeometry, pairs: list[Pair]
             ) -> tuple[set[Pair], set[Pair]]:
    """Return pairs nearly always in contact, and pairs in shallow contact in the neutral state."""
    key = digest(robot.key, geometry.key, repr((SAMPLES, pairs)))
    found = cached('self-pairs-5', key, lambda: _measure(robot, geometry, pairs))
    always = found['shares'] >= ALWAYS
    shallow = (found['depths'] >= 0) & (found['depths'] <= SHALLOW)
    return ({pair for pair, chosen in zip(pairs, always, strict=True) if chosen},
            {pair for pair, chosen in zip(pairs, shallow & ~always, strict=True) if chosen})


def _measure(robot: Robot, geometry: RobotGeometry, pairs: list[Pair]) -> dict[str, Array]:
    """
    Return for each pair its fraction of samples in contact, and its depth [m].

    The depth is measured between the meshes' hulls: the largest value in the neutral state and all
    samples, or -1 for a pair that is not in contact in the neutral state.
    """
    items = link_geometries(robot, geometry)
    wanted = set(pairs)
    pair_mask = np.array([[sorted_pair(one.name, other.name) in wanted for other in items]
                          for one in items], dtype=bool).reshape(len(items), len(items))
    check = ContactCheck(PairModel(robot, items, np.triu(pair_mask)))
    hulls = DistanceCheck(PairModel(robot, [item._replace(mesh=None) for item in items],
                                    np.triu(pair_mask)))

    def depths_at(q: Array) -> dict[Pair, float]:
        """Return the depth of each pair of links in contact at q (nq,)."""
        touching, data, found = check.touching(q), robot.scratch_data(), dict[Pair, float]()
        pin.forwardKinematics(robot.model, data, q)
        for contact in hulls.contacts(q, data, touching):
            pair = sorted_pair(contact.first, contact.second)
            found[pair] = max(contact.depth, found.get(pair, 0.0))
        return found

    generator, neutral = np.random.default_rng(0), depths_at(robot.neutral)
    samples = [depths_at(robot.random_q(generator)) for _ in range(SAMPLES)]
    depths = [max(found.get(pair, -1.0) for found in (neutral, *samples)) if pair in neutral
              else -1.0 for pair in pairs]
    return {'shares': np.array([sum(pair in found for found in samples) for pair in pairs])
            / SAMPLES, 'depths': np.array(depths)}
