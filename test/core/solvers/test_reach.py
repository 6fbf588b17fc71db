"""What is said to be out of reach is, and what can be reached is never said to be."""

import numpy as np
import pytest
from small_robots import joint, urdf

from ros2_ik.core import (
    Configuration,
    IKProblem,
    PoseTarget,
    Robot,
    solve_pose,
    Status,
)
from ros2_ik.core.problem import out_of_reach

TIPS = {'panda': 'panda_hand_tcp', 'ur5': 'tool0', 'baxter': 'left_gripper',
        'talos': 'gripper_left_base_link'}
SMALL = ('gantry', 'scara', 'mimic_chain', 'one_joint', 'no_limits', 'turntable', 'planar_2r')


def far(distance):
    T = np.eye(4)
    T[:3, 3] = np.array([1, 2, -2]) / 3 * distance
    return T


@pytest.mark.parametrize('name', [*TIPS, *SMALL])
def test_where_a_tip_has_been_is_within_reach(name, load, small):
    robot, tip = (load(name), TIPS[name]) if name in TIPS else (small(name), 'tip')
    generator = np.random.default_rng(1)
    for _ in range(300):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform(tip)
        locked = sorted(generator.choice(robot.joint_names, len(robot.joint_names) // 3))
        if not robot.moving_joints(tip) - robot.passive_joints - set(locked):
            continue
        problem = IKProblem(robot, PoseTarget(tip, T, position_tolerance=1e-9), start=q,
                            locked=locked)
        assert not out_of_reach(problem)


def test_out_of_reach_is_said_just_beyond_the_stretched_arm(small):
    """Two links of 0.5 m and 0.4 m; the bound is met where they are in line."""
    robot = small('planar_2r')
    reach = np.linalg.norm(Configuration(robot, [0.3, 0.0]).transform('tip')[:3, 3])
    height = Configuration(robot, robot.neutral).transform('tip')[2, 3]
    shoulder = Configuration(robot, robot.neutral).transform('base')[:3, 3]

    def at(distance):
        T = np.eye(4)
        T[:3, 3] = shoulder + distance * np.array([0.6, 0.8, 0]) + [0, 0, height]
        return out_of_reach(IKProblem(robot, PoseTarget('tip', T)))
    assert not at(reach) and not at(reach - 0.01)
    text, = at(reach + 1e-3)
    assert f'{reach:.4g} m' in text and "'tip'" in text and f"'{robot.joint_names[0]}'" in text


def test_it_is_said(load):
    robot = load('panda')
    solution = solve_pose(robot, 'panda_hand_tcp', far(3.0), max_iterations=50)
    assert solution.status is Status.NO_IK_SOLUTION
    assert 'out of reach: 3.' in solution.message and "'panda_joint1'" in solution.explain()
    assert 'metres' not in solution.message
    in_millimetres = solve_pose(robot, 'panda_hand_tcp', far(300.0), max_iterations=50)
    assert 'positions are in metres' in in_millimetres.message
    near = solve_pose(robot, 'panda_hand_tcp', far(0.2), max_iterations=1)
    assert not near.success and 'out of reach' not in near.message


def test_what_is_not_known_is_not_said(load):
    robot = load('panda')
    position_free = PoseTarget('panda_hand_tcp', far(9.0), weights=(1, 1, 0, 1, 1, 1))
    assert not out_of_reach(IKProblem(robot, position_free))
    beside = PoseTarget('left_gripper', far(9.0), 'right_gripper')
    assert not out_of_reach(IKProblem(load('baxter'), beside))
    rolling = load('panda', 'freeflyer')
    assert not out_of_reach(IKProblem(rolling, PoseTarget('panda_hand_tcp', far(9.0))))


def test_a_follower_that_stands():
    """It has a leader, which does not move it."""
    robot = Robot.from_urdf(urdf(
        joint('j0', 'revolute', 'base', 'a', limits=(-1, 1)),
        joint('j1', 'revolute', 'base', 'tip', limits=(-1, 1), mimic=('j0', 0.0, 0.2))))
    solution = solve_pose(robot, 'tip', far(9.0))
    assert solution.status is Status.NO_IK_SOLUTION
