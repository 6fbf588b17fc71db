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
from ros2_ik.core import Robot, Scene
from ros2_ik.core.collision import self_pairs
from ros2_ik.core.scene import robot_geometry


class DrakeWorld(DrakeRobot):
    """A robot of which only `joint_names` move, in a scene."""

    def __init__(self, robot: Robot, joint_names: tuple[str, ...], scene: Scene) -> None:
        self._robot, self._scene, self._builder = robot, scene, DiagramBuilder()
        self._ids: dict[str, list] = {}      # geometries of a link or object
        super().__init__(robot, joint_names)
        self._filter_pairs()
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

    def _filter_pairs(self) -> None:
        checked, manager = self_pairs(self._robot).checked, self._graph.collision_filter_manager()
        for one, other in combinations(self._ids, 2):
            if not self._is_checked(one, other, checked):
                manager.Apply(CollisionFilterDeclaration().ExcludeBetween(
                    GeometrySet(self._ids[one]), GeometrySet(self._ids[other])))

    def _is_checked(self, one: str, other: str, checked: Any) -> bool:
        """Return whether ros2_ik checks a pair; `checked` are the pairs of links."""
        robot, objects, attached = self._robot, self._scene.objects, self._scene.attached
        # contacts that the attached object's touch_links allow
        for name, against in ((one, other), (other, one)):
            if name in attached and against in attached[name].touch_links:
                return False
        links = [attached[name].link if name in attached else name
                 for name in (one, other) if name not in objects]
        # an object and a link: checked if joints move the link
        if len(links) < 2:
            return bool(links) and bool(robot.moving_joints(links[0]))
        # an attached object and a link: checked if joints move them relative to each other
        if one in attached or other in attached:
            return bool(robot.moving_joints(*links))
        return (min(one, other), max(one, other)) in checked

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


def drake_robot(case: Case) -> DrakeRobot:
    """Return the robot of a case; a case with a scene gets a robot of its own."""
    robot, names = case.problem.robot, case.problem.joint_names
    return DrakeWorld(robot, names, case.world.scene) if case.world else _alone(robot, names)


@cache
def _alone(robot: Robot, joint_names: tuple[str, ...]) -> DrakeRobot:
    return DrakeRobot(robot, joint_names)
