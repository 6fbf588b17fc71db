"""TF: which frames it puts where, and how old they may be."""

import re

from builtin_interfaces.msg import Duration
from node_harness import (
    eventually,
    matrix,
    neutral,
    reachable,
    repeating,
    seed,
    stamped,
    values,
)
import numpy as np
import pytest
from scene_harness import applied, box, diff, HOME, refused
from small_arm import small_arm
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf_harness import let_find_tf2_ros, tf_message, transform

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK, GetPlanningScene


@pytest.fixture(scope='module')
def tf2_ros():
    """Let nodes find a tf2_ros."""
    with pytest.MonkeyPatch.context() as environment:
        let_find_tf2_ros(environment)
        yield


@pytest.fixture(scope='module')
def node(tf2_ros, start_shared_node, client, panda):
    """Give a node that finds a tf2_ros."""
    node = start_shared_node()
    client.describe(panda)
    return node


def test_a_frame_that_may_come_keeps_nobody_waiting(client, node, panda):
    """The first question waits a moment for TF to be heard; others are answered meanwhile."""
    question = ComputeFK.Request(frame_id='nowhere', state=neutral(panda))
    asked = client.service(ComputeFK, 'ros2_ik/compute_fk').call_async(question)
    assert client.call(Trigger, 'ros2_ik/stop', Trigger.Request()).success
    assert not asked.done()
    answer = client.wait(asked)
    assert answer.status == Status.FRAME_TRANSFORM_FAILURE and 'nowhere' in answer.message


# -- frames that hang on moving links -------------------------------------------------------

@pytest.fixture
def arm(client, node):
    """Give a question's fields, of which is told where the arm starts; TF is listened to."""
    assert client.fk(state=seed(HOME), frame_id='nowhere').status == Status.FRAME_TRANSFORM_FAILURE
    return {'seed': seed(HOME), 'timeout': Duration(sec=1)}


def tells(client, *transforms, topic='/tf'):
    """Publish transforms, and wait until the node knows them, or that they are old."""
    message = tf_message(*transforms)
    client.publish(topic, message, latched=topic == '/tf_static')
    for item in transforms:
        eventually(lambda item=item: 'not exist' not in client.fk(
            state=seed(HOME), frame_id=item.child_frame_id).message, item.child_frame_id)


def ahead(frame, offset=0.2):
    """Give a target before the hand, in its frame or one fixed to it."""
    T = np.eye(4)
    T[2, 3] = offset
    return stamped(T, frame)


def test_what_is_old_is_refused(client, arm, panda):
    tells(client, transform('panda_link0', 'part', x=0.4, ago=15.0))
    target = reachable(panda, 'panda_hand_tcp', 3)
    target.header.frame_id = 'part'
    response = client.ik(**arm, targets=[target])
    assert response.status == Status.FRAME_TRANSFORM_FAILURE
    assert re.search(r"'part' is 1[5-9].* s old.*tf_timeout allows 5 s", response.message)
    assert 'tf_timeout allows 5 s' in refused(client, diff(box('box', frame='part')))
    tells(client, transform('panda_link0', 'part', x=0.4, ago=1.0))
    eventually(lambda: client.fk(state=seed(HOME), frame_id='part').status == Status.SUCCESS,
               'a newer one')
    moved = client.ik(**arm, targets=[target], execute=True)
    assert moved.status == Status.FRAME_TRANSFORM_FAILURE
    assert 'execute_tf_timeout allows 0.5 s' in moved.message


def test_no_frame_of_tf_hangs_on_the_tool_of_a_request(client, arm, panda_judge):
    """TF has a frame of that name, too, elsewhere."""
    tells(client, transform('panda_link0', 'tool', x=0.45), transform('tool', 'vise', z=0.35),
          topic='/tf_static')
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    tool = ahead('panda_hand', 0.15)
    answer = client.ik(**arm, targets=[stamped(down, 'vise')], tool=tool)
    assert answer.status == Status.SUCCESS, answer.message
    found = panda_judge.transform(HOME | values(answer.solution), 'panda_hand', 'panda_link0')
    down[:3, 3] = 0.45, 0, 0.35
    assert np.allclose(found @ matrix(tool.pose), down, atol=2e-4)


# -- nodes of their own ----------------------------------------------------------------------

def test_the_first_object_waits_for_the_base(node, start_node, client):
    """An object in the frame of a link: where that is, TF tells a moment after it is asked."""
    node.end()
    start_node(base_source='tf', root_joint='planar')
    client.publish('robot_description', String(data=small_arm().urdf), latched=True)
    eventually(lambda: 'no robot' not in client.call(
        GetPlanningScene, 'ros2_ik/get_planning_scene', GetPlanningScene.Request()).message,
        'the robot')
    with repeating(lambda: client.publish('/tf', tf_message(transform('world', 'base', 1.0))),
                   0.1):
        applied(client, diff(box('box', frame='base'), joints={}))
