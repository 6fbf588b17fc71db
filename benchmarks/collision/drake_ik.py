"""Drake's InverseKinematics with its minimum-distance constraint, for collision-free poses."""

from dataclasses import dataclass

from constrained.drake_ik import Program
from constrained.drake_world import DrakeWorld
import numpy as np
from pydrake.math import RigidTransform, RotationMatrix

from collision.cases import Case, SolveWithin
from ros2_ik.core import Robot

APART, INFLUENCE = 1e-4, 0.02    # lower bound of distances, influence beyond it [m]


@dataclass
class CollisionFree:
    """A problem as a term of Drake's program: poses, distances, and joints that do not move."""

    case: Case
    is_cost = False

    def drake(self, program: Program) -> None:
        case, ik, robot = self.case, program.ik, self.case.robot
        for tip, T in case.targets.items():
            frame, world = program.frame(tip), program.frame(None)
            ik.AddPositionConstraint(frame, np.zeros(3), world, T[:3, 3], T[:3, 3])
            ik.AddOrientationConstraint(world, RigidTransform(T).rotation(), frame,
                                        RotationMatrix(), 0.0)
        ik.AddMinimumDistanceLowerBoundConstraint(APART, INFLUENCE)
        moving = frozenset().union(*(robot.moving_joints(tip) for tip in case.targets))
        for joint in robot.joints:
            if joint.name not in moving:
                value = case.start[joint.index:joint.index + 1]
                ik.prog().AddBoundingBoxConstraint(value, value, program.joints([joint.name]))


class DrakeIK:
    """Drake for the cases of a robot; consecutive cases share the plant of their scene."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._scene, self._world = robot, None, None

    def prepare(self, case: Case) -> SolveWithin:
        robot = self._robot
        if self._scene is not case.checker.scene:
            self._scene = case.checker.scene
            self._world = DrakeWorld(tuple(j.name for j in robot.joints), case.checker)
        problem = self._world.problem([CollisionFree(case)], robot.to_joints(case.start),
                                        case.seed)

        def solve_within(timeout: float) -> np.ndarray | None:
            joints = problem.solve(timeout)
            return None if joints is None else robot.to_q(joints, case.start)
        return solve_within
