"""~/compute_ik with objects in the scene: solutions without contact, named contacts."""

import threading

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import matrix, reachable, robot_state, stamped, values
import numpy as np
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check_state,
    diff,
    HOME,
    pose,
    state_holding,
)

from ros2_ik.core import Box, collision_checker, Configuration, Scene, SceneObject
from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
TABLE = box('top', 0.6, at=pose(0.6, 0, -0.1))       # its upper side is at z = 0.2
HALF_SECOND = Duration(nanosec=500_000_000)
pytestmark = pytest.mark.usefixtures('empty_scene')


def pose_down(x, y, z):
    """Return a pose with the tip pointing down."""
    return stamped(np.array([[1.0, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1]]))


def test_solution_among_boxes_is_free_of_contact_and_failure_has_a_reason(client, panda):
    applied(client, diff(*(box(f'box{i}', 0.15, at=pose(0.45 * np.cos(i), 0.45 * np.sin(i),
                                                        0.3 + 0.1 * (i % 3)))
                           for i in range(1, 6))))
    n_solved = 0
    for number in range(12):
        response = client.ik(targets=[reachable(panda, TIP, number)], timeout=HALF_SECOND)
        if response.status == Status.SUCCESS:
            n_solved += 1
            joints = {'panda_finger_joint1': 0.0} | values(response.solution)
            assert check_state(client, joints).valid and not response.contacts
        else:
            assert response.contacts or response.position_errors[0] > 1e-5, response.message
    assert n_solved >= 6, n_solved


def test_target_inside_an_object_is_reported_with_contacts(client):
    applied(client, diff(TABLE))
    response = client.ik(targets=[pose_down(0.6, 0.0, 0.1)], timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION, response.message
    assert "'top'" in response.message and not response.solution.joint_state.name
    assert response.best_attempt.joint_state.name
    bodies = {c.contact_body_1 for c in response.contacts} | {
        c.contact_body_2 for c in response.contacts}
    assert 'top' in bodies and all(c.depth > 0 for c in response.contacts)
    contact = next(c for c in response.contacts if 'top' in (c.contact_body_1, c.contact_body_2))
    assert contact.WORLD_OBJECT in (contact.body_type_1, contact.body_type_2)
    assert client.ik(targets=[pose_down(0.6, 0.0, 0.1)],
                     avoid_collisions=False).status == Status.SUCCESS


def test_attached_object_is_included_in_collision_checks(client):
    """The end of a stick, 20 cm in front of the hand, would be in the table."""
    applied(client, diff(TABLE))
    target, stick = pose_down(0.5, 0.0, 0.25), box('stick', 0.02, at=pose(0, 0, 0.2),
                                                   frame='panda_hand')
    assert client.ik(targets=[target], seed=robot_state(HOME)).status == Status.SUCCESS
    response = client.ik(targets=[target], seed=state_holding(attached(stick)),
                         timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION and "'stick'" in response.message
    applied(client, diff(holding=[attached(stick)]))
    response = client.ik(targets=[target], seed=robot_state(HOME), timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION and "'stick'" in response.message
    assert 2 in {k for c in response.contacts for k in (c.body_type_1, c.body_type_2)}
    response = client.ik(targets=[pose_down(0.5, 0.0, 0.45)], seed=robot_state(HOME))
    assert response.status == Status.SUCCESS


def test_reply_names_joints_checked_at_their_neutral_position(client):
    response = client.ik(targets=[pose_down(0.5, 0.0, 0.5)])
    assert response.status == Status.SUCCESS
    assert "no joint_states of 'panda_finger_joint1': collisions were checked at the neutral" \
        in response.message


def test_request_during_scene_changes_uses_one_consistent_scene(client, panda):
    """A box alternates between two poses; each solution is free of contact in one of them."""
    poses = [pose(0.45, 0.25, 0.3), pose(0.45, -0.25, 0.3)]
    applied(client, diff(box('b', 0.3, at=poses[0])))
    checkers = [collision_checker(panda, Scene(panda).add(
        SceneObject('b', [Box([0.3] * 3)], matrix(at)))) for at in poses]
    stop = threading.Event()

    def move_box():
        while not stop.is_set():
            for at in poses:
                applied(client, diff(change('b', CollisionObject.MOVE, pose=at)))

    thread = threading.Thread(target=move_box)
    thread.start()
    try:
        responses = [client.ik(targets=[reachable(panda, TIP, number)], timeout=HALF_SECOND)
                     for number in range(30)]
    finally:
        stop.set()
        thread.join()
    solved = [response for response in responses if response.status == Status.SUCCESS]
    assert len(solved) > 15
    for response in solved:
        state = Configuration(panda, values(response.solution))
        assert not all(checker.in_collision(state) for checker in checkers)
