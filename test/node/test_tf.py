"""TF costs nothing until a frame is asked for that is not the robot's."""

from importlib.util import find_spec
import os
from pathlib import Path
import threading
import time

from geometry_msgs.msg import TransformStamped
from node_harness import eventually, neutral
import pytest
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message

from ros2_ik.msg import PlanningScene, Status

pytestmark = pytest.mark.skipif(find_spec('tf2_ros') is not None, reason='has a real tf2_ros')
RATE, TRANSFORMS = 500, 30
DEAREST = 1e-4    # computing time of the node for each message that nobody needs [s]


@pytest.fixture
def node(start_node, client, panda, monkeypatch):
    """Give a node that finds a tf2_ros."""
    stand_in = str(Path(__file__).parent / 'tf_stand_in')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [stand_in, *filter(None, [os.environ.get('PYTHONPATH')])]))
    node = start_node()
    client.describe(panda)
    return node


@pytest.fixture
def transforms(client):
    """Publish many transforms, one of them of a camera; gives how many messages there were."""
    message = PlanningScene(fixed_frame_transforms=[
        TransformStamped(child_frame_id=f'frame {i}') for i in range(TRANSFORMS - 1)])
    camera = TransformStamped(child_frame_id='camera')
    camera.header.frame_id, camera.transform.translation.x = 'panda_link0', 2.0
    message.fixed_frame_transforms.append(camera)
    data, sent, ended = serialize_message(message), [0], threading.Event()
    publisher = client.node.create_publisher(PlanningScene, '/tf', QoSProfile(depth=100))

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
