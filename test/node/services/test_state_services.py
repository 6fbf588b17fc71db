"""Services ~/check_state and ~/compute_fk."""

import math

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import matrix, neutral, reachable, seed
import numpy as np
import pytest
from scene_harness import applied, box, change, check, diff, HOME, pairs, pose

from ros2_ik.msg import Status

WALL = box('wall', 0.3, at=pose(0.31, 0.0, 0.6))
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_state_without_contact_is_valid(client):
    response = check(client)
    assert response.status == Status.SUCCESS and response.valid, response.message
    assert not response.contacts and not response.distances and not response.outside_limits


def test_unchecked_links_are_named_by_check_state_and_compute_ik(client, panda):
    """Links without geometry are named."""
    asked = {'targets': [reachable(panda, 'panda_hand_tcp', 1)], 'tips': ['panda_hand_tcp']}
    told = client.ik(**asked, seed=neutral(panda), timeout=Duration(sec=2))
    assert told.status == Status.SUCCESS, told.message
    text, = check(client).not_checked
    assert text.startswith('collisions: ') and 'panda_link8' in text and 'panda_hand_tcp' in text
    assert list(told.not_checked) == [text]
    told = client.ik(**asked, seed=neutral(panda), avoid_collisions=False)
    assert list(told.not_checked) == ['collisions: not checked']


def test_contact_with_an_object_is_reported(client):
    applied(client, diff(WALL))
    response = check(client)
    assert response.status == Status.SUCCESS and not response.valid
    assert all('wall' in pair for pair in pairs(response)) and response.contacts
    depths = [contact.depth for contact in response.contacts]
    assert depths == sorted(depths, reverse=True) and depths[0] > 0
    first = response.contacts[0]
    assert first.header.frame_id == 'panda_link0'
    kinds = {first.contact_body_1: first.body_type_1, first.contact_body_2: first.body_type_2}
    assert kinds['wall'] == first.WORLD_OBJECT and first.ROBOT_LINK in kinds.values()
    near = np.abs(np.array([first.position.x - 0.31, first.position.y, first.position.z - 0.6]))
    assert (near < 0.16).all()
    assert f"'{first.contact_body_1}' touches '{first.contact_body_2}'" in response.message


def test_state_outside_joint_limits_is_invalid(client):
    response = check(client, HOME | {'panda_joint1': 3.1})
    assert not response.valid and list(response.outside_limits) == ['panda_joint1']
    assert ("joint 'panda_joint1' is outside its limits: at 3.1, allowed -2.8973 to 2.8973"
            in response.message)
    assert check(client, HOME | {'panda_joint1': 3.1}, group='hand').valid


def test_distances_agree_with_their_witness_points(client, panda):
    """Moved along the normal by its distance, the cube is in contact."""
    applied(client, diff(box('cube', 0.1, at=pose(0.31, 0.0, 0.95))))
    found = check(client, influence=0.5).distances
    assert [d.distance for d in found] == sorted(d.distance for d in found)
    assert all(d.distance < 0.5 for d in found) and len(found) <= 100
    cube = next(d for d in found if 'cube' in (d.body_1, d.body_2))
    ends = [np.array([p.x, p.y, p.z]) for p in (cube.point_1, cube.point_2)]
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(cube.distance, abs=1e-6)
    down = cube.distance + 0.002
    normal = np.array([cube.normal.x, cube.normal.y, cube.normal.z])
    step = normal * down * (1 if cube.body_1 == 'cube' else -1)
    place = np.array([0.31, 0.0, 0.95]) + step
    applied(client, diff(change('cube', CollisionObject.MOVE, pose=pose(*place))))
    assert check(client).contacts[0].depth == pytest.approx(0.002, abs=1e-4)
    assert check(client, influence=0.5).distances[0].distance < 0


def test_check_of_a_group_ignores_contacts_of_other_links(client):
    """The joints of the hand move only the fingers."""
    applied(client, diff(WALL))
    assert not check(client, group='arm').valid
    response = check(client, group='hand')
    assert not any('panda_link4' in pair for pair in pairs(response))


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'influence': -1.0}, Status.INVALID_GOAL_CONSTRAINTS, 'valid: 0 to 1'),
    ({'group': 'amr'}, Status.INVALID_GROUP_NAME, "did you mean 'arm'"),
    ({'state': seed({'joint': 0.0})}, Status.INVALID_ROBOT_STATE, "unknown joint 'joint'")])
def test_malformed_check_state_requests_are_refused(client, fields, status, words):
    response = check(client, **fields)
    assert response.status == status and words in response.message and not response.valid


# -- compute_fk --------------------------------------------------------------------------------

LINKS = ['panda_link4', 'panda_hand_tcp', 'panda_rightfinger']


def joints(panda, number):
    return panda.to_joints(panda.random_q(np.random.default_rng(number)))


@pytest.mark.parametrize('frame', ['', '/panda_link5', 'panda_leftfinger'])
def test_compute_fk_agrees_with_yourdfpy(client, panda, panda_judge, frame):
    for number in range(3):
        state = joints(panda, number)
        response = client.fk(links=LINKS, state=seed(state), frame_id=frame)
        assert response.status == Status.SUCCESS, response.message
        assert list(response.links) == LINKS
        for link, found in zip(LINKS, response.poses, strict=True):
            reference = frame.removeprefix('/') or 'panda_link0'
            assert found.header.frame_id == reference
            wanted = panda_judge.transform(state, link, reference)
            assert np.allclose(matrix(found.pose), wanted, atol=1e-9)


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'links': ['panda_link99']}, Status.INVALID_LINK_NAME, 'did you mean'),
    ({'state': seed({'panda_joint1': math.nan})}, Status.INVALID_ROBOT_STATE, 'nan'),
    ({}, Status.ROBOT_STATE_STALE, "'panda_joint1'")])
def test_malformed_compute_fk_requests_are_refused(client, fields, status, words):
    response = client.fk(**fields)
    assert response.status == status and words in response.message
    assert not response.links and not response.poses
