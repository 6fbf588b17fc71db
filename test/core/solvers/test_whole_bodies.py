"""Humanoids of forty joints and more, several tips at once; they may touch themselves."""


from example_data import data_folder
from judge import check, FileJudge, pose, TreeJudge
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot, solve_pose

TALOS = ['gripper_left_base_link', 'gripper_right_base_link', 'left_sole_link', 'right_sole_link']


def targets_of(judge, joints, tips, frame=None):
    """Give poses that the tips have together."""
    return [judge.transform(joints, tip, frame) for tip in tips]


def near(robot, q, generator, size):
    """Give a configuration some way off, within the limits; a base stays."""
    other = q.copy()
    for j in robot.joints:
        if j.is_scalar:
            other[j.index] += size * generator.uniform(-1, 1)
    return np.clip(other, robot.lower, robot.upper)


def test_talos_four_tips(load, judge_of):
    """Hands and feet on a fixed trunk."""
    robot, judge = load('talos', 'fixed'), judge_of('talos')
    generator = np.random.default_rng(0)
    for i in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        targets = targets_of(judge, joints, TALOS)
        solution = solve_pose(robot, TALOS, targets, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, list(zip(TALOS, targets, strict=True)))


@pytest.mark.parametrize('solver', ['lm', 'clik'])
def test_talos_out_of_reach(load, ticking, solver):
    """Large problems keep the time as well, and their best try is within the limits."""
    robot = load('talos', 'fixed')
    far = [pose((9, 0, i)) for i in range(4)]
    for timeout in (0.01, 0.1):
        solution = solve_pose(robot, TALOS, far, timeout=timeout, solver=solver, collisions=False)
        assert not solution.success and timeout <= solution.seconds < max(timeout, 0.1) + 0.01
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()


def test_talos_with_a_free_base(load, home_of):
    """Feet where they are, hands elsewhere: the trunk moves."""
    robot = load('talos', 'freeflyer')
    judge = TreeJudge(robot.urdf, 'freeflyer', (robot.joint_names[0], robot.root_frame))
    generator = np.random.default_rng(1)
    home = robot.to_q(home_of('talos'))
    for i in range(8):
        q = Configuration(robot, near(robot, home, generator, 0.3)).integrate(
            [*generator.uniform(-0.2, 0.2, 6), *np.zeros(robot.nv - 6)])
        targets = targets_of(judge, robot.to_joints(q), TALOS)
        solution = solve_pose(robot, TALOS, targets, home, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, list(zip(TALOS, targets, strict=True)))
        assert np.linalg.norm(solution.q[3:7]) == pytest.approx(1.0, abs=1e-12)


def test_talos_hand_relative_to_the_other(load, judge_of):
    robot, judge = load('talos', 'fixed'), judge_of('talos')
    generator, (left, right) = np.random.default_rng(2), TALOS[:2]
    for i in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        T = judge.transform(joints, left, right)
        solution = solve_pose(robot, left, T, relative_to=right, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, [(left, T, right)])
        assert all(solution.joints[name] == 0.0 for name in robot.joint_names
                   if name.startswith('leg') or name.startswith('head'))


BODIES = {
    'g1_description/urdf/g1_29dof_rev_1_0.urdf': ['left_ankle_roll_link', 'right_ankle_roll_link',
                                          'left_wrist_yaw_link', 'right_wrist_yaw_link'],
    'romeo_description/urdf/romeo.urdf': ['l_wrist', 'r_wrist', 'l_sole', 'r_sole'],
    'icub_description/robots/icub_reduced.urdf': ['l_hand', 'r_hand', 'l_sole', 'r_sole'],
}


@pytest.mark.parametrize('path', BODIES)
def test_other_humanoids(path):
    file, tips = data_folder() / path, BODIES[path]
    robot = Robot.from_urdf(file, [data_folder().parents[1]])
    assert robot.nq >= 29
    judge, generator = FileJudge(robot.urdf), np.random.default_rng(3)
    for i in range(5):
        joints = robot.to_joints(robot.random_q(generator))
        targets = targets_of(judge, joints, tips)
        solution = solve_pose(robot, tips, targets, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, list(zip(tips, targets, strict=True)))
