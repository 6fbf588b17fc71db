"""Targets out of reach, and of arms with too few joints: what is said is so."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, IKProblem, PoseTarget, solve_pose, Status
from ros2_ik.core.problem import out_of_reach


def far(distance):
    T = np.eye(4)
    T[:3, 3] = np.array([1, 2, -2]) / 3 * distance
    return T


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


def test_message_says_that_the_target_is_out_of_reach(load):
    robot = load('panda')
    solution = solve_pose(robot, 'panda_hand_tcp', far(3.0), max_iterations=50)
    assert solution.status is Status.NO_IK_SOLUTION
    assert 'out of reach: 3.' in solution.message and "'panda_joint1'" in solution.explain()
    assert 'metres' not in solution.message
    in_millimetres = solve_pose(robot, 'panda_hand_tcp', far(300.0), max_iterations=50)
    assert 'positions are in metres' in in_millimetres.message
    near = solve_pose(robot, 'panda_hand_tcp', far(0.2), max_iterations=1)
    assert not near.success and 'out of reach' not in near.message


def test_nothing_is_said_where_the_reach_is_not_known(load):
    position_free = PoseTarget('panda_hand_tcp', far(9.0), weights=(1, 1, 0, 1, 1, 1))
    assert not out_of_reach(IKProblem(load('panda'), position_free))
    beside = PoseTarget('left_gripper', far(9.0), 'right_gripper')
    assert not out_of_reach(IKProblem(load('baxter'), beside))
    rolling = load('panda', 'freeflyer')
    assert not out_of_reach(IKProblem(rolling, PoseTarget('panda_hand_tcp', far(9.0))))


# -- robots with too few joints for all axes of a target ---------------------------------------

TILT = 0.3      # of a SCARA's tip, which it cannot have [rad]


@pytest.mark.parametrize('axes', ['x', 'y', 'xy'])
def test_a_tilted_scara_is_told_which_axes_to_free(small, axes):
    """The tilt is about axes of the target: with these free, the arm reaches it."""
    robot = small('scara')
    T = Configuration(robot, [0.4, 0.9, -0.1, 1.0]).transform('tip').copy()
    for axis in axes:
        T[:3, :3] = T[:3, :3] @ Rotation.from_euler(axis, TILT).as_matrix()
    answer = solve_pose(robot, 'tip', T, timeout=20.0, random_state=0)
    assert answer.status is Status.NO_IK_SOLUTION and answer.restarts < 2000
    weights = [1, 1, 1, *(int(axis not in axes) for axis in 'xyz')]
    numbers, names = ' '.join(map(str, weights)), ' and '.join(f'r{axis}' for axis in axes)
    assert f'with {names} free (weights {numbers})' in answer.message
    assert solve_pose(robot, 'tip', T, weights=weights, timeout=20.0, random_state=0).success
