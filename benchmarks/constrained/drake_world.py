"""
Drake's robot among obstacles, on the hulls that ros2_ik has.

Exactly the pairs that ros2_ik's checker looks at count, the others are filtered out.
"""

from functools import cache
from itertools import combinations
from typing import Any

from collision.drake_ik import drake_shape
import numpy as np
from pydrake.geometry import CollisionFilterDeclaration, GeometrySet
from pydrake.math import RigidTransform
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, MultibodyPlant
from pydrake.systems.framework import DiagramBuilder

from constrained.cases import Case
from constrained.drake_ik import DrakeRobot
from constrained.obstacles import World
from ros2_ik.core import Robot
from ros2_ik.core.collision import self_pairs
from ros2_ik.core.scene import robot_geometry


class DrakeWorld(DrakeRobot):
    """A robot of which only `joint_names` move, in the scene of a world."""

    def __init__(self, robot: Robot, joint_names: tuple[str, ...], world: World) -> None:
        self._world, self._builder = world, DiagramBuilder()
        self._ids: dict[str, list] = {}
        super().__init__(robot, joint_names)
        self._leave_out()
        self._diagram = self._builder.Build()
        self._context = self._diagram.CreateDefaultContext()

    def _empty_plant(self) -> MultibodyPlant:
        plant, self._graph = AddMultibodyPlantSceneGraph(self._builder, 0.0)
        return plant

    def _finish(self) -> None:
        for body in robot_geometry(self._world.robot).bodies:
            self._register(body.link, self.plant.GetBodyByName(body.link), body.shape,
                           body.in_link.homogeneous)
        for thing in self._world.scene.objects.values():
            for part in thing.parts:
                self._register(thing.id, self.plant.world_body(), part.shape,
                               (thing.pose * part.pose).homogeneous)
        super()._finish()

    def _register(self, name: str, body: Any, shape: Any, T: np.ndarray) -> None:
        known = self._ids.setdefault(name, [])
        known.append(self.plant.RegisterCollisionGeometry(
            body, RigidTransform(T), drake_shape(shape), f'{name} {len(known)}',
            CoulombFriction(0.5, 0.5)))

    def _leave_out(self) -> None:
        robot, objects = self._world.robot, self._world.scene.objects
        checked = self_pairs(robot).checked
        manager = self._graph.collision_filter_manager()
        for one, other in combinations(self._ids, 2):
            links = [name for name in (one, other) if name not in objects]
            counts = ((min(one, other), max(one, other)) in checked if len(links) == 2
                      else bool(links) and bool(robot.moving_joints(links[0])))
            if not counts:
                manager.Apply(CollisionFilterDeclaration().ExcludeBetween(
                    GeometrySet(self._ids[one]), GeometrySet(self._ids[other])))

    def inverse_kinematics(self) -> InverseKinematics:
        return InverseKinematics(self.plant, self.plant.GetMyMutableContextFromRoot(self._context))

    def pair(self, one: str, other: str) -> tuple[Any, Any]:
        """Return the geometries of two names, each of one piece."""
        (first,), (second,) = self._ids[one], self._ids[other]
        return first, second


def drake_robot(case: Case) -> DrakeRobot:
    """Return the robot of a case, made anew where it has a world of its own."""
    robot, names = case.problem.robot, case.problem.joint_names
    return DrakeWorld(robot, names, case.world) if case.world else alone(robot, names)


@cache
def alone(robot: Robot, joint_names: tuple[str, ...]) -> DrakeRobot:
    return DrakeRobot(robot, joint_names)
