"""The collision checker: contacts and distances of a robot in a scene."""

from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, FLOAT, Mask
from ros2_ik.core.checks import instance, non_negative, one_of, vector, whole
from ros2_ik.core.collision.collision_geometry import (
    CollisionGeometry,
    link_geometries,
    world_geometries,
)
from ros2_ik.core.collision.contact_check import ContactCheck
from ros2_ik.core.collision.contacts import Contact, deepest, Distances
from ros2_ik.core.collision.distance_check import DistanceCheck
from ros2_ik.core.collision.pair_model import follower_reduction, PairModel
from ros2_ik.core.collision.self_pairs import DISABLED, GUESSED, self_pairs
from ros2_ik.core.errors import (
    InvalidConstraintError,
    InvalidOptionError,
    InvalidSceneError,
    InvalidStateError,
    UnknownNameError,
)
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene.robot_geometry import robot_geometry, RobotGeometry
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.shapes.mesh import DETAILS
from ros2_ik.core.status import Status


class UnknownGeometryError(UnknownNameError):
    kind = 'link or object with geometry'
    status = Status.INVALID_OBJECT_NAME


class CollisionChecker:
    """
    Collision checker of a robot in a scene (default: an empty scene).

    Checks links against each other (see `self_pairs`) and against objects, and attached objects
    against all other objects, except for collisions that the scene allows. Pairs whose relative
    pose no joint changes are not checked: no joint values could separate them. An object closer
    to a link than the link's padding counts as in contact. `meshes` and `missing` are as in
    `robot_geometry`. Checkers of one robot share the robot's geometry.

    Raises InvalidSceneError for another robot's scene or, with missing='refuse', unusable shapes.
    """

    def __init__(self, robot: Robot, scene: Scene | None = None, meshes: str = 'exact',
                 missing: str = 'refuse', pair: tuple[str, str] | None = None) -> None:
        instance(robot, Robot, 'robot', InvalidOptionError)
        if scene is not None:
            instance(scene, Scene, 'scene', InvalidOptionError)
        self.robot = robot = robot.without_added_frames
        self.scene = Scene(robot) if scene is None else scene
        if self.scene.robot.key != robot.key:
            raise InvalidSceneError(f"the scene belongs to robot '{self.scene.robot.name}', not "
                                    f"to this robot '{robot.name}' (its URDF or SRDF differs)")
        self._init_arguments = (meshes, missing, pair)
        self._shape = (robot.nq,)
        self.geometry = robot_geometry(robot, meshes, missing)
        items = (*link_geometries(robot, self.geometry), *world_geometries(robot, self.scene))
        pair_mask = _between(items, *pair) if pair else _pairs_to_check(
            robot, self.scene, self.geometry, items)
        # each query places all geometries: keep only those in checked pairs
        used = np.flatnonzero(pair_mask.any(axis=0) | pair_mask.any(axis=1))
        self._pairs = PairModel(robot, [items[i] for i in used], pair_mask[np.ix_(used, used)])
        self._pairs.margins = self._paddings(self._pairs.names)
        self._check = ContactCheck(self._pairs)
        self._distance_check: DistanceCheck | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return collision_checker, (self.robot, self.scene, *self._init_arguments)

    def copy(self) -> 'CollisionChecker':
        """Return a copy of this checker; the two share no mutable state."""
        return CollisionChecker(self.robot, self.scene, *self._init_arguments)

    def for_pair(self, first: str, second: str) -> 'CollisionChecker':
        """Return a checker of one pair of links or objects, even if the scene allows contact."""
        return CollisionChecker(self.robot, self.scene, *self._init_arguments[:2], (first, second))

    @property
    def pair_count(self) -> int:
        """Number of pairs of collision geometries that are checked."""
        return len(self._pairs)

    @cached_property
    def moving_joints(self) -> frozenset[str]:
        """Names of the joints that change the distance of a checked pair."""
        # above 0 for columns that move only one item of a pair; mimic joints count as leaders
        moved = np.abs(self._pairs.moves).sum(axis=0)
        reduction = follower_reduction(self.robot)
        moved = moved if reduction is None else moved @ reduction
        return frozenset(joint.name for joint in self.robot.joints if moved[joint.columns].any())

    def _paddings(self, names: Sequence[tuple[str, str]]) -> Array:
        """Return the padding of each pair of names [m], (k,)."""
        margins = np.zeros(len(names))
        padding, links = self.scene.padding, set(self.geometry.links)
        for k, (name, other) in enumerate(names if padding else ()):
            # no padding between links, as in MoveIt
            if not (name in links and other in links):
                margins[k] = padding.get(name, 0.0) + padding.get(other, 0.0)
        return margins

    # -- checks ---------------------------------------------------------------------------

    def collides(self, at: Configuration | Array) -> bool:
        """Return whether any checked pair is in contact at a configuration or q (nq,)."""
        return self._check.collides(self._q(at))

    def touching(self, at: Configuration | Array) -> frozenset[tuple[str, str]]:
        """Return the pairs of names in contact at a configuration or q (nq,)."""
        return frozenset(self._pairs.names[k] for k in self._check.touching(self._q(at)))

    def in_collision(self, at: Configuration | Array) -> tuple[Contact, ...]:
        """
        Return the deepest contact per pair of names at a configuration or q (nq,), deepest first.

        Depths and points are computed from a mesh's convex parts if these exist, otherwise from
        its hull.
        """
        q = self._q(at)
        touching = self._check.touching(q)
        if not touching:
            return ()
        distance_check, data = self.distance_check, self.robot.scratch_data()
        pin.forwardKinematics(self.robot.model, data, q)
        return deepest(distance_check.contacts(q, data, touching))

    def rigid_contacts(self, robot: Robot, frame: str, q: Array, moving: Collection[str],
                       shift: float, turn: float) -> tuple[Contact, ...]:
        """
        Return contacts at q (nq,) that remain if `frame` moves up to `shift` [m] and `turn` [rad].

        In each, one geometry is fixed to the root, and no joint of `moving` moves the other
        relative to the frame. `robot` is the checker's robot, and may have added frames.
        """
        found, movers = list[Contact](), {*moving}
        origin = Configuration(robot, q).placement(frame).translation
        for k in self._check.touching(q):
            pair = [self._pairs.items[i] for i in self._pairs.pairs[k]]
            # index in `pair` of the geometry that may be rigid with the frame
            index = int(pair[0].joint == 0)
            if pair[1 - index].joint > 0 or movers & robot.moving_joints(
                    frame, self.scene.link_of(pair[index].name)):
                continue
            result = self._check.distance(k)
            points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
            depth = float(self._pairs.margins[k] - result.min_distance)
            # upper bound of the distances of the geometry's points from the frame's origin
            farthest = math.dist(points[index], origin) + 2 * pair[index].geometry.aabb_radius
            if depth > shift + turn * farthest:
                found.append(Contact(*self._pairs.names[k], depth,
                                     tuple(points.mean(axis=0).tolist())))
        return deepest(found)

    def distances(self, at: Configuration | Array, influence: float = 0.1,
                  max_count: int | None = None) -> Distances:
        """
        Return the `max_count` (None: all) smallest distances of pairs, if below `influence` [m].

        Meshes without convex parts are replaced by their hulls (see `make_parts`).
        """
        reach = non_negative(influence, 'influence', InvalidOptionError, math.inf)
        if max_count is not None:
            max_count = whole(max_count, 'max_count', InvalidOptionError)
        q, data, check = self._q(at), self.robot.scratch_data(), self.distance_check
        pin.computeJointJacobians(self.robot.model, data, q)
        return check.distances(data, check.broad_phase.bounds_at(q), reach, max_count)

    def _q(self, at: Configuration | Array) -> Array:
        """Return q (nq,), or raise InvalidStateError."""
        if isinstance(at, Configuration):
            if at.robot.key != self.robot.key:
                raise InvalidStateError(f"the configuration is of robot '{at.robot.name}', "
                                        f"the checker of robot '{self.robot.name}'")
            return at.q
        # fast path: solvers usually pass valid arrays
        if (type(at) is np.ndarray and at.dtype is FLOAT and at.shape == self._shape
                and math.isfinite(at.dot(at))):
            return at
        return vector(at, 'q', self.robot.nq, InvalidStateError)

    def make_parts(self) -> None:
        """
        Decompose meshes into convex parts, whose distances are more accurate than those of hulls.

        The parts are cached on disk. The first decomposition of a robot takes seconds, for the
        shipped robots up to a minute.
        """
        for item in self._pairs.items:
            if item.mesh is not None:
                item.mesh.convex_parts  # noqa: B018
        self._distance_check = None

    @property
    def distance_check(self) -> DistanceCheck:
        """The distance check; it is replaced when convex parts of meshes become available."""
        known = self._distance_check
        if known is None or known.is_outdated():
            known = self._distance_check = DistanceCheck(self._pairs)
        return known


def collision_checker(robot: Robot, scene: Scene, meshes: str = 'exact', missing: str = 'refuse',
                      pair: tuple[str, str] | None = None) -> CollisionChecker:
    """
    Return a cached checker for a Robot object and a scene.

    See `CollisionChecker` for the arguments.
    """
    instance(robot, Robot, 'robot', InvalidOptionError)
    instance(scene, Scene, 'scene', InvalidOptionError)
    one_of(meshes, 'meshes', DETAILS, InvalidOptionError)
    return _cached_checker(robot.without_added_frames, scene, meshes, missing, pair)


# at most 4: Pinocchio's data take 10 kB per pair, 140 MB for 1,200 objects around an arm
_cached_checker = lru_cache(maxsize=4)(CollisionChecker)


def _between(items: Sequence[CollisionGeometry], first: str, second: str) -> Mask:
    """Return the mask (i, i) of the pairs of a geometry of `first` and a geometry of `second`."""
    names = np.array([item.name for item in items])
    for name in (first, second):
        if name not in names:
            raise UnknownGeometryError(name, tuple(dict.fromkeys(names.tolist())))
    if first == second:
        raise InvalidConstraintError(f"a pair takes two links or objects, not '{first}' twice")
    joints = np.array([item.joint for item in items])
    between = np.outer(names == first, names == second) & (joints[:, None] != joints)
    return np.triu(between | between.T)


def _pairs_to_check(robot: Robot, scene: Scene, geometry: RobotGeometry,
                    items: Sequence[CollisionGeometry]) -> Mask:
    """
    Return the mask (i, i), above the diagonal, of the pairs of items that are checked.

    `items` are the geometries of the robot's links, then those of objects.
    """
    # `checked` has a row and a column for each name of a link or an object
    links = set(geometry.links)
    number_of = {name: number for number, name in enumerate(
        dict.fromkeys(item.name for item in items))}
    checked = np.zeros((len(number_of), len(number_of)), dtype=bool)
    for pair in _link_pairs(robot, scene, geometry):
        one, other = (number_of[name] for name in pair)
        checked[one, other] = checked[other, one] = True
    # check a world object against the links, an attached object against links and all objects
    for name in number_of.keys() - links:
        others = [*number_of] if name in scene.attached else geometry.links
        checked[[number_of[other] for other in others], number_of[name]] = [
            not _is_contact_allowed(scene, other, name) for other in others]
    # expand from names to their geometries, without pairs of geometries on the same joint
    numbers = np.array([number_of[item.name] for item in items], dtype=np.intp)
    joints = np.array([item.joint for item in items], dtype=np.intp)
    return np.triu(checked[np.ix_(numbers, numbers)] & (joints[:, None] != joints), 1)


def _link_pairs(robot: Robot, scene: Scene, geometry: RobotGeometry) -> list[tuple[str, str]]:
    """Return the checked pairs of links; the scene's allowed collisions override the SRDF's."""
    found = self_pairs(robot, geometry)
    allowed = {DISABLED} if scene.guess_pairs else {DISABLED, *GUESSED}
    others = {pair for pair, reason in found.allowed.items() if reason in allowed}
    return [pair for pair in found.checked | others if not scene.allowed.allowed(*pair)]


def _is_contact_allowed(scene: Scene, one: str, other: str) -> bool:
    if scene.allowed.allowed(one, other):
        return True
    # touch_links do not apply to a world object, which may have the id of an attached object
    if {one, other} & scene.objects.keys():
        return False
    # `a` and `b` are None for links
    a, b = scene.attached.get(one), scene.attached.get(other)
    return bool(a and other in a.touch_links or b and one in b.touch_links
                or a and b and a.link == b.link)
