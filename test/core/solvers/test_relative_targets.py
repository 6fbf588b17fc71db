"""Targets in frames that stand still, move, or hang on the tip."""

from judge import check, pose, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, TWO_ARMS, urdf, X, Z

from ros2_ik.core import Robot, solve_pose

FULL = (1,) * 6
ARM_JUDGE = TreeJudge(TWO_ARMS)


@pytest.mark.parametrize('relative_to', ['base', 'chest', 'right_c', 'right_hand', 'left_a'])
def test_relative_to_frames_that_move_or_not(small, relative_to):
    """What was asked holds in the answer, wherever the frame then is."""
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, 'left_hand', generator, relative_to)
        seed = robot.random_q(generator)
        solution = solve_pose(robot, 'left_hand', T, seed, relative_to=relative_to, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [('left_hand', T, relative_to)])


@pytest.mark.parametrize('weights', [FULL, (1, 1, 0, 1, 1, 0), (1, 1, 1, 0, 0, 0)])
def test_relative_to_the_other_hand_with_freed_axes(small, weights):
    robot, generator = small('two_arms'), np.random.default_rng(1)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, 'left_hand', generator, 'right_hand')
        target = T @ pose((0, 0, 30.0 * (weights[2] == 0)), (0, 0, 5.0 * (weights[5] == 0)))
        solution = solve_pose(robot, 'left_hand', target, robot.random_q(generator),
                              relative_to='right_hand', weights=weights, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [('left_hand', target, 'right_hand', weights)])


def test_relative_to_a_frame_that_is_held_where_the_seed_has_it(small):
    robot = small('two_arms')
    seed = {'right_1': 0.4, 'right_2': -0.3, 'torso': 0.2}
    start = robot.to_joints(robot.to_q(seed))
    right = [f'right_{i}' for i in range(1, 7)] + ['torso']
    goal = {**start, 'left_1': 0.2, 'left_2': 0.4, 'left_3': -0.3}
    T = ARM_JUDGE.transform(goal, 'left_hand', 'right_hand')
    solution = solve_pose(robot, 'left_hand', T, seed, relative_to='right_hand', locked=right,
                          timeout=1.0, random_state=0)
    check(ARM_JUDGE, solution, [('left_hand', T, 'right_hand')], start, right)


def test_relative_to_its_own_child():
    """A base told where its hand should be: the same question upside down."""
    robot = Robot.from_urdf(SMALL['scara'])
    judge = TreeJudge(SMALL['scara'])
    _, T = random_pose(robot, judge, 'base', np.random.default_rng(0), 'tip')
    check(judge, solve_pose(robot, 'base', T, relative_to='tip', random_state=0),
          [('base', T, 'tip')])


def test_follower_of_a_shared_joint():
    text = urdf(joint('trunk', 'revolute', 'base', 'body', axis=Z, limits=(-1.0, 1.0)),
                joint('arm', 'revolute', 'body', 'left', axis=X, limits=(-1.0, 1.0),
                      mimic=('trunk', 1.0, 0.0)),
                joint('side', 'fixed', 'body', 'right', xyz=(0, 1, 0)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    T = judge.transform({'trunk': 0.6}, 'left', 'right')
    solution = solve_pose(robot, 'left', T, relative_to='right')
    check(judge, solution, [('left', T, 'right')])
    assert solution.joints['trunk'] == pytest.approx(0.6, abs=1e-3)
