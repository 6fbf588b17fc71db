"""
Drake's InverseKinematics with its minimum-distance constraint, on the hulls that ours has.

Links that the checker does not check against each other are filtered out. Restarts from random
configurations until SNOPT says success; as in constrained/drake_ik.py its tolerance is tightened.
"""

import logging
import time

from constrained.drake_ik import reduced, SNOPT
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
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.solvers import SnoptSolver, SolverOptions
from pydrake.systems.framework import DiagramBuilder

from collision.cases import Ask, Case
from ros2_ik.core import Robot
from ros2_ik.core.collision import self_pairs
from ros2_ik.core.scene import robot_geometry

APART, INFLUENCE = 1e-4, 0.02       # m


class DrakeIK:
    """A plant for each scene, kept for the cases that share it."""

    def __init__(self, robot: Robot) -> None:
        logging.getLogger('drake').setLevel(logging.ERROR)
        self._robot, self._scene, self._world = robot, None, None

    def question(self, case: Case) -> Ask:
        if self._scene is not case.checker.scene:
            self._scene, self._world = case.checker.scene, World(self._robot, case)
        world = self._world

        def ask(timeout: float) -> np.ndarray | None:
            return world.solve(case, timeout)
        return ask


class World:
    """Plant and scene graph of one scene."""

    def __init__(self, robot: Robot, case: Case) -> None:
        self._robot, builder = robot, DiagramBuilder()
        self.plant, self._graph = AddMultibodyPlantSceneGraph(builder, 0.0)
        names = tuple(j.name for j in robot.joints)
        Parser(self.plant).AddModelsFromString(reduced(robot, names), 'urdf')
        if robot.root_frame != 'world':
            self.plant.WeldFrames(self.plant.world_frame(),
                                  self.plant.GetFrameByName(robot.root_frame))
        self._ids: dict[str, list] = {}
        for body in robot_geometry(robot).bodies:
            self._register(body.link, body.link, body.shape, body.in_link.homogeneous)
        for thing in case.checker.scene.objects.values():
            for part in thing.parts:
                self._register(thing.id, None, part.shape, (thing.pose * part.pose).homogeneous)
        for held in case.checker.scene.attached.values():
            for part in held.object.parts:
                self._register(held.id, held.link, part.shape,
                               (held.object.pose * part.pose).homogeneous)
        self.plant.Finalize()
        self._filter(case)
        self._diagram = builder.Build()
        self._index = {name: self.plant.GetJointByName(name).position_start() for name in names}

    def _register(self, name: str, link: str | None, shape, T: np.ndarray) -> None:
        body = self.plant.world_body() if link is None else self.plant.GetBodyByName(link)
        self._ids.setdefault(name, []).append(self.plant.RegisterCollisionGeometry(
            body, RigidTransform(T), drake_shape(shape), f'{name} {len(self._ids)}_'
            f'{len(self._ids.get(name, ()))}', CoulombFriction(0.5, 0.5)))

    def _filter(self, case: Case) -> None:
        """Leave out what the checker does not check, and what stands still."""
        robot, scene = self._robot, case.checker.scene
        checked = self_pairs(robot).checked
        manager = self._graph.collision_filter_manager()
        names = list(self._ids)
        for i, one in enumerate(names):
            for other in names[:i + 1]:
                if not self._counts(one, other, checked, scene):
                    manager.Apply(CollisionFilterDeclaration().ExcludeBetween(
                        GeometrySet(self._ids[one]), GeometrySet(self._ids[other])))

    def _counts(self, one: str, other: str, checked, scene) -> bool:
        world = [name for name in (one, other) if name in scene.objects]
        for name, against in ((one, other), (other, one)):
            if name in scene.attached and against in scene.attached[name].touch_links:
                return False
        links = [scene.attached[name].link if name in scene.attached else name
                 for name in (one, other) if name not in scene.objects]
        if world:
            return bool(links) and bool(self._robot.moving_joints(links[0]))
        if one in scene.attached or other in scene.attached:
            return bool(self._robot.moving_joints(*links))
        return (min(one, other), max(one, other)) in checked

    def solve(self, case: Case, timeout: float) -> np.ndarray | None:
        end = time.perf_counter() + timeout
        context = self._diagram.CreateDefaultContext()
        ik = InverseKinematics(self.plant, self.plant.GetMyMutableContextFromRoot(context), True)
        for tip, T in case.targets.items():
            frame, world = self.plant.GetFrameByName(tip), self.plant.world_frame()
            ik.AddPositionConstraint(frame, np.zeros(3), world, T[:3, 3], T[:3, 3])
            ik.AddOrientationConstraint(world, RigidTransform(T).rotation(), frame,
                                        RigidTransform().rotation(), 0.0)
        ik.AddMinimumDistanceLowerBoundConstraint(APART, INFLUENCE)
        self._hold(ik, case)
        options = SolverOptions()
        for name, value in SNOPT.items():
            options.SetOption(SnoptSolver.id(), name, value)
        generator, q = np.random.default_rng(case.seed), case.start
        while True:
            try:
                result = SnoptSolver().Solve(ik.prog(), self._theirs(q), options)
                if result.is_success():
                    return self._mine(result.GetSolution(ik.q()), case)
            except RuntimeError:        # a distance that Drake cannot tell
                pass
            if time.perf_counter() >= end:
                return None
            q = self._robot.random_q(generator)

    def _hold(self, ik: InverseKinematics, case: Case) -> None:
        """Keep joints that do not move the tips where they are."""
        moving = frozenset().union(*(self._robot.moving_joints(tip) for tip in case.targets))
        for joint in self._robot.joints:
            if joint.name not in moving:
                value = case.start[joint.index]
                ik.prog().AddBoundingBoxConstraint(value, value, ik.q()[self._index[joint.name]])

    def _theirs(self, q: np.ndarray) -> np.ndarray:
        found = np.empty(len(self._index))
        for joint in self._robot.joints:
            found[self._index[joint.name]] = q[joint.index]
        return found

    def _mine(self, q: np.ndarray, case: Case) -> np.ndarray:
        found = case.start.copy()
        moving = frozenset().union(*(self._robot.moving_joints(tip) for tip in case.targets))
        for joint in self._robot.joints:
            if joint.name in moving:
                found[joint.index] = q[self._index[joint.name]]
        return found


def drake_shape(shape):
    """Make Drake's shape of ours."""
    kind = shape.kind
    if kind == 'box':
        return Box(*shape.size)
    if kind == 'sphere':
        return Sphere(shape.radius)
    if kind in ('cylinder', 'capsule'):
        return {'cylinder': Cylinder, 'capsule': Capsule}[kind](shape.radius, shape.length)
    return Convex(points=np.asarray(shape.vertices).T, label=kind)
