"""Random reachable poses on the shipped arms and on humanoids; they may touch themselves."""

from example_data import data_folder
from judge import check, FileJudge, TreeJudge
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot, shipped_robots, solve_pose

# -- arms --------------------------------------------------------------------------------------

# Baxter's tip moves with its left arm only: no group is needed.
ARMS = ['panda', 'ur5', 'xarm7', 'baxter', 'kinova']


@pytest.mark.parametrize('name', ARMS)
def test_300_reachable_poses(load, judge_of, name):
    """Each in 2000 iterations, some 50 ms; the clock would also measure the machine."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(2024)
    for i in range(300):
        goal = robot.to_joints(robot.random_q(generator))
        start = robot.random_q(generator)
        T = judge.transform(goal, tip)
        solution = solve_pose(robot, tip, T, start, timeout=60.0, max_iterations=2000,
                              random_state=i, collisions=False)
        check(judge, solution, [(tip, T)])
        moving = robot.moving_joints(tip)
        assert all(solution.joints[j.name] == start[j.index] for j in robot.joints
                   if j.name not in moving)


@pytest.mark.parametrize('name', ARMS)
def test_every_joint_on_a_limit(load, judge_of, name):
    """Poses that are reached only with joints exactly on their limits."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(0)
    for i in range(15):
        q = robot.random_q(generator)
        on = (generator.random(robot.nq) < 0.5) & np.isfinite(robot.upper)
        q[on] = np.where(generator.random(robot.nq) < 0.5, robot.lower, robot.upper)[on]
        T = judge.transform(robot.to_joints(q), tip)
        solution = solve_pose(robot, tip, T, np.clip(q + 0.05, robot.lower, robot.upper),
                              timeout=2.0, random_state=i, collisions=False)
        check(judge, solution, [(tip, T)])


@pytest.mark.parametrize('name', ARMS)
def test_from_all_zeros_to_five_centimetres_inward(load, judge_of, name):
    """All zeros is a singularity of most arms, and outside the limits of some."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    zeros = np.zeros(robot.nq)
    joints = robot.to_joints(np.clip(zeros, robot.lower, robot.upper))
    T, base = judge.transform(joints, tip).copy(), robot.group(shipped_robots()[name].group).base
    inward = judge.transform(joints, base)[:3, 3] - T[:3, 3]
    T[:3, 3] += 0.05 * inward / np.linalg.norm(inward)
    weights = (1, 1, 1, 0, 0, 0)
    solution = solve_pose(robot, tip, T, zeros, weights=weights, timeout=1.0, random_state=0,
                          collisions=False)
    check(judge, solution, [(tip, T, None, weights)])


# -- humanoids of forty joints and more, several tips at once ----------------------------------

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
