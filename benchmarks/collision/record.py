"""What one solver did on one kind of problem, judged by yourdfpy and python-fcl."""

from collections.abc import Callable
from pathlib import Path
import sys
import time

import numpy as np
from results import summary

from collision.cases import Ask, Case

sys.path.insert(0, str(Path(__file__).parents[2] / 'test/core'))   # judges shared with the tests

from judge import pose_error  # noqa: E402
from solid_judge import SolidJudge  # noqa: E402

from ros2_ik.core import Robot  # noqa: E402

TIMEOUT = 0.2


class Judge:
    """Frames by yourdfpy, collisions by python-fcl, limits from the URDF's text."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._fcl = robot, SolidJudge(robot)
        self._scene: object = None

    def complaint(self, case: Case, q: np.ndarray) -> str:
        """Return what is wrong with an answer, nothing if nothing is."""
        if self._scene is not case.checker.scene:
            self._scene = case.checker.scene
            self._fcl.surround(case.checker.scene)
        joints, frames = self._robot.to_joints(q), self._fcl.frames
        for name, (lower, upper) in frames.bounds.items():
            if not lower - 1e-6 <= frames.value(joints, name) <= upper + 1e-6:
                return f'{name} is outside its limits'      # TRAC-IK keeps them as float32
        for tip, T in case.targets.items():
            position, orientation = pose_error(frames.transform(joints, tip), T)
            if position > 1e-5 or orientation > 1e-4:
                return f'{tip} is off by {position:.2g} m, {orientation:.2g} rad'
        return ', '.join(' - '.join(sorted(pair)) for pair in self._fcl.touching(joints))


class Record:
    """Times [s], successes and wrong claims, one for each case."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.good: list[bool] = []
        self.wrong: list[str] = []

    def measure(self, case: Case, judge: Judge, ask: Ask,
                clock: Callable[[], float] = time.perf_counter) -> None:
        begin = clock()
        q = ask(TIMEOUT)
        self.seconds.append(clock() - begin)
        complaint = '' if q is None else judge.complaint(case, q)
        self.good.append(q is not None and not complaint)
        if complaint:
            self.wrong.append(f'case {case.seed}: {complaint}')

    def within(self, seconds: float) -> float:
        """Percentage solved in that time."""
        return 100 * float(np.mean(np.array(self.good) & (np.array(self.seconds) <= seconds)))

    def summary(self) -> dict:
        return summary(self.seconds, self.good, len(self.wrong), (0.02, 0.05, TIMEOUT + 0.05))

    @property
    def mean(self) -> float:
        return float(np.mean(self.seconds))

    def __str__(self) -> str:
        # all of them finish what they have begun when the time is over
        rates = ' '.join(f'{self.within(limit):5.0f}' for limit in (0.02, 0.05, TIMEOUT + 0.05))
        return (f'{rates} {1e3 * self.mean:8.2f} {1e3 * np.percentile(self.seconds, 99):7.2f} '
                f'{len(self.wrong):5d}')
