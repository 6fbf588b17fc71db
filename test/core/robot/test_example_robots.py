"""Every URDF of example-robot-data: a robot that moves as the judge says, or refused in words."""

from example_data import data_folder
from judge import TreeJudge
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot, RobotDescriptionError

FILES = sorted(data_folder().rglob('*.urdf'))
REFUSED = {     # no <link> in the text; mimics of joints that it does not have
    'ur3.urdf': 'no links', 'alex_psyonic_hands.urdf': "'index_q1'"}


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.name)
def test_robot(file):
    if file.name in REFUSED:
        with pytest.raises(RobotDescriptionError, match=REFUSED[file.name]):
            Robot.from_urdf(file)
        return
    robot = Robot.from_urdf(file)
    judge, generator = TreeJudge(robot.urdf), np.random.default_rng(0)
    for _ in range(2):
        q = robot.random_q(generator)
        assert (robot.lower <= q).all() and (q <= robot.upper).all()
        at = Configuration(robot, q)
        assert judge.outside(at.joints) == []
        for link in judge.links:
            np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                       atol=1e-12)
    assert set(robot.frame_names) >= set(judge.links)
    for group in robot.groups.values():
        assert set(group.joint_names) <= set(robot.joint_names) and group.tips


def test_many_are_there():
    assert len(FILES) > 50
