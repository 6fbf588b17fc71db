"""The mock robot: its topics, their rate, TF, and its end."""

import io
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

from mock_harness import ARM, LIMIT, positions, PROGRAM, running, TOPIC, trajectory
import numpy as np
import pinocchio as pin
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
import yourdfpy

from ros2_ik.core import Robot, shipped_robots

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def listen(mock, messages=100):
    """Return the latched descriptions and the joint states of a mock robot."""
    texts, states = {}, mock.states
    for topic in ('robot_description', 'robot_description_semantic'):
        mock.node.create_subscription(
            String, topic, lambda message, topic=topic: texts.update({topic: message.data}),
            LATCHED)
    mock.until(lambda: len(texts) == 2 and len(states) >= messages, 'texts and joint states')
    return texts, states


@pytest.mark.parametrize(('robot', 'number'), [
    ('panda', signal.SIGINT), ('talos', signal.SIGTERM)])
def test_robot_is_published_at_home(tmp_path, robot, number):
    with running(tmp_path, '--robot', robot) as mock:
        texts, states = listen(mock)    # subscribes late
        mock.process.send_signal(number)
        assert mock.process.wait(LIMIT) == 0
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


def test_joint_states_are_published_at_100_hz_with_current_stamps(mock):
    _, states = listen(mock, 300)
    stamps = [s.header.stamp.sec + s.header.stamp.nanosec * 1e-9 for s in states]
    assert 0 <= time.time() - stamps[-1] < 5
    periods = sorted(b - a for a, b in zip(stamps, stamps[1:], strict=False))
    assert periods[len(periods) // 2] == pytest.approx(0.01, rel=0.2)


@pytest.mark.parametrize(('words', 'reason'), [
    (['--robot', 'pandaa'], "did you mean 'panda'"),
    (['--ros-args', '-r', '__node:=robot'], "'robot' would replace arm_controller's: leave out")])
def test_malformed_command_lines_are_refused(words, reason):
    run = subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True,
                         timeout=LIMIT)
    assert run.returncode == 2
    assert reason in run.stderr and 'Traceback' not in run.stderr


# -- TF -----------------------------------------------------------------------------------

ROOT = 'panda_link0'


def placed(transform):
    place, turn = transform.translation, transform.rotation
    return pin.XYZQUATToSE3(np.array([place.x, place.y, place.z,
                                      turn.x, turn.y, turn.z, turn.w])).homogeneous


def test_tf_of_the_links_agrees_with_yourdfpy(mock):
    known = {}
    subscription = mock.node.create_subscription(
        TFMessage, '/tf', lambda message: known.update(
            {each.child_frame_id: (each.header.frame_id, placed(each.transform))
             for each in message.transforms}), 10)
    goal = {joint: 0.1 * k - 0.2 for k, joint in enumerate(ARM)} | {ARM[3]: -1.5, ARM[5]: 1.2}
    mock.move(TOPIC, trajectory(ARM, (0.5, [goal[joint] for joint in ARM])))
    mock.rest()
    known.clear()
    mock.until(lambda: known, 'TF')
    robot = Robot.load('panda')
    at = positions(mock.states[-1])
    judge = yourdfpy.URDF.load(io.BytesIO(robot.urdf.encode()), load_meshes=False)
    judge.update_cfg(at)
    for link in ('panda_hand', 'panda_hand_tcp', 'panda_link4', 'panda_leftfinger'):
        T, frame = np.eye(4), link
        while frame != ROOT:
            frame, step = known[frame]
            T = step @ T
        np.testing.assert_allclose(T, judge.get_transform(link, ROOT), atol=1e-6)
    mock.node.destroy_subscription(subscription)
