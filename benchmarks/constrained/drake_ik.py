"""
Drake's InverseKinematics with SNOPT and the best settings found.

The feasibility tolerance is tighter than SNOPT's default, steps are short, and iterations are
limited. Failed descents are followed by random restarts. Costs are minimized from a configuration
that meets all constraints. Joints that the problem does not move are fixed in the plant. Each
setting was chosen by trials on these kinds of problems.
"""

import logging
import time
from typing import Any
import xml.etree.ElementTree as ET

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.inverse_kinematics import ComInPolyhedronConstraint, InverseKinematics
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.solvers import SnoptSolver, SolverOptions

from ros2_ik.core import Robot

LEFT_OUT = ('visual', 'collision', 'transmission', 'gazebo', 'material', 'safety_controller',
            'dynamics')
SNOPT = {'Major feasibility tolerance': 1e-9, 'Minor feasibility tolerance': 1e-9,
           'Elastic weight': 1e6, 'Major step limit': 0.3, 'Major iterations limit': 40}
FOR_COST = {'Major optimality tolerance': 1e-4, 'Major iterations limit': 200}


def options(chosen: dict[str, float]) -> SolverOptions:
    found = SolverOptions()
    for name, value in chosen.items():
        found.SetOption(SnoptSolver.id(), name, value)
    return found


class Program:
    """A program of Drake with the terms of a problem."""

    def __init__(self, robot: 'DrakeRobot') -> None:
        self._robot, self.plant, self.ik = robot, robot.plant, robot.inverse_kinematics()

    def frame(self, name):
        return self.plant.world_frame() if name is None else self.plant.GetFrameByName(name)

    def joints(self, names):
        q = self.ik.q()
        return np.array([q[self.plant.GetJointByName(name).position_start()] for name in names])

    def pair(self, one, other):
        return self._robot.pair(one, other)

    def add_position(self, frame, point, relative_to, T, lower, upper):
        """Keep a point in a box, whose frame has the pose T (4, 4) in `relative_to`."""
        self.ik.AddPositionConstraint(self.frame(frame), point, self.frame(relative_to),
                                      RigidTransform(T), lower, upper)

    def add_center_of_mass(self, relative_to, lower, upper):
        self.ik.get_mutable_prog().AddConstraint(
            ComInPolyhedronConstraint(self.plant, None, self.frame(relative_to), np.eye(3), lower,
                                      upper, self.ik.context()), self.ik.q())

    def add(self, terms):
        for term in terms:
            term.drake(self)
        return self


class DrakeRobot:
    """A robot of which only `joint_names` move."""

    def __init__(self, robot: Robot, joint_names: tuple[str, ...]) -> None:
        logging.getLogger('drake').setLevel(logging.ERROR)
        self.plant = self._empty_plant()
        Parser(self.plant).AddModelsFromString(reduced(robot, joint_names), 'urdf')
        # Drake's world frame must be ros2_ik's root frame
        if robot.root_frame != 'world':
            self.plant.WeldFrames(self.plant.world_frame(),
                                  self.plant.GetFrameByName(robot.root_frame))
        self._finish()
        self.lower = self.plant.GetPositionLowerLimits()
        self.upper = self.plant.GetPositionUpperLimits()
        self._index = {name: self.plant.GetJointByName(name).position_start()
                       for name in joint_names}

    def _empty_plant(self) -> MultibodyPlant:
        return MultibodyPlant(0.0)    # time step 0: continuous

    def _finish(self) -> None:
        self.plant.Finalize()

    def inverse_kinematics(self) -> InverseKinematics:
        return InverseKinematics(self.plant)

    def problem(self, terms: list, start: dict[str, float], seed: int) -> 'DrakeProblem':
        q = np.empty(len(self._index))
        for name, index in self._index.items():
            q[index] = start[name]
        return DrakeProblem(self, terms, q, seed)

    def named(self, q: np.ndarray) -> dict[str, float]:
        return {name: float(q[index]) for name, index in self._index.items()}


class DrakeProblem:
    """One problem with its programs: the constraints alone, and with the costs."""

    def __init__(self, robot: DrakeRobot, terms: list, start: np.ndarray, seed: int) -> None:
        hard = [term for term in terms if not term.is_cost]
        self._robot, self._start, self._seed = robot, start, seed
        self._feasible = Program(robot).add(hard)
        self._whole = Program(robot).add(terms) if len(hard) < len(terms) else None
        self._solver = SnoptSolver()
        self._options, self._for_cost = options(SNOPT), options(SNOPT | FOR_COST)

    def prepare(self) -> None:
        """Evaluate all constraints once."""
        program = self._feasible.ik.prog()
        for constraint in program.GetAllConstraints():
            program.EvalBinding(constraint, self._start)

    def solve(self, timeout: float, best: bool = False) -> dict[str, float] | None:
        """Return the first claimed solution or, if `best`, that of lowest cost in the timeout."""
        generator, end = np.random.default_rng(self._seed), time.perf_counter() + timeout
        start, found, cost = self._start, None, np.inf
        while True:
            answer = self._descend(start)
            if answer is not None and answer[1] < cost:
                found, cost = answer
            if (found is not None and not best) or time.perf_counter() >= end:
                return None if found is None else self._robot.named(found)
            start = generator.uniform(self._robot.lower, self._robot.upper)

    def _descend(self, start: np.ndarray) -> tuple[np.ndarray, float] | None:
        try:
            result = self._run(self._feasible, start, self._options)
        except RuntimeError:        # Drake cannot compute a distance
            return None
        if not result.is_success():
            return None
        if self._whole is None:
            return result.GetSolution(), 0.0
        # second descent: lower the costs from the feasible configuration
        feasible = result.GetSolution()
        result = self._run(self._whole, feasible, self._for_cost)
        # a failed descent still has the feasible configuration
        q = result.GetSolution() if result.is_success() else feasible
        program = self._whole.ik.prog()
        return q, sum(program.EvalBinding(cost, q)[0] for cost in program.GetAllCosts())

    def _run(self, program: Program, start: np.ndarray, chosen: SolverOptions) -> Any:
        return self._solver.Solve(program.ik.prog(), start, chosen)


def reduced(robot: Robot, joint_names: tuple[str, ...]) -> str:
    """Return the URDF without shapes and dynamics; joints other than `joint_names` are fixed."""
    root = ET.fromstring(robot.urdf)
    for parent in root.iter():
        for child in [c for c in parent if c.tag in LEFT_OUT]:
            parent.remove(child)
    # a fixed joint removes its variable from SNOPT's problem
    for joint in root.findall('joint'):
        if joint.get('name') not in joint_names:
            joint.set('type', 'fixed')
            for child in joint.findall('mimic'):
                joint.remove(child)
    return ET.tostring(root, encoding='unicode')
