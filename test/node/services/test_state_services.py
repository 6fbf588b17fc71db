"""The services ~/check_state and ~/compute_fk."""

import math

from builtin_interfaces.msg import Duration
from node_harness import matrix, neutral, reachable, robot_state
import numpy as np
import pytest
from scene_harness import applied, box, check_state, contact_pairs, diff, HOME, pose

from ros2_ik.msg import Status

WALL = box('wall', 0.3, at=pose(0.31, 0.0, 0.6))
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_state_without_contact_is_valid(client):
    response = check_state(client)
    assert response.status == Status.SUCCESS and response.valid, response.message
    assert not response.contacts and not response.outside_limits


def test_check_state_and_compute_ik_name_unchecked_links(client, panda):
    request = {'targets': [reachable(panda, 'panda_hand_tcp', 1)], 'tips': ['panda_hand_tcp']}
    response = client.ik(**request, seed=neutral(panda), timeout=Duration(sec=2))
    assert response.status == Status.SUCCESS, response.message
    text, = check_state(client).not_checked
    assert text.startswith('collisions: ') and 'panda_link8' in text and 'panda_hand_tcp' in text
    assert list(response.not_checked) == [text]
    response = client.ik(**request, seed=neutral(panda), avoid_collisions=False)
    assert list(response.not_checked) == ['collisions: not checked']


def test_contact_with_an_object_is_reported(client):
    applied(client, diff(WALL))
    response = check_state(client)
    assert response.status == Status.SUCCESS and not response.valid
    assert all('wall' in pair for pair in contact_pairs(response)) and response.contacts
    depths = [contact.depth for contact in response.contacts]
    assert depths == sorted(depths, reverse=True) and depths[0] > 0
    first = response.contacts[0]
    assert first.header.frame_id == 'panda_link0'
    kinds = {first.contact_body_1: first.body_type_1, first.contact_body_2: first.body_type_2}
    assert kinds['wall'] == first.WORLD_OBJECT and first.ROBOT_LINK in kinds.values()
    offset = np.abs(np.array([first.position.x - 0.31, first.position.y, first.position.z - 0.6]))
    assert (offset < 0.16).all()
    assert f"'{first.contact_body_1}' touches '{first.contact_body_2}'" in response.message


def test_state_outside_joint_limits_is_invalid(client):
    response = check_state(client, HOME | {'panda_joint1': 3.1})
    assert not response.valid and list(response.outside_limits) == ['panda_joint1']
    assert ("joint 'panda_joint1' is outside its limits: at 3.1, allowed -2.8973 to 2.8973"
            in response.message)
    assert check_state(client, HOME | {'panda_joint1': 3.1}, group='hand').valid


def test_check_of_a_group_ignores_contacts_of_other_links(client):
    """The joints of group hand move only the fingers."""
    applied(client, diff(WALL))
    for group, counts in (('arm', True), ('hand', False)):
        pairs = contact_pairs(check_state(client, group=group))
        assert any('panda_link5' in pair for pair in pairs) == counts, pairs


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'group': 'amr'}, Status.INVALID_GROUP_NAME, "did you mean 'arm'"),
    ({'state': robot_state({'joint': 0.0})}, Status.INVALID_ROBOT_STATE, "unknown joint 'joint'")])
def test_malformed_check_state_requests_are_refused(client, fields, status, words):
    response = check_state(client, **fields)
    assert response.status == status and words in response.message and not response.valid


LINKS = ['panda_link4', 'panda_hand_tcp', 'panda_rightfinger']


@pytest.mark.parametrize('frame', ['', '/panda_link5', 'panda_leftfinger'])
def test_compute_fk_agrees_with_yourdfpy(client, panda, panda_fk, frame):
    for number in range(3):
        state = panda.to_joints(panda.random_q(np.random.default_rng(number)))
        response = client.fk(links=LINKS, state=robot_state(state), frame_id=frame)
        assert response.status == Status.SUCCESS, response.message
        assert list(response.links) == LINKS
        for link, found in zip(LINKS, response.poses, strict=True):
            reference = frame.removeprefix('/') or 'panda_link0'
            assert found.header.frame_id == reference
            expected = panda_fk.transform(state, link, reference)
            assert np.allclose(matrix(found.pose), expected, atol=1e-9)


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'links': ['panda_link99']}, Status.INVALID_LINK_NAME, 'did you mean'),
    ({'state': robot_state({'panda_joint1': math.nan})}, Status.INVALID_ROBOT_STATE, 'nan'),
    ({}, Status.ROBOT_STATE_STALE, "'panda_joint1'")])
def test_malformed_compute_fk_requests_are_refused(client, fields, status, words):
    response = client.fk(**fields)
    assert response.status == status and words in response.message
    assert not response.links and not response.poses
