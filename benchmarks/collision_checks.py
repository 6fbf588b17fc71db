"""
The cost of a collision check, and of the default self-collision check in a solve.

    tools/run python benchmarks/collision_checks.py [--robots ur5] [--states 2000] [--solves 300]

1. Checks of random states, of the robot alone and among ten boxes: with hulls and with exact
   meshes, and the fractions of free states.
2. Solves of poses of free states with and without the self-collision check: for all problems, and
   for those whose solution without the check is free. For the others the check has the search
   continue.

Hull and exact, and with and without, alternate in order, so that the processor's caches favour
neither. Times are CPU times [us]. Compare ratios within one run only.
"""

import argparse
import time

from collision.scenes import random_start, scattered
import numpy as np

from ros2_ik.core import compile_all, Configuration, Robot, Scene, solve_pose
from ros2_ik.core.collision import CollisionChecker

TIPS = {'panda': 'panda_hand_tcp', 'ur5': 'tool0', 'xarm7': 'link7', 'baxter': 'left_gripper',
        'talos': 'gripper_left_base_link'}
WARM_UP = 20    # rounds that are not measured


def timed(call, *arguments, **options) -> tuple:
    """Return the result of a call and its CPU time [us]."""
    begin = time.thread_time()
    result = call(*arguments, **options)
    return result, 1e6 * (time.thread_time() - begin)


def checks(robot: Robot, scene: Scene, states: int) -> str:
    """Measure checks of random states."""
    checkers = [CollisionChecker(robot, scene, detail) for detail in ('hull', 'exact')]
    generator, found = np.random.default_rng(0), np.empty((WARM_UP + states, 2, 2))
    for number in range(len(found)):
        q = robot.random_q(generator)
        for k in (0, 1)[::1 - 2 * (number % 2)]:
            found[number, k] = timed(checkers[k].collides, q)
    (_, hull), (_, exact) = found[WARM_UP:].mean(axis=0)
    free = ' / '.join(f'{share:.0f} %' for share in 100 - 100 * found[WARM_UP:, :, 0].mean(axis=0))
    return f'{hull:6.1f} {exact:6.1f}  {exact / hull:5.2f}   free {free}'


def solves(robot: Robot, tip: str, count: int) -> str:
    """Measure solves of poses of random free states with and without the self-collision check."""
    generator, checker, found = np.random.default_rng(1), CollisionChecker(robot), []
    for number in range(WARM_UP + count):
        q = robot.random_q(generator)
        while checker.collides(q):
            q = robot.random_q(generator)
        target = Configuration(robot, q).transform(tip)
        seed, seconds = random_start(robot, [tip], q, generator), {}
        for checked in (True, False)[::1 - 2 * (number % 2)]:
            options = {} if checked else {'collisions': False}
            solution, seconds[checked] = timed(solve_pose, robot, tip, target, seed=seed,
                                               timeout=0.2, random_state=0, **options)
            if not checked:
                free = solution.success and not checker.collides(solution.q)
        found.append((seconds[True], seconds[False], free))
    measured = np.array(found[WARM_UP:])
    free = measured[:, 2] > 0
    return (f'{_overhead(measured)}; where the unchecked solution is free '
            f'({100 * free.mean():.0f} %) {_overhead(measured[free])}')


def _overhead(measured: np.ndarray) -> str:
    """Return mean times with and without the check, and the ratio's mean and median."""
    mean, plain = measured[:, 0].mean(), measured[:, 1].mean()
    ratio = np.median(measured[:, 0] / measured[:, 1])
    return (f'{mean:6.0f} {plain:6.0f}  {100 * mean / plain - 100:+5.0f} %   '
            f'median {100 * ratio - 100:+4.0f} %')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--robots', nargs='+', default=list(TIPS), choices=list(TIPS))
    parser.add_argument('--states', type=int, default=2000)
    parser.add_argument('--solves', type=int, default=300)
    options = parser.parse_args()
    compile_all()
    print('check [us]: hull, exact, ratio; solve [us]: checked, unchecked, overhead')
    for name in options.robots:
        robot = Robot.load(name)
        for what, scene in (('alone', Scene(robot)),
                            ('boxes', scattered(robot, np.random.default_rng(0)))):
            print(f'{name:8s} {what}  {checks(robot, scene, options.states)}', flush=True)
        if options.solves:
            print(f'{name:8s} solve  {solves(robot, TIPS[name], options.solves)}', flush=True)


if __name__ == '__main__':
    main()
