"""~/compute_fk against another library's forward kinematics."""

import math

from node_harness import Judge, matrix, seed
import numpy as np
import pytest

from ros2_ik.msg import Status

LINKS = ['panda_link4', 'panda_hand_tcp', 'panda_rightfinger']
pytestmark = pytest.mark.usefixtures('panda_node')


def joints(panda, number):
    return panda.to_joints(panda.random_q(np.random.default_rng(number)))


@pytest.mark.parametrize('frame', ['', 'panda_link0', '/panda_link5', 'panda_leftfinger'])
def test_poses(client, panda, panda_judge, frame):
    for number in range(5):
        state = joints(panda, number)
        response = client.fk(links=LINKS, state=seed(state), frame_id=frame)
        assert response.status == Status.SUCCESS, response.message
        assert list(response.links) == LINKS
        for link, pose in zip(LINKS, response.poses, strict=True):
            reference = frame.removeprefix('/') or 'panda_link0'
            assert pose.header.frame_id == reference
            wanted = panda_judge.transform(state, link, reference)
            assert np.allclose(matrix(pose.pose), wanted, atol=1e-9)


def test_default_link(client, panda):
    response = client.fk(state=seed(joints(panda, 0)))
    assert list(response.links) == ['panda_hand_tcp'] and '1 pose in' in response.message


BAD = {
    'unknown link': ({'links': ['panda_link99']}, Status.INVALID_LINK_NAME, 'did you mean'),
    'too many links': ({'links': ['panda_link1'] * 1001}, Status.INVALID_LINK_NAME, '1000'),
    'unknown frame': ({'frame_id': 'map'}, Status.FRAME_TRANSFORM_FAILURE, 'map'),
    'NaN': ({'state': seed({'panda_joint1': math.nan})}, Status.INVALID_ROBOT_STATE, 'nan'),
    'unknown joint': ({'state': seed({'joint': 0})}, Status.INVALID_ROBOT_STATE, "'joint'"),
    'nothing known': ({}, Status.ROBOT_STATE_STALE, "'panda_joint1'"),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_question(client, name):
    fields, status, words = BAD[name]
    response = client.fk(**fields)
    assert response.status == status and words in response.message
    assert not response.links and not response.poses


def test_judge_is_independent(panda):
    assert 'pinocchio' not in Judge.transform.__globals__
