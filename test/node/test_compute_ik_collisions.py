"""~/compute_ik among objects: what it answers touches nothing, or says what is in the way."""

import threading

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject, LinkPadding
from node_harness import Judge, matrix, reachable, seed, stamped, values
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
from std_msgs.msg import String

from ros2_ik.core import Box, collision_checker, Configuration, Scene, SceneObject
from ros2_ik.messages.functions import function_message as function
from ros2_ik.msg import Bounds, Status

TIP = 'panda_hand_tcp'
REMOVE, MOVE = CollisionObject.REMOVE, CollisionObject.MOVE
TOP = box('top', 0.6, at=pose(0.6, 0, -0.1))       # its upper side is at z = 0.2
HALF_SECOND = Duration(nanosec=500_000_000)
pytestmark = pytest.mark.usefixtures('empty_scene')


def down(x, y, z):
    """Give a pose with the tip pointing down."""
    return stamped(np.array([[1.0, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1]]))


def test_answers_touch_nothing(client, panda):
    """As check_state has it, or they say what is in the way."""
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


def test_elbow_goes_round_an_object(client, panda, panda_judge):
    """The first answer touches a box at its elbow; with the box there, another one is given."""
    target = down(0.5, 0.0, 0.4)
    first = values(client.ik(targets=[target], seed=seed(HOME)).solution)
    elbow = panda_judge.transform(first, 'panda_link4', 'panda_link0')[:3, 3]
    applied(client, diff(box('post', 0.1, at=pose(*elbow))))
    response = client.ik(targets=[target], seed=seed(HOME), timeout=Duration(sec=5))
    assert response.status == Status.SUCCESS, response.message
    assert check(client, HOME | values(response.solution)).valid
    assert not check(client, HOME | first).valid
    position = panda_judge.transform(values(response.solution), TIP, 'panda_link0')[:3, 3]
    assert np.linalg.norm(position - matrix(target.pose)[:3, 3]) < 1.1e-5
    without = client.ik(targets=[target], seed=seed(HOME), avoid_collisions=False)
    assert values(without.solution) == pytest.approx(first) and not without.contacts


def test_target_inside_an_object(client):
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


def test_what_is_held_counts(client):
    """A stick of 20 cm held by the hand does not fit between tip and table."""
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


def test_joints_that_are_not_known_are_named(client):
    response = client.ik(targets=[down(0.5, 0.0, 0.5)])
    assert response.status == Status.SUCCESS
    assert "nothing of 'panda_finger_joint1': collisions were checked at neutral" \
        in response.message


def test_many_questions_while_the_scene_changes(client, panda):
    """Each answer is right for the scene of some moment: with the box here, or there."""
    places = [pose(0.45, 0.25, 0.3), pose(0.45, -0.25, 0.3)]
    applied(client, diff(box('b', 0.3, at=places[0])))
    checkers = [_checker(panda, place) for place in places]
    stop = threading.Event()

    def change_it():
        while not stop.is_set():
            for place in places:
                applied(client, diff(change('b', MOVE, pose=place)))

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


# -- requests that differ in poses and seed alone ----------------------------------------------

def near(panda, number, **fields):
    """Give a question that one descent from its seed answers."""
    away = np.random.default_rng(number).uniform(-0.15, 0.15, len(HOME))
    joints = {name: HOME[name] + away[i] * name.startswith('panda_joint')
              for i, name in enumerate(HOME)}
    tip = fields.get('tips', [TIP])[0]
    target = stamped(Judge(panda).transform(joints, tip, 'panda_link0'))
    return {'targets': [target], 'seed': seed(HOME), **fields}


LEVEL = function('angle_between_vectors', frame=TIP, relative_to='panda_link0',
                 vector=[0.0, 0.0, 1.0], other_vector=[0.0, 0.0, -1.0],
                 bounds=Bounds(upper=[1.0]))


@pytest.mark.parametrize('fields', [
    {}, {'tips': ['panda_hand'], 'weights': [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]},
    {'group': 'arm', 'select': 'nearest', 'max_iterations': 300, 'max_joint_change': 1.5},
    {'link_padding': [LinkPadding(link_name='panda_hand', padding=0.01)]},
    {'constraints': [LEVEL]},
], ids=lambda fields: ' '.join(fields) or 'nothing')
def test_as_if_asked_alone(client, panda, fields):
    """After one like it a request is answered as after one of another kind."""
    fields = {'allow_restarts': False, **fields}   # these have time to differ
    for number in range(2):
        asked = near(panda, number, **fields)
        client.ik(**near(panda, 9, **fields))
        again = client.ik(**asked)
        client.ik(**near(panda, 9, position_tolerance=1.1e-5))
        alone = client.ik(**asked)
        assert again.status == alone.status == Status.SUCCESS, (again.message, alone.message)
        assert again.not_checked == alone.not_checked
        one, other = again.solution.joint_state, alone.solution.joint_state
        assert one.name == other.name
        assert np.allclose(one.position, other.position, atol=1e-6)


def test_scene_counts_at_once(client):
    """What stands at the target, is held, or comes with the seed, is seen."""
    target = stamped(np.array([[1.0, 0, 0, 0.5], [0, -1, 0, 0], [0, 0, -1, 0.4], [0, 0, 0, 1]]))
    asked = {'targets': [target], 'seed': seed(HOME)}
    for _ in range(2):
        assert client.ik(**asked).status == Status.SUCCESS
    applied(client, diff(box('wall', 0.3, at=pose(0.5, 0, 0.4))))
    assert client.ik(**asked).status == Status.GOAL_IN_COLLISION
    applied(client, diff(change('wall', box('wall').REMOVE)))
    assert client.ik(**asked).status == Status.SUCCESS
    held = attached(box('held', 0.9, frame='panda_hand'), touch=['panda_hand'])
    assert client.ik(targets=[target], seed=state_holding(held)).status != Status.SUCCESS
    assert client.ik(**asked).status == Status.SUCCESS


def test_what_is_held_counts_by_its_own_seed(client, panda_judge):
    """A thing that is held where the seed has the hand needs no joint values of the last seed."""
    target = stamped(np.array([[1.0, 0, 0, 0.5], [0, -1, 0, 0], [0, 0, -1, 0.4], [0, 0, 0, 1]]))
    x, y, z = panda_judge.transform(HOME, 'panda_hand', 'panda_link0')[:3, 3]
    held = attached(box('held', 0.04, frame='panda_link0', at=pose(x, y, z - 0.12)),
                    touch=['panda_hand', 'panda_leftfinger', 'panda_rightfinger'])
    for ask in (client.ik, lambda **fields: client.goal(**fields).result()[1]):
        assert ask(targets=[target]).status == Status.SUCCESS
        response = ask(targets=[target], seed=state_holding(held))
        assert response.status == Status.SUCCESS, response.message


def test_another_robot_counts_at_once(client, panda):
    asked = {'targets': [reachable(panda, TIP, 2)], 'tips': [TIP], 'seed': seed(HOME)}
    assert client.ik(**asked).status == Status.SUCCESS
    client.publish('robot_description', String(data=panda.urdf.replace(
        'link name="panda_hand_tcp"', 'link name="tool"').replace(
        'link="panda_hand_tcp"', 'link="tool"')), latched=True)
    try:
        while (response := client.ik(**asked)).status == Status.SUCCESS:
            continue
        assert 'panda_hand_tcp' in response.message
    finally:
        client.describe(panda)
    assert client.ik(**asked).status == Status.SUCCESS
