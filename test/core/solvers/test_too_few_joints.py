"""Robots with too few joints for all axes of a target: told which axes to free, and soon."""

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, solve_pose, Status

TILT = 0.3      # of a SCARA's tip, which it cannot have [rad]


def tilted(robot, axis):
    T = Configuration(robot, [0.4, 0.9, -0.1, 1.0]).transform('tip').copy()
    T[:3, :3] = T[:3, :3] @ Rotation.from_euler(axis, TILT).as_matrix()
    return T


@pytest.mark.parametrize('axis', ['x', 'y'])
def test_a_tilted_scara_is_told_which_axis_to_free(small, axis):
    """The tilt is about one axis of the target: with that one free, the arm reaches it."""
    robot, T = small('scara'), tilted(small('scara'), axis)
    answer = solve_pose(robot, 'tip', T, timeout=20.0, random_state=0)
    assert answer.status is Status.NO_IK_SOLUTION and answer.seconds < 2.0
    weights = [1, 1, 1, *(int(axis != other) for other in 'xyz')]
    numbers = ' '.join(map(str, weights))
    assert f'with r{axis} free (weights {numbers})' in answer.message
    freed = solve_pose(robot, 'tip', T, weights=weights, timeout=20.0, random_state=0)
    assert freed.success


def test_an_arm_that_tilts_in_two_axes_is_told_both(small):
    robot, T = small('scara'), tilted(small('scara'), 'x')
    T[:3, :3] = T[:3, :3] @ Rotation.from_euler('y', TILT).as_matrix()
    answer = solve_pose(robot, 'tip', T, timeout=20.0, random_state=0)
    assert 'with rx and ry free (weights 1 1 1 0 0 1)' in answer.message


def test_out_of_reach_is_not_a_matter_of_axes(small):
    answer = solve_pose(small('scara'), 'tip', pose((5, 0, 0)), timeout=0.1, random_state=0)
    assert 'out of reach' in answer.message and 'free' not in answer.message


def test_an_arm_of_few_joints_reaches_poses_of_its_own(small):
    robot, generator = small('scara'), np.random.default_rng(0)
    for i in range(50):
        T = Configuration(robot, robot.random_q(generator)).transform('tip')
        seed = robot.random_q(generator)
        assert solve_pose(robot, 'tip', T, seed, timeout=20.0, random_state=i).success


def test_nothing_is_said_where_joints_suffice(load):
    T = Configuration(load('ur5'), load('ur5').neutral).transform('tool0').copy()
    T[:3, 3] = 0.0, 0.0, 0.05       # inside the base
    answer = solve_pose(load('ur5'), 'tool0', T, timeout=0.05, collisions=False, random_state=0)
    assert not answer.success and 'joints cannot meet' not in answer.message
