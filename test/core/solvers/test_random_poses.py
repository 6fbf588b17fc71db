"""Random reachable poses are solved; the judge confirms the solutions."""

from judge import check, TreeJudge
import numpy as np
import pytest

from ros2_ik.core import Configuration, shipped_robots, solve_pose

# -- arms --------------------------------------------------------------------------------------

# Baxter's tip moves with its left arm only: no group is needed.
ARMS = ['panda', 'ur5', 'xarm7', 'baxter', 'kinova']


@pytest.mark.parametrize('name', ARMS)
def test_100_reachable_poses_of_each_arm_are_solved(load, judge_of, name):
    """The limit is 2000 iterations, about 50 ms: a timeout would depend on the machine."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(2024)
    for i in range(100):
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
def test_poses_with_joints_on_their_limits_are_solved(load, judge_of, name):
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(0)
    for i in range(15):
        q = robot.random_q(generator)
        chosen = (generator.random(robot.nq) < 0.5) & np.isfinite(robot.upper)
        q[chosen] = np.where(generator.random(robot.nq) < 0.5, robot.lower, robot.upper)[chosen]
        T = judge.transform(robot.to_joints(q), tip)
        solution = solve_pose(robot, tip, T, np.clip(q + 0.05, robot.lower, robot.upper),
                              timeout=2.0, random_state=i, collisions=False)
        check(judge, solution, [(tip, T)])


# -- a humanoid with several tips --------------------------------------------------------------

TALOS = ['gripper_left_base_link', 'gripper_right_base_link', 'left_sole_link', 'right_sole_link']


def nearby(robot, q, generator, size):
    """Return a random configuration near q, within the limits and with the same base."""
    other = q.copy()
    for j in robot.joints:
        if j.is_scalar:
            other[j.index] += size * generator.uniform(-1, 1)
    return np.clip(other, robot.lower, robot.upper)


def test_four_tips_of_a_humanoid_with_a_floating_base_are_solved(load, home_of):
    """Hands and feet have poses of one configuration near the home state."""
    robot = load('talos', 'freeflyer')
    judge = TreeJudge(robot.urdf, 'freeflyer', (robot.joint_names[0], robot.root_frame))
    generator = np.random.default_rng(1)
    home = robot.to_q(home_of('talos'))
    for i in range(8):
        q = Configuration(robot, nearby(robot, home, generator, 0.3)).integrate(
            [*generator.uniform(-0.2, 0.2, 6), *np.zeros(robot.nv - 6)])
        targets = [judge.transform(robot.to_joints(q), tip) for tip in TALOS]
        solution = solve_pose(robot, TALOS, targets, home, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, list(zip(TALOS, targets, strict=True)))
        assert np.linalg.norm(solution.q[3:7]) == pytest.approx(1.0, abs=1e-12)
