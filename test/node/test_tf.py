"""Frames from TF: pose, age, and lookups that wait."""

import re

from builtin_interfaces.msg import Duration
from node_harness import (
    eventually,
    matrix,
    neutral,
    reachable,
    repeating,
    robot_state,
    stamped,
    values,
)
import numpy as np
import pytest
from scene_harness import applied, box, diff, get_scene, HOME, refused
from small_arm import small_arm
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf_harness import provide_tf2_ros, tf_message, transform

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK, GetPlanningScene


@pytest.fixture(scope='module')
def tf2_ros():
    with pytest.MonkeyPatch.context() as environment:
        provide_tf2_ros(environment)
        yield


@pytest.fixture(scope='module')
def node(tf2_ros, panda_node):
    """Return a node that can import tf2_ros."""
    return panda_node


def test_tf_lookup_of_a_missing_frame_does_not_block_other_requests(client, node, panda):
    """The first request waits for TF; meanwhile the node answers others."""
    request = ComputeFK.Request(frame_id='nowhere', state=neutral(panda))
    future = client.service(ComputeFK, 'ros2_ik/compute_fk').call_async(request)
    assert client.call(Trigger, 'ros2_ik/stop', Trigger.Request()).success
    assert not future.done()
    answer = client.wait(future)
    assert answer.status == Status.FRAME_TRANSFORM_FAILURE and 'nowhere' in answer.message


@pytest.fixture
def arm(client, node):
    """Return request fields with the arm at HOME; the node has subscribed to TF."""
    response = client.fk(state=robot_state(HOME), frame_id='nowhere')
    assert response.status == Status.FRAME_TRANSFORM_FAILURE
    return {'seed': robot_state(HOME), 'timeout': Duration(sec=1)}


def publish_transforms(client, *transforms, topic='/tf'):
    """Publish transforms; wait until the node has received them."""
    message = tf_message(*transforms)
    client.publish(topic, message, latched=topic == '/tf_static')
    for item in transforms:
        eventually(lambda item=item: 'not exist' not in client.fk(
            state=robot_state(HOME), frame_id=item.child_frame_id).message, item.child_frame_id)


def ahead(frame, offset=0.2):
    """Return a target in front of the hand, in its frame or a frame fixed to it."""
    T = np.eye(4)
    T[2, 3] = offset
    return stamped(T, frame)


def test_old_and_future_transforms_are_refused(client, arm, panda):
    publish_transforms(client, transform('panda_link0', 'part', x=0.4, ago=15.0))
    target = reachable(panda, 'panda_hand_tcp', 3)
    target.header.frame_id = 'part'
    response = client.ik(**arm, targets=[target])
    assert response.status == Status.FRAME_TRANSFORM_FAILURE
    assert re.search(r"'part' is 1[5-9].* s old.*tf_timeout allows 0.5 s", response.message)
    assert 'tf_timeout allows 0.5 s' in refused(client, diff(box('box', frame='part')))
    publish_transforms(client, transform('panda_link0', 'ahead', ago=-20.0))
    assert re.search("'ahead' is -(19|20).* s old",
                     client.fk(state=robot_state(HOME), frame_id='ahead').message)
    with repeating(lambda: client.publish('/tf', tf_message(
            transform('panda_link0', 'part', x=0.4))), 0.1):
        eventually(lambda: client.fk(state=robot_state(HOME), frame_id='part').status
                   == Status.SUCCESS, 'a newer transform')


def test_tool_of_a_request_is_not_the_parent_of_tf_frames(client, arm, panda_fk):
    """TF has another frame `tool`. Static transforms may have any age."""
    publish_transforms(client, transform('panda_link0', 'tool', x=0.45, ago=99.0),
                       transform('tool', 'vise', z=0.35, ago=99.0), topic='/tf_static')
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    tool = ahead('panda_hand', 0.15)
    answer = client.ik(**arm, targets=[stamped(down, 'vise')], tool=tool)
    assert answer.status == Status.SUCCESS, answer.message
    found = panda_fk.transform(HOME | values(answer.solution), 'panda_hand', 'panda_link0')
    down[:3, 3] = 0.45, 0, 0.35
    assert np.allclose(found @ matrix(tool.pose), down, atol=2e-4)


def test_first_object_in_a_tf_frame_waits_for_the_transform(node, start_node, client):
    node.end()
    start_node()
    client.publish('robot_description', String(data=small_arm().urdf), latched=True)
    eventually(lambda: 'no robot' not in client.call(
        GetPlanningScene, 'ros2_ik/get_planning_scene', GetPlanningScene.Request()).message,
        'the robot')
    with repeating(lambda: client.publish('/tf', tf_message(transform('base', 'shelf', 1.0))),
                   0.1):
        applied(client, diff(box('box', frame='shelf'), joints={}))
    found, = get_scene(client).world.collision_objects
    assert found.header.frame_id == 'base' and found.pose.position.x == 1.0
