"""
What a collision check costs, and what the default check of a robot against itself adds to a solve.

    tools/run python benchmarks/collision_checks.py [--robots ur5] [--states 2000] [--solves 300]

Random states of a robot among ten boxes: hulls, the exact verdict, and its share that is free;
then poses of free states by `solve_pose` with and without the default check, of all and of those
whose answer is the same: where the first one touches, another one is looked for. The ways take
turns, so that caches favour none. Microseconds of processor time; only ratios mean much.
"""

import argparse
import time

from collision.scenes import scattered
import numpy as np

from ros2_ik.core import compile_all, Configuration, Robot, Scene, solve_pose
from ros2_ik.core.collision import CollisionChecker

TIPS = {'panda': 'panda_hand_tcp', 'ur5': 'tool0', 'xarm7': 'link7', 'baxter': 'left_gripper',
        'talos': 'gripper_left_base_link'}


def clocked(what) -> tuple:
    begin = time.thread_time()
    found = what()
    return found, 1e6 * (time.thread_time() - begin)


def checks(robot: Robot, scene: Scene, states: int) -> str:
    """Time the checks of random states."""
    ways = {way: CollisionChecker(robot, scene, way) for way in ('hull', 'exact')}
    generator, spent = np.random.default_rng(0), {way: [] for way in ways}
    said = {way: [] for way in ways}
    for number in range(-20, states):
        q = robot.random_q(generator)
        for way, checker in list(ways.items())[::1 - 2 * (number % 2)]:
            hit, seconds = clocked(lambda: checker.collides(q))    # noqa: B023
            if number >= 0:
                spent[way].append(seconds)
                said[way].append(hit)
    hull, exact = (float(np.mean(spent[way])) for way in ('hull', 'exact'))
    free = ' / '.join(f'{100 - 100 * np.mean(said[way]):.0f} %' for way in ways)
    return f'{hull:6.1f} {exact:6.1f}  {exact / hull:5.2f}   free {free}'


def solves(robot: Robot, tip: str, count: int) -> str:
    """Time solves of poses of random free states with and without the check of the robot alone."""
    generator, spent = np.random.default_rng(1), []
    alone, moving = CollisionChecker(robot), robot.moving_joints(tip)
    for number in range(-20, count):
        q = robot.random_q(generator)
        while alone.collides(q):
            q = robot.random_q(generator)
        target = Configuration(robot, q).transform(tip)
        seed = robot.to_joints(q) | {
            name: value for name, value in robot.to_joints(robot.random_q(generator)).items()
            if name in moving}     # the others may stay where they are
        took = {}
        for way in (True, False)[::1 - 2 * (number % 2)]:
            options = {} if way else {'collisions': False}
            found, took[way] = clocked(lambda: solve_pose(    # noqa: B023
                robot, tip, target, seed=seed, timeout=0.2, random_state=0,    # noqa: B023
                **options))    # noqa: B023
            if not way:
                free = found.success and not alone.collides(found.q)
        if number >= 0:
            spent.append((took[True], took[False], free))
    found = np.array(spent)
    free = found[:, 2] > 0
    return (f'{_more(found)}; where that without it is free ({100 * free.mean():.0f} %) '
            f'{_more(found[free])}')


def _more(found: np.ndarray) -> str:
    """Return what the check adds, in the mean and in the median of the ratios."""
    mean, plain = found[:, 0].mean(), found[:, 1].mean()
    ratio = np.median(found[:, 0] / found[:, 1])
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
    print('check [us]: hull, exact, ratio; of the robot alone and among ten boxes\n'
          'solve [us]: with the default check, without, more')
    for name in options.robots:
        robot = Robot.load(name)
        for what, scene in (('alone', Scene(robot)),
                            ('boxes', scattered(robot, np.random.default_rng(0)))):
            print(f'{name:8s} {what}  {checks(robot, scene, options.states)}', flush=True)
        if options.solves:
            print(f'{name:8s} solve  {solves(robot, TIPS[name], options.solves)}', flush=True)


if __name__ == '__main__':
    main()
