"""
How far answers swing on paths of 10 mm steps, each step seeded with the last answer.

    tools/run python benchmarks/path_steps.py [--robots ur5 panda] [--paths 30] [--random-state N]

Each path is a straight line of the tip with constant orientation from a random configuration that
touches nothing, in a random direction. A step is "swung" when a joint moves by more than 0.5 rad
from the last answer. Such a step is a defect if a continuation in steps of 1 mm, by an integrator
that shares no code with ros2_ik, arrives from the last answer with less, touching nothing.
Without --random-state every run has paths of its own.
"""

import argparse
from collections import Counter
import time
from typing import NamedTuple

import numpy as np
from small_steps import SmallSteps

from ros2_ik.core import (
    collision_checker,
    CollisionChecker,
    compile_all,
    Configuration,
    IKProblem,
    IKSolution,
    PoseTarget,
    Robot,
    Scene,
    shipped_robots,
    solve,
)

ROBOTS = ('ur5', 'panda', 'xarm7')
STEP = 0.01       # [m]
STEPS = 50        # of a path
FAR = 0.5         # a joint that moves by more swings [rad, m]


class Swing(NamedTuple):
    """A step whose answer is far from its seed."""

    robot: str
    seed: np.ndarray      # (nq,)
    target: np.ndarray    # (4, 4)
    travel: float
    avoidable: bool       # small steps from the seed arrive with less


class Paths:
    """Paths of one robot, answered step by step."""

    def __init__(self, name: str, generator: np.random.Generator, collisions: bool,
                 timeout: float, **options) -> None:
        self.name, self.robot, self.tip = name, Robot.load(name), shipped_robots()[name].tip
        self._judge = SmallSteps(self.robot.urdf, self.tip)
        self._places = [self.robot.joint(joint).index for joint in self._judge.names]
        self._generator, self._timeout, self._options = generator, timeout, options
        self._checker: CollisionChecker | None = None
        if collisions:
            self._checker = collision_checker(self.robot, Scene(self.robot))
        self.statuses, self.swings, self.seconds = Counter[str](), list[Swing](), list[float]()

    def follow(self) -> None:
        """Follow one path to its end, or to the first step without an answer."""
        q = self._beginning()
        T = Configuration(self.robot, q).transform(self.tip)
        direction = self._generator.normal(size=3)
        direction *= STEP / np.linalg.norm(direction)
        for i in range(1, STEPS + 1):
            target = T.copy()
            target[:3, 3] += i * direction
            begin = time.perf_counter()
            solution = self._solve(q, target)
            self.seconds.append(time.perf_counter() - begin)
            self.statuses[solution.status.name] += 1
            if not solution.success:
                return
            travel = float(np.abs(solution.q - q).max())
            if travel > FAR:
                self.swings.append(Swing(self.name, q, target, travel,
                                         self.reachable(q, target)))
            q = solution.q

    def _solve(self, q: np.ndarray, target: np.ndarray) -> IKSolution:
        problem = IKProblem(self.robot, [PoseTarget(self.tip, target)], start=q,
                            checker=self._checker, collisions=self._checker is not None)
        return solve(problem, timeout=self._timeout, **self._options)

    def _beginning(self) -> np.ndarray:
        while True:
            q = self.robot.random_q(self._generator)
            if self._checker is None or not self._checker.collides(q):
                return q

    def reachable(self, q: np.ndarray, target: np.ndarray) -> bool:
        """Whether small steps from q arrive at the target without a swing and in no contact."""
        x = q[self._places]
        there = self._judge.arrives(x, target)
        if there is None or np.abs(there - x).max() > FAR:
            return False
        end = q.copy()
        end[self._places] = there
        return self._checker is None or not self._checker.collides(end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robots', nargs='+', default=ROBOTS)
    parser.add_argument('--paths', type=int, default=30)
    parser.add_argument('--timeout', type=float, default=0.05)
    parser.add_argument('--no-collisions', action='store_true')
    parser.add_argument('--random-state', type=int)
    arguments = parser.parse_args()
    compile_all()
    entropy = np.random.SeedSequence(arguments.random_state).entropy
    print(f'random state {entropy}')
    for name in arguments.robots:
        paths = Paths(name, np.random.default_rng(entropy), not arguments.no_collisions,
                      arguments.timeout)
        for _ in range(arguments.paths):
            paths.follow()
        ms = np.array(paths.seconds) * 1e3
        avoidable = [swing for swing in paths.swings if swing.avoidable]
        print(f'{name}: {len(ms)} steps {dict(paths.statuses)}; swung {len(paths.swings)}, of '
              f'them avoidable {len(avoidable)} (largest '
              f'{max([s.travel for s in avoidable], default=0):.2f} rad); mean {ms.mean():.3f} '
              f'ms, p99 {np.percentile(ms, 99):.3f} ms')


if __name__ == '__main__':
    main()
