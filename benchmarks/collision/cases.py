"""Instances with an answer, and what ros2_ik and TRAC-IK make of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
import time
import zlib

import numpy as np
import pinocchio as pin

from collision.scenes import KINDS, scattered, Targets
from ros2_ik.core import Configuration, IKProblem, PoseTarget, Robot, solve
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Scene

TRIES = 30           # random restarts that ignore the scene, to find the hidden answer
EACH = 5             # targets in one scene
Ask = Callable[[float], np.ndarray | None]    # timeout -> q, if it claims success


@dataclass
class Case:
    """One problem; `start` is where the search begins and joints at rest stay."""

    checker: CollisionChecker
    targets: Targets
    start: np.ndarray
    seed: int

    @property
    def robot(self) -> Robot:
        return self.checker.robot

    def problem(self, checker: CollisionChecker | None) -> IKProblem:
        return IKProblem(self.robot, [PoseTarget(tip, T) for tip, T in self.targets.items()],
                         start=self.start, checker=checker, collisions=checker is not None)


def cases(kind: str, robot: Robot, count: int, first: int = 0) -> list[Case]:
    """Make instances; a kind and the `first` seed give the same ones, each scene has its own."""
    found: list[Case] = []
    _, make_scene, make_targets = KINDS[kind]
    seed = first
    while len(found) < count:
        generator, seed = np.random.default_rng([zlib.crc32(kind.encode()), seed]), seed + 1
        checker = CollisionChecker(robot, make_scene(robot, generator))
        before = len(found)
        for _ in range(10 * EACH):
            if len(found) >= min(count, before + EACH):
                break
            case = Case(checker, make_targets(checker.scene, generator),
                        robot.random_q(generator), len(found))
            hidden = free_answer(case, generator)
            if hidden is not None:
                case.start = _start(robot, case.targets, hidden, generator)
                found.append(case)
    return found


def free_answer(case: Case, generator: np.random.Generator) -> np.ndarray | None:
    """Look for an answer that touches nothing, by restarts that know nothing of the scene."""
    robot = case.robot
    for _ in range(TRIES):
        start = robot.random_q(generator)
        problem = IKProblem(robot, [PoseTarget(tip, T) for tip, T in case.targets.items()],
                            start=start, collisions=False)
        answer = solve(problem, [start], timeout=0.05, allow_restarts=False).q
        if answer is not None and not case.checker.collides(answer):
            return answer
    return None


def _start(robot: Robot, tips: Iterable[str], hidden: np.ndarray,
           generator: np.random.Generator) -> np.ndarray:
    """Start anywhere, with the joints that do not move the tips where the answer has them."""
    start = robot.random_q(generator)
    moving = frozenset().union(*(robot.moving_joints(tip) for tip in tips))
    for joint in robot.joints:
        if joint.name not in moving:
            place = slice(joint.index, joint.index + joint.size)
            start[place] = hidden[place]
    return start


def many_cases(kind: str, robot: Robot, count: int, seed: int) -> Iterator[Case]:
    """Make many cases of free configurations among scattered boxes, 100 in a scene."""
    generator, made = np.random.default_rng(seed), 0
    (tip,) = KINDS[kind][2](Scene(robot), generator)
    while made < count:
        checker = CollisionChecker(robot, scattered(robot, generator))
        drawn = (robot.random_q(generator) for _ in range(20_000))
        free = (q for q in drawn if not checker.collides(q))
        for q in islice(free, min(100, count - made)):
            T = Configuration(robot, q).transform(tip)
            yield Case(checker, {tip: T}, _start(robot, [tip], q, generator), made)
            made += 1


def ours(case: Case) -> Ask:
    problem = case.problem(case.checker)

    def ask(timeout: float) -> np.ndarray | None:
        return solve(problem, timeout=timeout, random_state=case.seed).q
    return ask


class TracIK:
    """TRAC-IK on each tip, from random starts until coal finds the whole robot free."""

    def __init__(self, robot: Robot, tips: list[str]) -> None:
        import pytracik
        self._ik, self._robot, self._solvers = pytracik.ik, robot, {}
        for tip in tips:
            solver = pytracik.TRAC_IK(robot.root_frame, tip, robot.urdf, 0.005, 5e-6,
                                      pytracik.SolveType.Speed)
            joints = [j for j in robot.joints if j.name in robot.moving_joints(tip)]
            bounds = [(j.lower, j.upper) for j in joints]
            if np.isfinite(bounds).all():
                pytracik.set_joint_limits(solver, *zip(*bounds, strict=True))
            self._solvers[tip] = solver, [j.index for j in joints]

    def question(self, case: Case) -> Ask:
        def ask(timeout: float) -> np.ndarray | None:
            end, q = time.perf_counter() + timeout, case.start.copy()
            generator = np.random.default_rng(case.seed)
            while True:
                answer = self._reach(case, q)
                if answer is not None and not case.checker.collides(answer):
                    return answer
                if time.perf_counter() >= end:
                    return None
                q = self._robot.random_q(generator)
        return ask

    def _reach(self, case: Case, start: np.ndarray) -> np.ndarray | None:
        q = case.start.copy()
        for tip, T in case.targets.items():
            solver, index = self._solvers[tip]
            quaternion = pin.Quaternion(T[:3, :3]).coeffs()
            answer = self._ik(solver, start[index], *T[:3, 3], *quaternion)
            if answer[0] < 0:
                return None
            q[index] = answer[1:]
        return q
