"""What one solver did on one kind of problem."""

from collections.abc import Callable

import numpy as np
from results import summary

from constrained.cases import Ask, Case
from constrained.judge import Judge

TIMEOUT, COST_TIMEOUT = 0.2, 0.05    # [s]
HEADER = '  20    50   200     mean     p99 wrong'


class Record:
    """Times [s], successes, wrong claims and costs, one for each case."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.good: list[bool] = []
        self.wrong: list[int] = []    # seeds
        self.costs: list[tuple[float, float]] = []    # of the first answer, of the best in time

    def measure(self, asked: list[tuple[Case, Ask]], judge: Judge,
                clock: Callable[[], float]) -> None:
        """Ask one question after another; answers are judged when all are there."""
        answers = []
        for _, ask in asked:
            begin = clock()
            answers.append(ask(TIMEOUT))
            self.seconds.append(clock() - begin)
        for (case, ask), joints in zip(asked, answers, strict=True):
            good = joints is not None and judge.accepts(case.start_joints | joints, case.terms)
            self.good.append(good)
            if joints is not None and not good:
                self.wrong.append(case.seed)
            if case.problem.costs:
                found = joints if good else None, ask(COST_TIMEOUT, best=True)
                self.costs.append(tuple(judge.cost(case.start_joints, answer, case.terms)
                                        for answer in found))

    def within(self, seconds: float) -> float:
        """Percentage solved in that time."""
        return 100 * float(np.mean(np.array(self.good) & (np.array(self.seconds) <= seconds)))

    def summary(self) -> dict:
        return summary(self.seconds, self.good, len(self.wrong), (0.05, TIMEOUT))

    @property
    def mean(self) -> float:
        return float(np.mean(self.seconds))

    def __str__(self) -> str:
        rates = ' '.join(f'{self.within(ms / 1e3):5.0f}' for ms in (20, 50, 200))
        return (f'{rates} {1e3 * self.mean:8.2f} {1e3 * np.percentile(self.seconds, 99):7.2f} '
                f'{len(self.wrong):5d}')


def compared_costs(mine: Record, theirs: Record) -> list[str]:
    """Return how often the one's cost is lower or higher than the other's by more than 0.1 %."""
    lines = []
    for what, a, b in zip(('first answer', f'best in {1e3 * COST_TIMEOUT:.0f} ms'),
                          np.array(mine.costs).T, np.array(theirs.costs).T, strict=True):
        lines.append(f'{what:14s} median {np.median(a):8.4g} against {np.median(b):8.4g}, '
                     f'lower {np.sum(a < b - margin(b)):3d}, higher '
                     f'{np.sum(a > b + margin(b)):3d} of {len(a)}')
    return lines


def margin(cost: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(cost), 1e-3 * np.abs(cost) + 1e-9, 0)
