"""~/compute_ik among objects: solutions are free of contact, failures name the contacts."""

import threading

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import reachable, seed, stamped, values
import numpy as np
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    diff,
    HOME,
    pose,
    state_holding,
)

from ros2_ik.core import Box, collision_checker, Configuration, Scene, SceneObject
from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
TOP = box('top', 0.6, at=pose(0.6, 0, -0.1))       # its upper side is at z = 0.2
HALF_SECOND = Duration(nanosec=500_000_000)
pytestmark = pytest.mark.usefixtures('empty_scene')


def down(x, y, z):
    """Return a pose with the tip pointing down."""
    return stamped(np.array([[1.0, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1]]))


def test_solutions_are_free_of_contact_or_contacts_are_named(client, panda):
    """Judged by ~/check_state."""
    applied(client, diff(*(box(f'box{i}', 0.15, at=pose(0.45 * np.cos(i), 0.45 * np.sin(i),
                                                        0.3 + 0.1 * (i % 3)))
                           for i in range(1, 6))))
    for number in range(12):
        response = client.ik(targets=[reachable(panda, TIP, number)], timeout=HALF_SECOND)
        if response.status == Status.SUCCESS:
            joints = {'panda_finger_joint1': 0.0} | values(response.solution)
            assert check(client, joints).valid and not response.contacts
        else:
            assert response.contacts or response.position_errors[0] > 1e-5, response.message


def test_target_inside_an_object_is_reported_with_contacts(client):
    applied(client, diff(TOP))
    response = client.ik(targets=[down(0.6, 0.0, 0.1)], timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION, response.message
    assert "'top'" in response.message and not response.solution.joint_state.name
    assert response.best_attempt.joint_state.name
    touched = {c.contact_body_1 for c in response.contacts} | {
        c.contact_body_2 for c in response.contacts}
    assert 'top' in touched and all(c.depth > 0 for c in response.contacts)
    top = next(c for c in response.contacts if c.contact_body_2 == 'top'
               or c.contact_body_1 == 'top')
    assert top.WORLD_OBJECT in (top.body_type_1, top.body_type_2)
    assert client.ik(targets=[down(0.6, 0.0, 0.1)],
                     avoid_collisions=False).status == Status.SUCCESS


def test_attached_object_counts_in_collision_checks(client):
    """A stick of 20 cm in the hand does not fit between tip and table."""
    applied(client, diff(TOP))
    target, stick = down(0.5, 0.0, 0.25), box('stick', 0.02, at=pose(0, 0, 0.2),
                                              frame='panda_hand')
    assert client.ik(targets=[target], seed=seed(HOME)).status == Status.SUCCESS
    response = client.ik(targets=[target], seed=state_holding(attached(stick)),
                         timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION and "'stick'" in response.message
    applied(client, diff(holding=[attached(stick)]))
    response = client.ik(targets=[target], seed=seed(HOME), timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION and "'stick'" in response.message
    assert 2 in {k for c in response.contacts for k in (c.body_type_1, c.body_type_2)}
    assert client.ik(targets=[down(0.5, 0.0, 0.45)], seed=seed(HOME)).status == Status.SUCCESS


def test_joints_checked_at_neutral_are_named(client):
    response = client.ik(targets=[down(0.5, 0.0, 0.5)])
    assert response.status == Status.SUCCESS
    assert "no joint_states of 'panda_finger_joint1': collisions were checked at the neutral" \
        in response.message


def test_each_request_during_scene_changes_sees_one_scene(client, panda):
    """A box jumps between two places; each solution is free for one of the places."""
    places = [pose(0.45, 0.25, 0.3), pose(0.45, -0.25, 0.3)]
    applied(client, diff(box('b', 0.3, at=places[0])))
    checkers = [_checker(panda, place) for place in places]
    stop = threading.Event()

    def change_it():
        while not stop.is_set():
            for place in places:
                applied(client, diff(change('b', CollisionObject.MOVE, pose=place)))

    thread = threading.Thread(target=change_it)
    thread.start()
    try:
        answers = [client.ik(targets=[reachable(panda, TIP, number)], timeout=HALF_SECOND)
                   for number in range(30)]
    finally:
        stop.set()
        thread.join()
    found = [values(answer.solution) for answer in answers if answer.status == Status.SUCCESS]
    assert len(found) > 15
    for joints in found:
        at = Configuration(panda, joints)
        assert not all(checker.in_collision(at) for checker in checkers)


def _checker(panda, place):
    T = np.eye(4)
    T[:3, 3] = place.position.x, place.position.y, place.position.z
    return collision_checker(panda, Scene(panda).add(SceneObject('b', [Box([0.3] * 3)], T)))
