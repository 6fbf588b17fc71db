"""
Random reachable poses on the shipped arms, judged by yourdfpy.

Reachable by an arm that may touch itself: without check for collisions.
"""

from judge import check
import numpy as np
import pytest

from ros2_ik.core import shipped_robots, solve_pose

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
def test_homes_and_neutral_are_good_seeds(load, judge_of, home_of, name):
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(1)
    for seed in (home_of(name), None, {}):
        for _ in range(5):
            T = judge.transform(robot.to_joints(robot.random_q(generator)), tip)
            check(judge, solve_pose(robot, tip, T, seed, timeout=1.0, random_state=0,
                                    collisions=False), [(tip, T)])


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
