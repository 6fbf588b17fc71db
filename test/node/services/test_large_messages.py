"""Large and malformed messages: the node stays responsive, or refuses with a reason."""

from pathlib import Path

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, reachable
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check_state,
    contact_pairs,
    diff,
    get_scene,
    mesh,
    pose,
    refused,
    solid,
    state_holding,
    world_objects,
)
from shape_msgs.msg import SolidPrimitive

from ros2_ik.msg import Status
from ros2_ik.srv import ApplyPlanningScene

pytestmark = pytest.mark.usefixtures('allow_long_callbacks', 'empty_scene')

TIP = 'panda_hand_tcp'
ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
FAR = pose(0, 0, 5)


@pytest.fixture(scope='module')
def allow_long_callbacks(panda_node):
    """Allow the long callbacks of this module: rclpy converts large messages slowly."""
    before = panda_node.long_callback_count
    yield
    panda_node.allowed_long_callbacks += panda_node.long_callback_count - before


# -- malformed serialized messages ---------------------------------------------------------------

def peak_memory(pid):
    """Return the peak memory of a process [MB]."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.partition('VmHWM:')[2].split()[0]) / 1e3


def malformed():
    """Yield serialized messages; each has one 4-byte word replaced by a too large length."""
    valid = serialize_message(box('a', at=FAR))
    for offset in range(4, len(valid) - 4, 4):
        for count in (2**31, 30_000):
            data = valid[:offset] + count.to_bytes(4, 'little') + valid[offset + 4:]
            yield data + bytes(count if count < 2**20 else 0)


def test_malformed_array_lengths_neither_crash_the_node_nor_fill_its_memory(client, panda_node):
    """350 bytes per element are allocated before reading, regardless of array bounds."""
    before = peak_memory(panda_node.pid)
    publisher = client.node.create_publisher(CollisionObject, 'ros2_ik/collision_object', 1000)
    eventually(publisher.get_subscription_count, 'the node')
    for data in malformed():
        publisher.publish(data)
    client.publish('ros2_ik/collision_object', box('after', at=FAR))
    eventually(lambda: 'after' in world_objects(client), 'an object of a valid message')
    assert peak_memory(panda_node.pid) - before < 500
    client.node.destroy_publisher(publisher)


# -- scenes --------------------------------------------------------------------------------------

def boxes(id: str, count: int) -> CollisionObject:
    """Return an object of many small boxes out of reach of the robot."""
    poses = [pose(0.1 * (i % 40), 0.1 * (i // 40), 0) for i in range(count)]
    return change(id, ADD, primitives=[solid(SolidPrimitive.BOX, 0.02, 0.02, 0.02)] * count,
                  primitive_poses=poses, pose=FAR)


def wavy(side: int) -> CollisionObject:
    """Return a mesh of 2 (side - 1)^2 triangles out of reach of the robot."""
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    points = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(9 * x * y).ravel()])
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.vstack([np.column_stack([corner, corner + 1, corner + side]),
                       np.column_stack([corner + 1, corner + side + 1, corner + side])])
    return change('wavy', ADD, meshes=[mesh(points.tolist(), faces.tolist())], pose=FAR)


def apply_async(client, scene):
    """Apply a scene without waiting; return the future."""
    service = client.service(ApplyPlanningScene, 'ros2_ik/apply_planning_scene')
    return service.call_async(ApplyPlanningScene.Request(scene=scene))


@pytest.mark.parametrize('item', [boxes('many', 990), wavy(250)], ids=['990 boxes', 'mesh'])
def test_requests_are_answered_while_a_large_scene_is_prepared(client, panda, item):
    target, statuses = reachable(panda, TIP, 1), []
    future = apply_async(client, diff(item))
    while not future.done():
        statuses.append(client.ik(targets=[target]).status)
    assert future.result().success, future.result().message
    assert set(statuses) == {Status.SUCCESS}
    assert len(statuses) > 2     # 1 if requests waited for the scene


def test_scene_changes_are_applied_in_order(client):
    """Twenty concurrent changes; a request after a reply uses the changed scene."""
    inside = pose(0.307, 0, 0.5)
    futures = [apply_async(client, diff(box('a', at=inside if i % 2 else FAR))) for i in range(19)]
    futures.append(apply_async(client, diff(box('b', at=FAR))))
    assert all(client.wait(future, 60.0).success for future in futures)
    scene = {item.id: item.pose.position.z for item in get_scene(client).world.collision_objects}
    assert scene == {'a': 5, 'b': 5}
    assert not check_state(client).contacts
    applied(client, diff(box('a', 0.3, at=inside)))
    assert any('a' in pair for pair in contact_pairs(check_state(client)))


def test_scene_with_more_than_1000_shapes_is_refused(client):
    """A full scene can still become smaller."""
    applied(client, diff(boxes('a', 9), boxes('b', 991)))
    assert '1001 shapes; at most 1000' in refused(client, diff(box('c', at=FAR)))
    applied(client, diff(change('a', REMOVE)))
    applied(client, diff(box('c', at=FAR)))


@pytest.mark.parametrize(('item', 'words'), [
    (boxes('held', 101), '101 shapes'), (wavy(102), '20402 triangles')], ids=['shapes', 'mesh'])
def test_large_objects_attached_by_a_request_are_refused(client, item, words):
    response = check_state(client, state=state_holding(attached(item)))
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS
    assert words in response.message and 'at most' in response.message
