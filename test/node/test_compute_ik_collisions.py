"""~/compute_ik among objects: what it answers touches nothing, or says what is in the way."""

import threading

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import Judge, matrix, reachable, seed, stamped, unreachable, values
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
    objects,
    pose,
    state_holding,
)

from ros2_ik.core import Box, collision_checker, Configuration, load_scene, Scene, SceneObject
from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
REMOVE, MOVE = CollisionObject.REMOVE, CollisionObject.MOVE
TOP = box('top', 0.6, at=pose(0.6, 0, -0.1))       # its upper side is at z = 0.2
HALF_SECOND = Duration(nanosec=500_000_000)
pytestmark = pytest.mark.usefixtures('empty_scene')


def down(x, y, z):
    """Give a pose with the tip pointing down."""
    return stamped(np.array([[1.0, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1]]))


@pytest.mark.parametrize('number', range(20))
def test_answers_touch_nothing(client, panda, number):
    """As a checker of the test's own has it, and the links' own boxes by the judge."""
    applied(client, diff(*(box(f'box{i}', 0.15, at=pose(0.45 * np.cos(i), 0.45 * np.sin(i),
                                                        0.3 + 0.1 * (i % 3)))
                           for i in range(1, 6))))
    response = client.ik(targets=[reachable(panda, TIP, number)], timeout=HALF_SECOND)
    joints = values(response.solution if response.status == Status.SUCCESS
                    else response.best_attempt)
    state = check(client, {'panda_finger_joint1': 0.0} | joints)
    if response.status == Status.SUCCESS:
        assert state.valid and not response.contacts, state.message
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


def test_unreachable_is_not_blamed_on_the_scene(client):
    applied(client, diff(TOP))
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=50_000_000))
    assert response.status == Status.NO_IK_SOLUTION


def test_joints_that_are_not_known_are_named(client):
    response = client.ik(targets=[down(0.5, 0.0, 0.5)])
    assert response.status == Status.SUCCESS
    assert "nothing of 'panda_finger_joint1': collisions were checked at neutral" \
        in response.message


def test_bad_objects_in_the_seed(client):
    for item, words in ((attached(box('a', frame='panda_hand'), 'hand'), "unknown link 'hand'"),
                        (attached(change('a', CollisionObject.ADD)), "unknown object 'a'")):
        response = client.ik(targets=[down(0.5, 0.0, 0.5)], seed=state_holding(item))
        assert response.status in (Status.INVALID_LINK_NAME, Status.INVALID_OBJECT_NAME)
        assert 'seed.attached_collision_objects[0]' in response.message
        assert words in response.message


def test_a_search_sees_one_scene_while_the_next_changes_it(client):
    """It searches in a worker for two seconds, and an object comes to where the target is."""
    target = down(0.6, 0.0, 0.1)
    late = client.ik_later(targets=[target], timeout=Duration(sec=2), select='nearest')
    client.wait(client.ik_later(targets=[unreachable()], timeout=Duration(nanosec=1)))
    applied(client, diff(TOP))
    assert client.ik(targets=[target]).status == Status.GOAL_IN_COLLISION
    assert not late.done()
    response = client.wait(late)
    assert response.status == Status.SUCCESS and response.seconds > 1.9, response.message


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


def test_shipped_scene_by_parameter(client, panda):
    assert client.set('scene', 'table').successful
    response = client.ik(targets=[down(0.6, 0.0, 0.185)], timeout=HALF_SECOND)
    assert response.status == Status.GOAL_IN_COLLISION and "'table'" in response.message
    response = client.ik(targets=[down(0.5, 0.1, 0.35)])
    assert response.status == Status.SUCCESS, response.message
    checker = collision_checker(panda, load_scene('table', panda))
    assert not checker.in_collision(Configuration(panda, values(response.solution)))
    applied(client, diff(box('cup', at=pose(0, 0, 2))))
    assert client.set('scene', 'table').successful    # as with `ros2 param load`: nothing goes
    assert {'cup', 'table'} <= set(objects(client))
    result = client.set('scene', 'tabel')
    assert not result.successful and 'table' in result.reason
    assert client.set('scene', '').successful
    assert not check(client, HOME | values(client.ik(
        targets=[down(0.6, 0.0, 0.185)], avoid_collisions=False).solution)).valid


def test_judge_is_not_the_node(panda):
    """The forward kinematics of these tests share no code with the node's."""
    at = Configuration(panda, HOME)
    assert np.allclose(Judge(panda).transform(HOME, TIP, 'panda_link0'), at.transform(TIP))
