"""Large messages and bytes that are no message: the node answers others, or refuses in words."""

from pathlib import Path
import time

from diagnostic_msgs.msg import KeyValue
from moveit_msgs.msg import CollisionObject
from node_harness import eventually, neutral, reachable, seed
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    diff,
    get,
    mesh,
    objects,
    pairs,
    pose,
    refused,
    solid,
    state_holding,
)
from shape_msgs.msg import SolidPrimitive

from ros2_ik.msg import Status
from ros2_ik.srv import ApplyPlanningScene

pytestmark = pytest.mark.usefixtures('flooded', 'empty_scene')

TIP = 'panda_hand_tcp'
ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
FAR = pose(0, 0, 5)


@pytest.fixture(scope='module')
def flooded(panda_node):
    """Let the node be sent messages that take rclpy long to convert."""
    panda_node.is_flooded = True


# -- bytes that are no message -------------------------------------------------------------------

def peak_memory(pid):
    """Give the most memory that a process has had [MB]."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.partition('VmHWM:')[2].split()[0]) / 1e3


def malformed():
    """Give bytes of messages in which every number in turn is a count that is far too large."""
    whole = serialize_message(box('a', at=FAR))
    for place in range(4, len(whole) - 4, 4):
        for count in (2**31, 30_000):
            data = whole[:place] + count.to_bytes(4, 'little') + whole[place + 4:]
            yield data + bytes(count if count < 2**20 else 0)


def test_counts_that_are_too_large_neither_end_the_node_nor_fill_the_memory(client, panda_node):
    """A count takes 350 bytes for each byte that is there, whatever bounds its type has."""
    before = peak_memory(panda_node.pid)
    topic = client.node.create_publisher(CollisionObject, 'ros2_ik/collision_object', 1000)
    eventually(topic.get_subscription_count, 'the node')
    for data in malformed():
        topic.publish(data)
    client.publish('ros2_ik/collision_object', box('after', at=FAR))
    eventually(lambda: 'after' in objects(client), 'an object of a good message')
    assert peak_memory(panda_node.pid) - before < 500
    client.node.destroy_publisher(topic)


# -- scenes --------------------------------------------------------------------------------------

def boxes(id: str, count: int) -> CollisionObject:
    """Give an object of many small boxes, out of the robot's reach."""
    places = [pose(0.1 * (i % 40), 0.1 * (i // 40), 0) for i in range(count)]
    return change(id, ADD, primitives=[solid(SolidPrimitive.BOX, 0.02, 0.02, 0.02)] * count,
                  primitive_poses=places, pose=FAR)


def wavy(side: int) -> CollisionObject:
    """Give a mesh of 2 (side - 1)^2 triangles, out of the robot's reach."""
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    points = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(9 * x * y).ravel()])
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.vstack([np.column_stack([corner, corner + 1, corner + side]),
                       np.column_stack([corner + 1, corner + side + 1, corner + side])])
    return change('wavy', ADD, meshes=[mesh(points.tolist(), faces.tolist())], pose=FAR)


def apply_later(client, scene):
    """Begin to apply a scene; gives the future of the response."""
    service = client.service(ApplyPlanningScene, 'ros2_ik/apply_planning_scene')
    return service.call_async(ApplyPlanningScene.Request(scene=scene))


@pytest.mark.parametrize('item', [boxes('many', 500), wavy(150)], ids=['500 boxes', 'mesh'])
def test_answers_come_while_a_large_scene_is_made(client, panda, item):
    target, answers, begin = reachable(panda, TIP, 1), [], time.monotonic()
    applied = apply_later(client, diff(item))
    while not applied.done():
        asked = time.monotonic()
        answers.append((client.ik(targets=[target]).status, time.monotonic() - asked))
    made = time.monotonic() - begin
    assert applied.result().success, applied.result().message
    assert {status for status, _ in answers} == {Status.SUCCESS}
    # a busy machine; the node would have waited
    assert max(seconds for _, seconds in answers) < max(made / 3, 1.5)


def test_changes_are_made_in_their_order_and_seen_after_the_reply(client):
    """Twenty at once: of one object that moves in and out of the hand, and one of another."""
    inside = pose(0.307, 0, 0.5)
    replies = [apply_later(client, diff(box('a', at=inside if i % 2 else FAR)))
               for i in range(19)]
    replies.append(apply_later(client, diff(box('b', at=FAR))))
    assert all(client.wait(reply, 60.0).success for reply in replies)
    scene = {item.id: item.pose.position.z for item in get(client).world.collision_objects}
    assert scene == {'a': 5, 'b': 5}
    assert not check(client).contacts
    applied(client, diff(box('a', 0.3, at=inside)))
    assert any('a' in pair for pair in pairs(check(client)))


def test_a_scene_has_a_thousand_shapes_at_most(client):
    """One that has them may become smaller."""
    applied(client, diff(boxes('a', 9), boxes('b', 991)))
    assert '1001 shapes; at most 1000' in refused(client, diff(box('c', at=FAR)))
    applied(client, diff(change('a', REMOVE)))
    applied(client, diff(box('c', at=FAR)))


@pytest.mark.parametrize(('item', 'words'), [
    (boxes('held', 101), '101 shapes'), (wavy(102), '20402 triangles')], ids=['shapes', 'mesh'])
def test_what_a_request_holds_for_itself_is_bounded(client, item, words):
    response = check(client, state=state_holding(attached(item)))
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS
    assert words in response.message and 'at most' in response.message


# -- requests ------------------------------------------------------------------------------------

def test_megabytes_are_not_sent_back(client, panda):
    """The message says what is wrong, and how much there was."""
    response = client.ik(targets=[reachable(panda, TIP)], group='g' * 2_000_000)
    assert response.status == Status.INVALID_GROUP_NAME, response.status
    assert "unknown group 'ggg" in response.message and 'characters more' in response.message
    assert len(response.message) < 5000


def test_seed_of_a_hundred_thousand_joints_is_refused(client, panda):
    state = seed({f'joint{i}': 0.0 for i in range(100_000)})
    response = client.ik(targets=[reachable(panda, TIP)], seed=state)
    assert response.status == Status.INVALID_ROBOT_STATE
    assert "unknown joint 'joint0'" in response.message


def test_a_thousand_options_of_a_solver_are_refused(client, panda):
    options = [KeyValue(key=str(i), value='[a, b, {c: d}]' * 10) for i in range(1000)]
    response = client.ik(targets=[reachable(panda, TIP)], seed=neutral(panda),
                         solver_options=options)
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS
    assert 'solver_options has length 1000; at most 100 are read' in response.message
