"""Which parts of a robot touch what, and how far they are from it."""

from bisect import insort
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from typing import Any
import warnings

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.errors import InvalidSceneError, UnknownNameError
from ros2_ik.core.robot import check_robot, Configuration, Robot
from ros2_ik.core.robot.carried import columns_carrying, follower_reduction
from ros2_ik.core.scene.checked_pairs import Item, own_items, pairs_to_check, surroundings
from ros2_ik.core.scene.contacts import Contact, Distances
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.pair_bounds import PairBounds
from ros2_ik.core.scene.robot_geometry import robot_geometry, RobotGeometry
from ros2_ik.core.scene.scaled_links import scaled_items, with_scaled
from ros2_ik.core.scene.scene import check_scene, Scene


class UnknownGeometryError(UnknownNameError):
    kind = 'link or object with geometry'


class CollisionChecker:
    """
    Checks a robot in a scene, by default an empty one.

    `meshes` and `missing` are those of `robot_geometry`. Checked are links against each other
    (see `self_pairs`), against objects, and attached objects against both, but for what the
    scene allows. What no joint moves relative to each other is not checked: no joint values
    could part it. Padding keeps objects that far from a link; a link's scale counts against all
    but links.

    Making one for another scene of the same robot reuses all that belongs to the robot. Raises
    InvalidSceneError for a mesh that is missing and for a link scaled beyond sense.
    """

    def __init__(self, robot: Robot, scene: Scene | None = None, meshes: str = 'hull',
                 missing: str = 'refuse', pair: tuple[str, str] | None = None) -> None:
        self.robot, self.scene = robot, Scene(robot) if scene is None else scene
        if self.scene.robot.key != robot.key:
            raise InvalidSceneError(f"the scene is one of robot '{self.scene.robot.name}', not of "
                                    f"this '{robot.name}'")
        self._made = (meshes, missing, pair)
        self.geometry = robot_geometry(robot, meshes, missing)
        own, around = own_items(robot, self.geometry), tuple(surroundings(robot, self.scene))
        self._scaled = scaled_items(robot, self.geometry, frozenset(self.scene.scale.items())) \
            if self.scene.scale else ()
        self._items = [*own, *(item for _, item in self._scaled), *around]
        self._model = _own_model(robot, self.geometry).copy()
        for index, item in enumerate(self._items[len(own):], len(own)):
            self._model.addGeometryObject(_geometry_object(index, item))
        self._pairs = self._between(*pair) if pair else self._taken(with_scaled(
            robot, self.geometry, pairs_to_check(robot, self.scene, self.geometry,
                                                 (*own, *around)), self._scaled))
        self._data = self._model.createData()
        requests = _requests(len(self._pairs))
        self._data.collisionRequests, self._data.distanceRequests = requests
        self._margins = self._paddings()

    def __reduce__(self) -> tuple[Any, ...]:
        return collision_checker, (self.robot, self.scene, *self._made)

    def only(self, first: str, second: str) -> 'CollisionChecker':
        """Give a checker of one pair of links or objects, whatever the scene allows."""
        return CollisionChecker(self.robot, self.scene, *self._made[:2], (first, second))

    @property
    def pair_count(self) -> int:
        """Number of pairs of pieces that are checked."""
        return len(self._pairs)

    def _taken(self, chosen: Mask) -> Indices:
        """Enter pairs into the model; gives them, (k, 2)."""
        # coal mixes up the two sides where an octree is the second
        trees = [i for i, item in enumerate(self._items) if isinstance(item.geometry, coal.OcTree)]
        swapped = [(tree, first) for tree in trees for first in np.flatnonzero(chosen[:, tree])]
        chosen[:, trees] = False
        self._model.setCollisionPairs(chosen)
        for tree, first in swapped:
            self._model.addCollisionPair(pin.CollisionPair(tree, int(first)))
        return np.concatenate([np.argwhere(chosen),
                               np.array(swapped, dtype=np.intp).reshape(-1, 2)])

    def _between(self, first: str, second: str) -> Indices:
        names = [item.name for item in self._items]
        for name in (first, second):
            if name not in names:
                raise UnknownGeometryError(name, tuple(dict.fromkeys(names)))
        both = {first, second} <= set(self.geometry.links)
        own = len(own_items(self.robot, self.geometry))
        out = {*range(own, own + len(self._scaled))} if both else {i for i, _ in self._scaled}
        pairs = [(i, j) for i, one in enumerate(self._items) for j, two in enumerate(self._items)
                 if one.name == first and two.name == second and one.joint != two.joint
                 and not out & {i, j}]
        for i, j in pairs:
            self._model.addCollisionPair(pin.CollisionPair(i, j))
        return np.array(pairs, dtype=np.intp).reshape(-1, 2)

    @cached_property
    def moving_joints(self) -> frozenset[str]:
        """Names of the joints that move something that is checked."""
        moved = np.abs(self._moves).sum(axis=0)
        reduction = follower_reduction(self.robot)
        columns = np.flatnonzero(moved if reduction is None else moved @ reduction)
        return frozenset(joint.name for joint in self.robot.joints if any(
            joint.velocity_index <= column < joint.velocity_index + joint.velocity_size
            for column in columns))

    def _paddings(self) -> Array:
        """How much nearer than it is each pair counts, (k,)."""
        margins = np.zeros(len(self._pairs))
        padding, links = self.scene.padding, set(self.geometry.links)
        if padding:
            for k, (first, second) in enumerate(self._pairs.tolist()):
                name, other = self._items[first].name, self._items[second].name
                if not (name in links and other in links):    # as in MoveIt
                    margins[k] = padding.get(name, 0.0) + padding.get(other, 0.0)
                    self._data.collisionRequests[k].security_margin = margins[k]
        return margins

    # -- checks ---------------------------------------------------------------------------

    def collides(self, at: Configuration | Array) -> bool:
        """Whether anything touches at a configuration, or q (nq,)."""
        hit: bool = pin.computeCollisions(self.robot.model, self.robot.scratch_data(),
                                          self._broadphase, _q(at), True)
        return hit

    @cached_property
    def _broadphase(self) -> Any:
        return pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(
            self.robot.model, self._model, self._data)

    def in_collision(self, at: Configuration | Array) -> tuple[Contact, ...]:
        """Give all pairs of names that touch at a configuration, deepest first."""
        if not self.collides(at):
            return ()
        data = self.robot.scratch_data()
        pin.computeCollisions(self.robot.model, data, self._model, self._data, _q(at), False)
        return _deepest(self._contact(k) for k in range(len(self._pairs))
                        if self._data.collisionResults[k].isCollision())

    def _contact(self, k: int) -> Contact:
        first, second = self._names[k]
        pin.computeDistance(self._model, self._data, k)
        result = self._data.distanceResults[k]
        point = (result.getNearestPoint1() + result.getNearestPoint2()) / 2
        depth = self._margins[k] - result.min_distance
        return Contact(first, second, float(depth), tuple(point.tolist()))

    def rigid_contacts(self, frame: str, placement: Any, q: Array, moving: Collection[str],
                       deeper_than: float = 0.0) -> tuple[Contact, ...]:
        """
        Give what touches in the world when a frame stands at `placement` (pinocchio.SE3).

        Only what is rigid with the frame counts, whose place is then known: nothing but joints
        that are not in `moving`, and stay as in q (nq,), between the two. Only contacts
        `deeper_than` that [m] are told.
        """
        model, data = self.robot.model, self.robot.scratch_data()
        pin.computeJointJacobians(model, data, q)
        index = self.robot.frame_id(frame)
        to_tip = pin.updateFramePlacement(model, data, index).inverse()
        joints = self._rigid_with(int(model.frames[index].parentJoint), moving)
        pairs = self._joints[self._pairs]
        rigid = np.isin(pairs, joints)
        known = (rigid[:, 0] & (pairs[:, 1] == 0)) | (rigid[:, 1] & (pairs[:, 0] == 0))
        if 0 in joints or not known.any():
            return ()
        moved = placement * to_tip
        placements = [moved * there for there in data.oMi]
        placements[0] = data.oMi[0]
        known &= self._bounds.at(placements) - self._margins < -deeper_than
        found = []
        for k in np.flatnonzero(known).tolist():
            items = [self._items[i] for i in self._pairs[k]]
            at = [placements[item.joint] * item.placement for item in items]
            result = coal.DistanceResult()
            coal.distance(items[0].geometry, _transform(at[0]), items[1].geometry,
                          _transform(at[1]), coal.DistanceRequest(), result)
            depth = float(self._margins[k] - result.min_distance)
            if depth > deeper_than:
                point = (result.getNearestPoint1() + result.getNearestPoint2()) / 2
                found.append(Contact(items[0].name, items[1].name, depth, tuple(point.tolist())))
        return _deepest(found)

    def _rigid_with(self, joint: int, moving: Collection[str]) -> list[int]:
        """Give Pinocchio's joints that no joint of `moving` moves relative to one of them."""
        model = self.robot.model
        columns = {column for name in moving for column in range(
            self.robot.joint(name).velocity_index,
            self.robot.joint(name).velocity_index + self.robot.joint(name).velocity_size)}
        way = set(model.supports[joint])
        return [other for other in set(self._joints.tolist()) if not columns & {
            model.joints[int(i)].idx_v for i in way ^ set(model.supports[other])}]

    def distances(self, at: Configuration | Array, influence: float = 0.1,
                  most: int | None = None) -> Distances:
        """
        Give the pairs of pieces that are less than `influence` [m] from each other.

        Of more than `most` the nearest are given.
        """
        model, data = self.robot.model, self.robot.scratch_data()
        pin.computeJointJacobians(model, data, _q(at))
        pin.updateGeometryPlacements(model, data, self._model, self._data)
        results, margins = self._results
        found: list[tuple[float, int]] = []
        farthest = influence
        for k, least in self._near(data.oMi, influence):
            if least > farthest:
                break
            pin.computeDistance(self._model, self._data, k)
            distance = results[k].min_distance - margins[k]
            if distance < influence:
                insort(found, (distance, k))
                if most is not None and len(found) >= most:
                    del found[most:]
                    farthest = found[-1][0]
        return self._gathered(found, np.reshape(data.J, (6, -1)))

    def _near(self, placements: Any, influence: float) -> list[tuple[int, float]]:
        """Pairs that may be that near and their least distances, those first that may be least."""
        if len(self._pairs) == 1:
            return [(0, -np.inf)]
        least = self._bounds.at(placements.tolist()) - self._margins
        near = np.flatnonzero(least < influence)
        least = least[near]
        order = least.argsort(kind='stable')
        return list(zip(near[order].tolist(), least[order].tolist(), strict=True))

    @cached_property
    def _bounds(self) -> PairBounds:
        return PairBounds(self._items, self._pairs)

    @cached_property
    def _results(self) -> tuple[list[Any], list[float]]:
        """Where the distance of each pair is found after it was computed; and its padding."""
        results = self._data.distanceResults
        return [results[k] for k in range(len(results))], self._margins.tolist()

    def _gathered(self, found: list[tuple[float, int]], twists: Array) -> Distances:
        if not found:      # nothing near
            none = np.zeros((0, 3))
            return Distances((), np.zeros(0), none, none, none, np.zeros((0, 6)),
                             np.zeros((0, self.robot.nv)))
        numbers, results = [k for _, k in found], self._results[0]
        wrench = np.empty((len(found), 6))
        normal, moment = wrench[:, :3], wrench[:, 3:]
        one, other = np.empty((2, len(found), 3))
        for i, k in enumerate(numbers):
            result = results[k]
            normal[i], one[i], other[i] = (result.normal, result.getNearestPoint1(),
                                           result.getNearestPoint2())
        # the witnesses lie along the normal, so that its moment is the same at both
        np.subtract(other[:, _TURN] * normal[:, _TURN2], other[:, _TURN2] * normal[:, _TURN],
                    out=moment)
        J = (wrench @ twists) * self._moves[numbers]
        reduction = follower_reduction(self.robot)
        return Distances(tuple(self._names[k] for k in numbers),
                         np.array([distance for distance, _ in found]), normal, one, other, wrench,
                         J if reduction is None else J @ reduction)

    @cached_property
    def _names(self) -> list[tuple[str, str]]:
        return [(self._items[i].name, self._items[j].name) for i, j in self._pairs.tolist()]

    @cached_property
    def _moves(self) -> Array:
        """How the Jacobian of all joints moves the sides of each pair apart, (k, columns)."""
        moves: Array = self._carrying[self._pairs[:, 1]] - self._carrying[self._pairs[:, 0]]
        return moves

    @cached_property
    def _joints(self) -> Indices:
        return np.array([item.joint for item in self._items], dtype=np.intp)

    @cached_property
    def _carrying(self) -> Array:
        """Which columns of the Jacobian of all joints move each item, (i, columns)."""
        return np.array([columns_carrying(self.robot, item.joint) for item in self._items])


def collision_checker(robot: Robot, scene: Scene, meshes: str = 'hull', missing: str = 'refuse',
                      pair: tuple[str, str] | None = None) -> CollisionChecker:
    """Give a checker, the one made before for the same robot and version of the scene."""
    check_robot(robot)
    check_scene(scene)
    key = (robot.key, scene.version, meshes, missing, pair)
    if key not in _known:
        _known[key] = CollisionChecker(robot, scene, meshes, missing, pair)
        while len(_known) > _KEPT:
            del _known[next(iter(_known))]
    return _known[key]


@lru_cache(maxsize=64)
def _requests(count: int) -> tuple[Any, Any]:
    """
    Make the requests of so many pairs: right answers, and always the same ones.

    Without contacts coal 3.0 misses some deep overlaps, with its own tolerances round shapes are
    off by up to 5e-4 m, and its search would begin where the last one ended.
    """
    model = pin.GeometryModel()
    for name in 'ab':
        ball = coal.Capsule(1, 1)
        model.addGeometryObject(pin.GeometryObject(name, 0, pin.SE3.Identity(), ball))
    model.addCollisionPair(pin.CollisionPair(0, 1))
    data = model.createData()
    collision, distance = data.collisionRequests[0], data.distanceRequests[0]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')      # a deprecated name, but there is no other
        collision.enable_contact, collision.enable_cached_gjk_guess = True, False
        distance.enable_cached_gjk_guess = False
    distance.gjk_tolerance, distance.epa_max_iterations = 1e-8, 255
    requests = type(data.collisionRequests)(), type(data.distanceRequests)()
    for _ in range(count):
        requests[0].append(collision)
        requests[1].append(distance)
    return requests


_KEPT = 8
_known: dict[tuple[Any, ...], CollisionChecker] = {}
_TURN, _TURN2 = [1, 2, 0], [2, 0, 1]    # of the indices in a cross product


def _deepest(contacts: Iterable[Contact]) -> tuple[Contact, ...]:
    """Keep the deepest contact of each two names, deepest first."""
    kept: dict[tuple[str, str], Contact] = {}
    for contact in sorted(contacts, key=lambda contact: -contact.depth):
        kept.setdefault((contact.first, contact.second), contact)
    return tuple(kept.values())


def _transform(placement: Any) -> Any:
    return Placement(placement.rotation, placement.translation)


def _q(at: Configuration | Array) -> Array:
    return at.q if isinstance(at, Configuration) else at


def _geometry_object(index: int, item: Item) -> Any:
    return pin.GeometryObject(f'{index} {item.name}', item.joint, item.placement, item.geometry)


@lru_cache(maxsize=8)
def _own_model(robot: Robot, geometry: RobotGeometry) -> Any:
    model = pin.GeometryModel()
    for index, item in enumerate(own_items(robot, geometry)):
        model.addGeometryObject(_geometry_object(index, item))
    return model
