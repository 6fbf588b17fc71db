"""Weights: zero frees an axis, however far off it is; the others steer the search."""

from judge import check, inverse, pose, pose_error, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import solve_pose

FULL = (1,) * 6


FREED = {
    'roll about z': ((1, 1, 1, 1, 1, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'roll about x': ((1, 1, 1, 0, 1, 1), lambda g: pose(rotvec=(g.uniform(-1, 1) * 6.28, 0, 0))),
    'pitch about y': ((1, 1, 1, 1, 0, 1), lambda g: pose(rotvec=(0, g.uniform(-1, 1) * 6.28, 0))),
    'along z': ((1, 1, 0, 1, 1, 1), lambda g: pose((0, 0, g.uniform(-100, 100)))),
    'along x and about z': ((0, 1, 1, 1, 1, 0), lambda g: pose((g.uniform(-50, 50), 0, 0)) @ pose(
        rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'in a plane': ((0, 0, 1, 1, 1, 1), lambda g: pose((*g.uniform(-50, 50, 2), 0))),
    'position only': ((1, 1, 1, 0, 0, 0), lambda g: pose(rotvec=g.uniform(-1, 1, 3) * 1.8)),
    'orientation only': ((0, 0, 0, 1, 1, 1), lambda g: pose(g.uniform(-100, 100, 3))),
    'one row of rotation': ((0, 0, 0, 0, 0, 1), lambda g: pose(
        g.uniform(-9, 9, 3), (*g.uniform(-1.5, 1.5, 2), 0))),
    'one row of position': ((0, 1, 0, 0, 0, 0), lambda g: pose(
        (*g.uniform(-9, 9, 1), 0, 7), g.uniform(-1, 1, 3) * 1.8)),
    'unequal weights': ((10, 1, 0.1, 1, 0.3, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-6, 6)))),
}


@pytest.mark.parametrize('robot_name, tip, solver', [
    ('panda', 'panda_hand_tcp', 'lm'), ('ur5', 'tool0', 'lm'),
    ('panda', 'panda_hand_tcp', 'clik')])
@pytest.mark.parametrize('freed', FREED)
def test_freed_axes_may_be_far_off(load, judge_of, robot_name, tip, solver, freed):
    """The target is turned and moved along what is free: by up to a turn, by up to 100 m."""
    robot, judge = load(robot_name), judge_of(robot_name)
    weights, displace = FREED[freed]
    generator = np.random.default_rng(0)
    for _ in range(10):
        _, T = random_pose(robot, judge, tip, generator)
        target = T @ inverse(displace(generator))
        assert pose_error(T, target, weights) == pytest.approx((0, 0), abs=1e-7)
        solution = solve_pose(robot, tip, target, robot.random_q(generator), weights=weights,
                              timeout=5.0, solver=solver, random_state=0, collisions=False)
        check(judge, solution, [(tip, target, None, weights)])
        if weights[3:] == (1, 1, 0):     # the axis itself, judged without any logarithm
            z = judge.transform(solution.joints, tip)[:3, 2]
            assert np.linalg.norm(np.cross(z, target[:3, 2])) <= 1e-4
            assert z @ target[:3, 2] > 0


def test_scara_needs_a_freed_axis(small):
    """Four joints and a tool that is to be tilted: impossible, but not with rx and ry free."""
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    T = judge.transform({'shoulder': 0.3, 'elbow': -0.5, 'lift': -0.1, 'wrist': 0.7}, 'tip')
    tilted = T @ pose(rotvec=(0.4, 0, 0))
    assert not solve_pose(robot, 'tip', tilted, max_iterations=200).success
    weights = (1, 1, 1, 0, 1, 1)
    check(judge, solve_pose(robot, 'tip', tilted, weights=weights, random_state=0),
          [('tip', tilted, None, weights)])


def test_weights_do_not_move_the_tolerances(load, judge_of):
    """A small weight asks for no less, a large one for no more."""
    robot, judge = load('ur5'), judge_of('ur5')
    generator = np.random.default_rng(1)
    for scale in (1e-3, 1.0, 1e3):
        _, T = random_pose(robot, judge, 'tool0', generator)
        weights = np.array([1, 1, 1, 1, 1, 1.0]) * scale
        weights[3:] *= generator.uniform(0.1, 10, 3)
        solution = solve_pose(robot, 'tool0', T, weights=weights, timeout=1.0, random_state=0)
        check(judge, solution, [('tool0', T, None, weights)])


@pytest.mark.parametrize('weights', [(1,) * 6, (1, 2, 0.5, 1, 0.25, 1), (1, 1, 1, 1, 1, 0)])
def test_only_the_ratio_of_weights_counts(load, judge_of, weights):
    """A millionth of each asks for the same, and finds it as fast."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(3)
    for _ in range(10):
        _, T = random_pose(robot, judge, 'tool0', generator)
        start = robot.random_q(generator)
        iterations = []
        for scale in (1.0, 2.0**-20, 2.0**20):
            scaled = tuple(scale * np.array(weights))
            solution = solve_pose(robot, 'tool0', T, start, weights=scaled, timeout=5.0,
                                  random_state=0)
            check(judge, solution, [('tool0', T, None, weights)])
            iterations.append(solution.iterations)
        assert max(iterations) <= 2 * min(iterations) + 20, iterations


@pytest.mark.parametrize('position, orientation', [(1e-2, 1e-4), (1e-5, 0.5), (1e-9, 1e-9),
                                                   (0.3, 3.0)])
def test_tolerances_are_met(load, judge_of, position, orientation):
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(2)
    for _ in range(5):
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, timeout=1.0, random_state=0,
                              position_tolerance=position, orientation_tolerance=orientation)
        check(judge, solution, [('tool0', T, None, FULL, position, orientation)])
