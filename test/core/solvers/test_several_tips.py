"""One target for each tip."""

from judge import check, claims, pose, TreeJudge
import numpy as np
from small_robots import TWO_ARMS

from ros2_ik.core import solve_pose

ARM_JUDGE = TreeJudge(TWO_ARMS)


TIPS = ['left_hand', 'right_hand']


def test_two_tips(small):
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        targets = [ARM_JUDGE.transform(joints, tip) for tip in TIPS]
        solution = solve_pose(robot, TIPS, targets, robot.random_q(generator), timeout=2.0,
                              random_state=0)
        check(ARM_JUDGE, solution, list(zip(TIPS, targets, strict=True)))
        assert [error.tip for error in solution.errors] == TIPS


def test_two_tips_each_with_its_own_frame_and_weights(small):
    robot, generator = small('two_arms'), np.random.default_rng(1)
    frames, weights = [None, 'left_hand'], [(1, 1, 1, 0, 0, 0), (1, 1, 0, 1, 1, 0)]
    for _ in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        targets = [ARM_JUDGE.transform(joints, tip, frame)
                   for tip, frame in zip(TIPS, frames, strict=True)]
        targets[1] = targets[1] @ pose((0, 0, 20.0), (0, 0, 4.0))
        for tips, Ts in ((TIPS, targets), (tuple(TIPS), tuple(targets))):
            solution = solve_pose(robot, tips, Ts, relative_to=frames, weights=weights,
                                  timeout=2.0, random_state=0)
            check(ARM_JUDGE, solution, list(zip(TIPS, targets, frames, weights, strict=True)))


def test_one_of_two_out_of_reach_is_no_success(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(0)))
    targets = [ARM_JUDGE.transform(joints, 'left_hand'), pose((9, 0, 0))]
    solution = solve_pose(robot, TIPS, targets, max_iterations=300, random_state=0)
    assert not solution.success
    assert any("'right_hand'" in violation.name for violation in solution.violations)
    claims(ARM_JUDGE, solution, [])


def test_contradicting_targets_for_one_tip(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(0)))
    T = ARM_JUDGE.transform(joints, 'left_hand')
    solution = solve_pose(robot, ['left_hand'] * 2, [T, T @ pose((0.1, 0, 0))],
                          max_iterations=300, random_state=0)
    assert not solution.success
    solution = solve_pose(robot, ['left_hand'] * 2, [T, T], timeout=1.0, random_state=0)
    check(ARM_JUDGE, solution, [('left_hand', T)])
