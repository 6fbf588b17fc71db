"""
Measure the time that the self-collision check adds to a solve.

    tools/run python benchmarks/collision_checks.py [--robots ur5] [--solves 300]

Poses of random collision-free states are solved with and without the check, in alternating order,
so that the processor's caches favour neither. A problem counts only if the solution without the
check is collision-free, since otherwise the check makes the search continue. Times are mean CPU
times [us]. Compare ratios within one run only.
"""

import argparse
import time

from collision.scenes import random_start
import numpy as np

from ros2_ik.core import compile_all, Configuration, Robot, shipped_robots, solve_pose
from ros2_ik.core.collision import CollisionChecker

WARM_UP = 20    # solves that are not measured


def solves(robot: Robot, tip: str, count: int) -> np.ndarray:
    """Return the times without and with the check [us], (k, 2), k <= count."""
    generator, checker, found = np.random.default_rng(1), CollisionChecker(robot), []
    for number in range(WARM_UP + count):
        q = robot.random_q(generator)
        while checker.collides(q):
            q = robot.random_q(generator)
        target = Configuration(robot, q).transform(tip)
        seed, times = random_start(robot, [tip], q, generator), {}
        for checked in (True, False)[::1 - 2 * (number % 2)]:
            begin = time.thread_time()
            solution = solve_pose(robot, tip, target, seed=seed, timeout=0.2, random_state=0,
                                  collisions=checked)
            times[checked] = 1e6 * (time.thread_time() - begin)
            if not checked:
                is_free = solution.success and not checker.collides(solution.q)
        if is_free and number >= WARM_UP:
            found.append((times[False], times[True]))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5', 'xarm7', 'baxter'],
                        choices=list(shipped_robots()))
    parser.add_argument('--solves', type=int, default=300)
    options = parser.parse_args()
    compile_all()
    print('mean without and with the check, and median of the difference [us]')
    for name in options.robots:
        times = solves(Robot.load(name), shipped_robots()[name].tip, options.solves)
        (without, checked), more = times.mean(axis=0), np.median(times[:, 1] - times[:, 0])
        print(f'{name:8s} {without:6.1f} {checked:6.1f} {more:6.1f}   '
              f'{len(times)} of {options.solves} solves count')


if __name__ == '__main__':
    main()
