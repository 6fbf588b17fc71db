"""Cases of a kind of problem, and ros2_ik as their solver."""

from collections.abc import Callable
import zlib

import numpy as np

from constrained.judge import Judge
from constrained.kinds import KINDS
from constrained.term import Term
from ros2_ik.core import Configuration, Constraint, IKProblem, PoseTarget, Robot, solve

Answer = dict[str, float] | None
SolveWithin = Callable[..., Answer]    # (timeout, best=False) -> joint values, if claimed


class Case:
    """One problem: its terms, ros2_ik's problem of these terms, and the start (nq,)."""

    def __init__(self, robot: Robot, terms: list[Term], start: np.ndarray, seed: int,
                 group: str | None = None) -> None:
        parts = [term.ours(robot) for term in terms]
        self.terms, self.seed = terms, seed
        self.start, self.start_joints = start, robot.to_joints(start)
        self.world = next((term.world for term in terms if hasattr(term, 'world')), None)
        self.problem = IKProblem(
            robot, [part for part in parts if isinstance(part, PoseTarget)], group, start,
            constraints=[part for part in parts if isinstance(part, Constraint)],
            costs=[part for part, term in zip(parts, terms, strict=True) if term.is_cost],
            collisions=False)

    def prepare(self) -> None:
        """Evaluate all constraints once."""
        at = Configuration(self.problem.robot, self.start)
        for constraint in self.problem.constraints:
            constraint.function.value(at)


def cases(kind: str, robot: Robot, judge: Judge, near: bool, count: int) -> list[Case]:
    """Make cases that random configurations solve; equal arguments give equal cases."""
    found, (_, make_terms, group) = [], KINDS[kind]
    # joints outside the group stay at zero, where Drake's plant fixes them
    still = np.ones(robot.nq, dtype=bool) if group else np.zeros(robot.nq, dtype=bool)
    for name in robot.group(group).joint_names if group else ():
        still[robot.joint(name).index] = False
    for seed in range(count):
        # crc32: the same seed in every process, unlike hash()
        generator = np.random.default_rng([zlib.crc32(kind.encode()), seed])
        terms = None
        while not terms:      # None: the kind rejects this configuration
            q = np.where(still, 0.0, robot.random_q(generator))
            terms = make_terms(judge.set_joints(robot.to_joints(q)), generator)
        start = robot.random_q(generator)
        if near:
            start = np.clip(q + generator.uniform(-0.1, 0.1, robot.nq), robot.lower, robot.upper)
        found.append(Case(robot, terms, np.where(still, 0.0, start), seed, group))
    return found


def ours(case: Case) -> SolveWithin:
    def solve_within(timeout: float, best: bool = False) -> Answer:
        return solve(case.problem, [case.start], timeout=timeout,
                     select='cost' if best else 'first', random_state=case.seed).joints
    return solve_within
