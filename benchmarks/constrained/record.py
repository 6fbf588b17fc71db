"""Record of one solver, costs included."""

from collections.abc import Callable
from functools import partial

import numpy as np
from results import Record

from constrained.cases import Case, SolveWithin
from constrained.judge import Judge

TIMEOUT, COST_TIMEOUT = 0.2, 0.05    # for the first solution, for the solution of lowest cost [s]


class CostRecord(Record):
    """A record with the costs of the first solution, and of the best one within COST_TIMEOUT."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[tuple[float, float]] = []

    def measure(self, asked: list[tuple[Case, SolveWithin]], judge: Judge,
                now: Callable[[], float]) -> None:
        """Solve a turn's problems, then judge the answers."""
        answers = []
        for _, solve_within in asked:
            begin = now()
            joints = solve_within(TIMEOUT)
            answers.append((now() - begin, joints))
        for (case, solve_within), (seconds, joints) in zip(asked, answers, strict=True):
            self.add(seconds, joints, partial(rejection, judge, case))
            if case.problem.costs:
                found = joints if self.good[-1] else None, solve_within(COST_TIMEOUT, best=True)
                self.costs.append(tuple(judge.cost(case.start_joints, answer, case.terms)
                                        for answer in found))


def rejection(judge: Judge, case: Case, joints: dict[str, float]) -> str:
    """Return why an answer is wrong, or '' if it is right."""
    text = judge.term_rejection(case.start_joints | joints, case.terms)
    return text and f'seed {case.seed}: {text}'


def compared_costs(ours: CostRecord, theirs: CostRecord) -> list[str]:
    """Return median costs, and how often our cost differs from the peer's by more than 0.1 %."""
    lines = []
    for what, a, b in zip(('first answer', f'best in {1e3 * COST_TIMEOUT:.0f} ms'),
                          np.array(ours.costs).T, np.array(theirs.costs).T, strict=True):
        # an infinite cost means no answer
        margin = np.where(np.isfinite(b), 1e-3 * np.abs(b) + 1e-9, 0)
        lines.append(f'{what:14s} median {np.median(a):8.4g} against {np.median(b):8.4g}, '
                     f'lower {np.sum(a < b - margin):3d}, higher {np.sum(a > b + margin):3d} '
                     f'of {len(a)}')
    return lines
