"""Joint values as words."""

import pytest

from ros2_ik.cli.joint_values import read_joint_values
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import Robot


def test_what_looks_like_degrees_is_refused(planar_arm):
    robot = Robot.from_urdf(planar_arm)
    with pytest.raises(BadQuestion, match='shoulder: 90 rad is more than .* --deg'):
        read_joint_values(['shoulder=90'], robot, None, degrees=False)
    given = read_joint_values(['shoulder=90'], robot, None, degrees=True)
    assert given['shoulder'] == pytest.approx(1.5707963)
    # a joint without limits may have turned often; a little outside, and a slide, are no degrees
    words = ['elbow=90', 'shoulder=2.5', 'lift=90']
    assert read_joint_values(words, robot, None, degrees=False) == {
        'elbow': 90, 'shoulder': 2.5, 'lift': 90}


def test_home_of_the_srdf_counts():
    values = read_joint_values(['home'], Robot.load('xarm7'), None, degrees=False)
    assert set(values) == {f'joint{i}' for i in range(1, 8)}
