"""The mock robot: what it publishes, how often, and how it ends."""

from contextlib import closing
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

from mock_harness import LIMIT, Mock, PROGRAM, running
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ros2_ik.core import shipped_robots

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def listen(mock, messages=100):
    """Give the texts, published already, and the joint states of a mock robot."""
    texts, states = {}, mock.states
    for topic in ('robot_description', 'robot_description_semantic'):
        mock.node.create_subscription(
            String, topic, lambda message, topic=topic: texts.update({topic: message.data}),
            LATCHED)
    mock.until(lambda: len(texts) == 2 and len(states) >= messages, 'texts and joint states')
    return texts, states


def end(process, number):
    """Send a signal; gives the seconds until a clean end."""
    start = time.monotonic()
    process.send_signal(number)
    assert process.wait(LIMIT) == 0
    return time.monotonic() - start


@pytest.mark.parametrize(('robot', 'number'), [
    ('panda', signal.SIGINT), ('talos', signal.SIGTERM)])
def test_publishes_the_robot_at_home(tmp_path, robot, number):
    with running(tmp_path, '--robot', robot) as mock:
        texts, states = listen(mock)    # subscribes late
        assert end(mock.process, number) < 2
    urdf = ElementTree.fromstring(texts['robot_description'])
    moving = {j.get('name'): j for j in urdf.findall('joint')
              if j.get('type') != 'fixed'}   # mimic joints, too
    shipped = shipped_robots()[robot]
    assert set(states[0].name) == set(moving)
    values = dict(zip(states[0].name, states[0].position, strict=True))
    assert {name: values[name] for name in shipped.home} == shipped.home
    for name, joint in moving.items():
        limit = joint.find('limit')
        if joint.get('type') in ('revolute', 'prismatic'):
            assert float(limit.get('lower')) <= values[name] <= float(limit.get('upper'))
    groups = ElementTree.fromstring(texts['robot_description_semantic']).findall('group')
    assert shipped.group in {group.get('name') for group in groups}


def test_publishes_at_100_hz_with_fresh_stamps(mock):
    _, states = listen(mock, 300)
    stamps = [s.header.stamp.sec + s.header.stamp.nanosec * 1e-9 for s in states]
    assert 0 <= time.time() - stamps[-1] < 5
    periods = sorted(b - a for a, b in zip(stamps, stamps[1:], strict=False))
    assert periods[len(periods) // 2] == pytest.approx(0.01, rel=0.2)


def test_a_namespace(tmp_path):
    words = ('--robot', 'ur5', '--ros-args', '-r', '__ns:=/cell')
    with closing(Mock(tmp_path / 'mock_robot.log', words)) as mock:
        names = []
        mock.node.create_subscription(JointState, '/cell/joint_states',
                                      lambda message: names.extend(message.name), 10)
        mock.until(lambda: 'elbow_joint' in names, 'joint states of the UR5')
        mock.until(lambda: mock.node.count_subscribers(
            '/cell/manipulator_controller/joint_trajectory'), 'the controller')


@pytest.mark.parametrize(('words', 'reason'), [
    (['--robot', 'pandaa'], "did you mean 'panda'"),
    (['--ros-args', '-r', '__node:=robot'], "'robot' would replace arm_controller's: leave out")])
def test_a_robot_that_cannot_be_is_refused(words, reason):
    run = subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True,
                         timeout=LIMIT)
    assert run.returncode == 2
    assert reason in run.stderr and 'Traceback' not in run.stderr
