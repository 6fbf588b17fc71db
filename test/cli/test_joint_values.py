"""Joint values as words."""

import pytest

from ros2_ik.cli.joint_values import read_joint_values
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import Robot


def test_what_looks_like_degrees_is_refused(planar_arm):
    robot = Robot.from_urdf(planar_arm)
    with pytest.raises(BadQuestion, match=r"'shoulder=90': 90 rad .* -2 ... 2 rad; .* --deg"):
        read_joint_values(['shoulder=90'], robot, None, degrees=False)
    given = read_joint_values(['shoulder=90'], robot, None, degrees=True)
    assert given['shoulder'] == pytest.approx(1.5707963)
    # a joint without limits may have turned often; a little outside, and a slide, are no degrees
    words = ['elbow=90', 'shoulder=2.5', 'lift=90']
    assert read_joint_values(words, robot, None, degrees=False) == {
        'elbow': 90, 'shoulder': 2.5, 'lift': 90}


def test_the_angle_of_a_planar_joint_is_one():
    robot = Robot.load('panda', 'planar')
    base = robot.joints[0].name
    for words, degrees in ((f'{base}=1,2,90', True), (f'{base}=1,2,1.5707963', False)):
        values = read_joint_values([words], robot, None, degrees)
        assert values[base] == pytest.approx([1, 2, 1.5707963])


def test_home_of_the_srdf_counts():
    values = read_joint_values(['home'], Robot.load('xarm7'), None, degrees=False)
    assert set(values) == {f'joint{i}' for i in range(1, 8)}
