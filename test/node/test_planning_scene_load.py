"""Large scenes: the node answers others while they are made, and refuses too large ones."""

import json
import time

from moveit_msgs.msg import CollisionObject
from node_harness import reachable
import numpy as np
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    diff,
    get,
    mesh,
    pairs,
    pose,
    refused,
    solid,
    state_holding,
)
from shape_msgs.msg import SolidPrimitive
from steady_client import steady_client

from ros2_ik.msg import Status
from ros2_ik.srv import ApplyPlanningScene

pytestmark = pytest.mark.usefixtures('flooded', 'empty_scene')

ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
FAR = pose(0, 0, 5)


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
def test_answers_come_while_a_large_scene_is_made(client, domain, panda, item):
    with steady_client(domain, reachable(panda, 'panda_hand_tcp', 1)) as other:
        begin = time.monotonic()
        response = client.wait(apply_later(client, diff(item)), 120.0)
        made = time.monotonic() - begin
        assert response.success, response.message
        answers = json.loads(other.communicate('\n')[0])
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


def test_one_wrong_change_among_others_is_refused_alone(client):
    wrong = box('wrong', -1.0)
    replies = [apply_later(client, diff(item)) for item in (
        box('a', at=FAR), wrong, box('b', at=FAR), boxes('many', 1001), box('c', at=FAR))]
    said = [client.wait(reply, 60.0) for reply in replies]
    assert [response.success for response in said] == [True, False, True, False, True]
    assert {item.id for item in get(client).world.collision_objects} == {'a', 'b', 'c'}


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
