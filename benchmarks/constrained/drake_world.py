"""
Drake's robot among the objects of a scene.

Drake gets the hulls of ros2_ik's geometry; pairs that ros2_ik's checker does not check are
filtered out.
"""

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from pydrake.geometry import (
    Box,
    Capsule,
    CollisionFilterDeclaration,
    Convex,
    Cylinder,
    GeometrySet,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, MultibodyPlant
from pydrake.systems.framework import DiagramBuilder

from constrained.cases import Case
from constrained.drake_ik import DrakeRobot
from ros2_ik.core import CollisionChecker
from ros2_ik.core.scene import robot_geometry


class DrakeWorld(DrakeRobot):
    """A robot of which only `joint_names` move, in the scene of a checker."""

    def __init__(self, joint_names: tuple[str, ...], checker: CollisionChecker) -> None:
        self._robot, self._scene, self._builder = checker.robot, checker.scene, DiagramBuilder()
        self._ids: dict[str, list] = {}      # geometries of a link or object
        super().__init__(checker.robot, joint_names)
        self._filter_pairs(checker)
        self._diagram = self._builder.Build()
        self._context = self._diagram.CreateDefaultContext()

    def _empty_plant(self) -> MultibodyPlant:
        plant, self._graph = AddMultibodyPlantSceneGraph(self._builder, 0.0)
        return plant

    def _finish(self) -> None:
        for body in robot_geometry(self._robot).bodies:
            self._register(body.link, body.link, body.shape, body.in_link.homogeneous)
        for thing in self._scene.objects.values():
            for part in thing.parts:
                self._register(thing.id, None, part.shape, (thing.pose * part.pose).homogeneous)
        for held in self._scene.attached.values():
            for part in held.object.parts:
                self._register(held.id, held.link, part.shape,
                               (held.object.pose * part.pose).homogeneous)
        super()._finish()

    def _register(self, name: str, link: str | None, shape: Any, T: np.ndarray) -> None:
        body = self.plant.GetBodyByName(link) if link else self.plant.world_body()
        ids = self._ids.setdefault(name, [])
        ids.append(self.plant.RegisterCollisionGeometry(
            body, RigidTransform(T), drake_shape(shape), f'{name} {len(ids)}',
            CoulombFriction(0.5, 0.5)))

    def _filter_pairs(self, checker: CollisionChecker) -> None:
        found = checker.distances(checker.robot.neutral, np.inf)
        checked, manager = {*map(frozenset, found.names)}, self._graph.collision_filter_manager()
        for one, other in combinations(self._ids, 2):
            if frozenset((one, other)) not in checked:
                manager.Apply(CollisionFilterDeclaration().ExcludeBetween(
                    GeometrySet(self._ids[one]), GeometrySet(self._ids[other])))

    def inverse_kinematics(self) -> InverseKinematics:
        return InverseKinematics(self.plant, self.plant.GetMyMutableContextFromRoot(self._context))

    def pair(self, one: str, other: str) -> tuple[Any, Any]:
        """Return the geometries of two links or objects, each of one shape."""
        (first,), (second,) = self._ids[one], self._ids[other]
        return first, second


def drake_shape(shape: Any) -> Any:
    """Return Drake's shape of one of ours."""
    if shape.kind == 'box':
        return Box(*shape.size)
    if shape.kind == 'sphere':
        return Sphere(shape.radius)
    if shape.kind in ('cylinder', 'capsule'):
        return {'cylinder': Cylinder, 'capsule': Capsule}[shape.kind](shape.radius, shape.length)
    return Convex(points=np.asarray(shape.vertices).T, label=shape.kind)


_alone = cache(DrakeRobot)    # robots without a scene


def drake_robot(case: Case) -> DrakeRobot:
    """Return the robot of a case; a case with a scene gets a robot of its own."""
    robot, names = case.problem.robot, case.problem.joint_names
    return DrakeWorld(names, case.world.checker) if case.world else _alone(robot, names)
