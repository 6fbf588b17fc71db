"""The instances of a kind of problem, and ros2_ik's answer to one."""

from collections.abc import Callable
import zlib

import numpy as np

from constrained.judge import Judge
from constrained.kinds import KINDS
from constrained.term import Term
from ros2_ik.core import Constraint, IKProblem, PoseTarget, Robot, solve

Answer = dict[str, float] | None
Ask = Callable[..., Answer]    # (timeout, best=False) -> joint values, if it claims success


class Case:
    """One problem: its terms, ros2_ik's problem made of them, and where to start."""

    def __init__(self, robot: Robot, terms: list[Term], start: np.ndarray, seed: int) -> None:
        parts = [term.ours(robot) for term in terms]
        self.terms, self.seed = terms, seed
        self.start, self.start_joints = start, robot.to_joints(start)
        self.problem = IKProblem(
            robot, [part for part in parts if isinstance(part, PoseTarget)], start=start,
            constraints=[part for part in parts if isinstance(part, Constraint)],
            costs=[part for part, term in zip(parts, terms, strict=True) if term.is_cost])


def cases(kind: str, robot: Robot, judge: Judge, near: bool, count: int) -> list[Case]:
    """Make instances from hidden random configurations; a kind and a seed give the same one."""
    found = []
    for seed in range(count):
        generator = np.random.default_rng([zlib.crc32(kind.encode()), seed])
        q = robot.random_q(generator)
        terms = KINDS[kind][1](judge.look(robot.to_joints(q)), generator)
        start = robot.random_q(generator)
        if near:
            start = np.clip(q + generator.uniform(-0.1, 0.1, robot.nq), robot.lower, robot.upper)
        found.append(Case(robot, terms, start, seed))
    return found


def ours(case: Case, solver: str) -> Ask:
    def ask(timeout: float, best: bool = False) -> Answer:
        return solve(case.problem, [case.start], timeout=timeout, solver=solver,
                     select='cost' if best else 'first', random_state=case.seed).joints
    return ask
