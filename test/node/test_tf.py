"""TF: what it costs, which frames it puts where, and how old they may be."""

import os
from pathlib import Path
import re
import threading
import time

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import TransformStamped
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
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from scene_harness import applied, box, diff, get, HOME, refused
from small_arm import small_arm
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf_harness import let_find_tf2_ros, tf_message, TFMessage, transform

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK, GetPlanningScene

RATE, TRANSFORMS = 500, 30
DEAREST = 1e-4    # computing time of the node for each message that nobody needs [s]


@pytest.fixture
def tf2_ros(monkeypatch):
    """Let nodes find a tf2_ros."""
    let_find_tf2_ros(monkeypatch)


@pytest.fixture
def node(tf2_ros, start_node, client, panda):
    """Give a node that finds a tf2_ros."""
    node = start_node()
    client.describe(panda)
    return node


@pytest.fixture
def transforms(client):
    """Publish many transforms, one of them of a camera; gives how many messages there were."""
    many = [transform('panda_link0', f'frame {i}') for i in range(TRANSFORMS - 1)]
    camera = TransformStamped(child_frame_id='camera')
    camera.header.frame_id, camera.transform.translation.x = 'panda_link0', 2.0
    data, sent, ended = serialize_message(tf_message(*many, camera)), [0], threading.Event()
    publisher = client.node.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))

    def publish():
        begin = time.monotonic()
        while not ended.wait(max(0.0, begin + sent[0] / RATE - time.monotonic())):
            publisher.publish(data)
            sent[0] += 1
    thread = threading.Thread(target=publish)
    thread.start()
    yield sent
    ended.set()
    thread.join()
    client.node.destroy_publisher(publisher)


def computing_time(node):
    """Give the seconds that a node's own process has computed."""
    fields = Path(f'/proc/{node.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def cost(node, sent, seconds=2.0):
    """Give the computing time for each message, over some time."""
    before, computed = sent[0], computing_time(node)
    time.sleep(seconds)
    return (computing_time(node) - computed) / (sent[0] - before)


def test_a_frame_that_may_come_keeps_nobody_waiting(client, node, panda):
    """The first question waits a moment for TF to be heard; the others are answered at once."""
    client.fk(state=neutral(panda))
    question = ComputeFK.Request(frame_id='nowhere', state=neutral(panda))
    began = time.monotonic()
    asked = client.service(ComputeFK, 'ros2_ik/compute_fk').call_async(question)
    slowest = 0.0
    while not asked.done() and time.monotonic() < began + 10:
        before = time.monotonic()
        assert client.call(Trigger, 'ros2_ik/stop', Trigger.Request()).success
        slowest = max(slowest, time.monotonic() - before)
    assert 0.5 < time.monotonic() - began < 5.0
    assert asked.result().status == Status.FRAME_TRANSFORM_FAILURE
    assert slowest < 0.25


def test_the_first_object_waits_for_the_base(tf2_ros, start_node, client):
    """An object in the frame of a link: where that is, TF tells a moment after it is asked."""
    start_node(base_source='tf', root_joint='planar')
    client.publish('robot_description', String(data=small_arm().urdf), latched=True)
    eventually(lambda: 'no robot' not in client.call(
        GetPlanningScene, 'ros2_ik/get_planning_scene', GetPlanningScene.Request()).message,
        'the robot')
    with repeating(lambda: client.publish('/tf', tf_message(transform('world', 'base', 1.0))),
                   0.1):
        applied(client, diff(box('box', frame='base'), joints={}))


@pytest.mark.slow
def test_listening_begins_with_the_first_question(client, node, transforms, panda):
    client.fk(state=neutral(panda))
    eventually(lambda: cost(node, transforms, 0.5) < DEAREST / 2 or None, 'the end of the start',
               60.0)
    unasked = cost(node, transforms)
    response = client.fk(state=neutral(panda), frame_id='camera', links=['panda_link0'])
    assert response.status == Status.SUCCESS, response.message
    assert response.poses[0].pose.position.x == pytest.approx(-2.0)
    asked = cost(node, transforms)
    print(f'{1e3 * unasked:.3f} ms a message before TF is asked, {1e3 * asked:.3f} ms after it')
    assert unasked < DEAREST
    assert asked > 2 * unasked     # so that the first number says something


def test_unknown_frames_are_refused_after_a_moment(client, node, transforms, panda):
    for _ in range(3):
        begin = time.monotonic()
        response = client.fk(state=neutral(panda), frame_id='nowhere', links=['panda_link0'])
        waited = time.monotonic() - begin
        assert response.status == Status.FRAME_TRANSFORM_FAILURE
        assert 'nowhere' in response.message
    assert waited < 1.0    # only the first question waits for what TF may still tell


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


@pytest.mark.slow
def test_a_frame_fixed_to_a_link_is_part_of_it(client, arm):
    """Where TF has the arm somewhere else, or nowhere, the start state counts, as for links."""
    tells(client, transform('panda_hand', 'cam', z=0.05), topic='/tf_static')
    own = client.ik(**arm, targets=[ahead('panda_hand')])
    assert own.status == Status.SUCCESS, own.message
    for _ in range(2):
        found = client.ik(**arm, targets=[ahead('cam', 0.15)])
        assert found.status == Status.SUCCESS, found.message
        assert values(found.solution) == pytest.approx(values(own.solution), abs=1e-3)
        tells(client, transform('panda_link0', 'panda_hand', x=0.5))
    followed = client.ik(**arm, targets=[ahead('cam')], follow_frames=True)
    assert followed.status == Status.INVALID_LINK_NAME
    assert "moves 'panda_hand_tcp' relative to 'panda_hand'" in followed.message
    here = client.fk(state=seed(HOME), frame_id='cam', links=['panda_hand'])
    assert np.allclose(matrix(here.poses[0].pose)[:3, 3], (0, 0, -0.05), atol=1e-9)
    applied(client, diff(box('box', frame='cam')))    # an object stands where the link is now
    hand = matrix(client.fk(state=seed(HOME), links=['panda_hand']).poses[0].pose)
    stands = matrix(get(client).world.collision_objects[0].pose)
    assert np.allclose(stands[:3, 3], hand[:3, 3] + 0.05 * hand[:3, 2], atol=1e-6)


def test_what_may_stand_is_where_tf_has_it(client, arm):
    """A tag that a camera on the arm sees is not followed, and not moved by a start state."""
    tells(client, transform('panda_link0', 'panda_hand', x=0.5),
          transform('panda_hand', 'tag', z=0.05))
    where = client.fk(state=seed(HOME), frame_id='tag', links=['panda_link0'])
    assert where.status == Status.SUCCESS, where.message
    assert np.allclose(matrix(where.poses[0].pose)[:3, 3], (-0.5, 0, -0.05))
    followed = client.ik(**arm, targets=[ahead('tag')], follow_frames=True)
    assert followed.status == Status.FRAME_TRANSFORM_FAILURE
    assert "'tag' hangs on link 'panda_hand'" in followed.message


@pytest.mark.slow
def test_what_no_joint_moves_is_taken_where_it_is_followed_or_not(client, arm, panda):
    """Whether /tf moves it, a belt, or only tells of it cannot be told apart."""
    for frame, parent in (('belt', 'panda_link0'), ('cart', 'map'), ('panda_link0', 'map')):
        tells(client, transform(parent, frame, x=0.1 * (frame != 'panda_link0')))
    for frame in ('belt', 'cart'):
        target = reachable(panda, 'panda_hand_tcp', 3)
        target.header.frame_id, target.pose.position.x = frame, target.pose.position.x - 0.1
        answers = [client.ik(**arm, targets=[target], follow_frames=follow, random_state=1)
                   for follow in (False, True)]
        assert [answer.status for answer in answers] == [Status.SUCCESS] * 2, answers[1].message
        own = reachable(panda, 'panda_hand_tcp', 3)
        for answer in answers:
            where = client.fk(state=answer.solution, links=['panda_hand_tcp']).poses[0]
            assert np.allclose(matrix(where.pose), matrix(own.pose), atol=1e-3)


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


# -- simulated time ---------------------------------------------------------------------------

@pytest.mark.slow
def test_a_clock_that_is_set_back(tf2_ros, start_node, client, panda):
    """As by a simulation that begins anew: what was told before then is not true any more."""
    start_node(use_sim_time=True)
    client.describe(panda)
    client.fk(state=neutral(panda), frame_id='box')    # from now on it is listened to

    def place(seconds, x):
        """Set the time, tell where a box is then, and ask the node for it."""
        message = TransformStamped(child_frame_id='box')
        message.header.frame_id, message.header.stamp = 'panda_link0', Time(sec=seconds)
        message.transform.translation.x = x

        def asked():    # and tell again what may be lost, as long as nobody is known to listen
            client.publish('/clock', Clock(clock=Time(sec=seconds)))
            client.publish('/tf', tf_message(message))
            answer = client.fk(state=neutral(panda), frame_id='box', links=['panda_link0'])
            return answer.status == Status.SUCCESS and -answer.poses[0].pose.position.x
        return eventually(asked, f'the box at {seconds} s')

    assert place(1000, 0.2) == pytest.approx(0.2)
    for seconds, x in ((996, 0.4), (5, 0.6)):
        time.sleep(1.5)     # two that tell the time by turns are something else
        assert place(seconds, x) == pytest.approx(x)
