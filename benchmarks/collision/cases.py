"""Collision-free IK problems that have a solution; ros2_ik and TRAC-IK as solvers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
import time
import zlib

import numpy as np
from pose_peers import trac_ik

from collision.scenes import KINDS, random_start, Targets
from ros2_ik.core import IKProblem, PoseTarget, Robot, solve
from ros2_ik.core.collision import CollisionChecker

TRIES = 30           # maximum number of random restarts to find a collision-free solution
EACH = 5             # number of cases in one scene
TRAC_IK_TIMEOUT = 0.005    # of one attempt [s]
SolveWithin = Callable[[float], np.ndarray | None]    # timeout [s] -> q (nq,), if claimed


@dataclass
class Case:
    """One problem; joints that do not move the tips stay at their values in `start` (nq,)."""

    checker: CollisionChecker
    targets: Targets
    start: np.ndarray
    seed: int

    @property
    def robot(self) -> Robot:
        return self.checker.robot

    def problem(self, collisions: bool = True) -> IKProblem:
        return IKProblem(self.robot, [PoseTarget(tip, T) for tip, T in self.targets.items()],
                         start=self.start, checker=self.checker if collisions else None,
                         collisions=collisions)


def cases(kind: str, robot: Robot, count: int, first: int = 0) -> list[Case]:
    """Make cases of a kind; scene k has the random seed `first` + k, in every process."""
    found: list[Case] = []
    _, make_scene, make_targets = KINDS[kind]
    seed = first
    while len(found) < count:
        # crc32: the same seed in every process, unlike hash()
        generator, seed = np.random.default_rng([zlib.crc32(kind.encode()), seed]), seed + 1
        checker = CollisionChecker(robot, make_scene(robot, generator))
        before = len(found)
        for _ in range(10 * EACH):
            if len(found) >= min(count, before + EACH):
                break
            case = Case(checker, make_targets(checker.scene, generator),
                        robot.random_q(generator), len(found))
            hidden = free_answer(case, generator)
            # without a solution the target may be impossible: draw another
            if hidden is not None:
                case.start = random_start(robot, case.targets, hidden, generator)
                found.append(case)
    return found


def free_answer(case: Case, generator: np.random.Generator) -> np.ndarray | None:
    """Find a collision-free solution (nq,) by random restarts that ignore the scene."""
    robot = case.robot
    for _ in range(TRIES):
        problem = replace(case, start=robot.random_q(generator)).problem(collisions=False)
        answer = solve(problem, timeout=0.05, allow_restarts=False).q
        if answer is not None and not case.checker.collides(answer):
            return answer
    return None


def ours(case: Case) -> SolveWithin:
    problem = case.problem()

    def solve_within(timeout: float) -> np.ndarray | None:
        return solve(problem, timeout=timeout, random_state=case.seed).q
    return solve_within


class TracIK:
    """TRAC-IK for each tip, from random starts until coal finds no contact of the whole robot."""

    def __init__(self, robot: Robot, tips: list[str]) -> None:
        self._robot = robot
        self._solvers = {tip: trac_ik(robot, tip, TRAC_IK_TIMEOUT) for tip in tips}

    def prepare(self, case: Case) -> SolveWithin:
        def solve_within(timeout: float) -> np.ndarray | None:
            end, start = time.perf_counter() + timeout, case.start
            generator = np.random.default_rng(case.seed)
            while True:
                answer = self._reach(case, start)
                if answer is not None and not case.checker.collides(answer):
                    return answer
                if time.perf_counter() >= end:
                    return None
                start = self._robot.random_q(generator)
        return solve_within

    def _reach(self, case: Case, start: np.ndarray) -> np.ndarray | None:
        q = case.start.copy()
        for tip, T in case.targets.items():
            joints = self._solvers[tip](T, start)
            if joints is None:
                return None
            for name, value in joints.items():    # robot.to_q would take 20 us
                q[self._robot.joint(name).index] = value
        return q
