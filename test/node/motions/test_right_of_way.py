"""Commands of other clients to a controller take precedence over motions of the node."""

from arm_harness import ARM, execute_async, HOME, stop, wait_for_robot
from builtin_interfaces.msg import Duration
from motion_requests import start_motion
from node_harness import eventually
import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.msg import Status

ELSEWHERE = {**HOME, 'panda_joint1': -0.5}
TOPIC = 'arm_controller/joint_trajectory'


def point(joints, seconds, velocities=(0.0,) * 7):
    return JointTrajectoryPoint(
        positions=[joints[name] for name in ARM], velocities=list(velocities),
        time_from_start=Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9)))


@pytest.fixture
def send_foreign(client, record):
    """Return a function that sends a trajectory as another client, which the node receives."""
    publisher = client.node.create_publisher(JointTrajectory, TOPIC, 10)
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all subscribers')

    def send(*points, names=ARM):
        publisher.publish(JointTrajectory(joint_names=list(names), points=points))
    # a discovered subscriber may discover the publisher later, and miss a message
    eventually(lambda: send(point(HOME, 0.3)) or 'another client' in client.wait(
        execute_async(client, HOME)).message, 'the refusal')
    wait_until_released(client)
    record.trajectories.clear()
    yield send
    client.node.destroy_publisher(publisher)


def commands(record):
    """Return the recorded trajectories of the arm."""
    return [message for message in record.trajectories if ARM[0] in message.joint_names]


def wait_until_at(record, joints):
    eventually(lambda: np.abs(record.read() - [joints[name] for name in ARM]).max() < 1e-3,
               'the arm at the foreign goal')
    record.wait_for_rest()


def wait_until_released(client):
    eventually(lambda: client.wait(execute_async(client, HOME)).status == Status.SUCCESS,
               'a motion')


def test_trajectory_of_another_client_ends_a_motion(client, record, send_foreign, node):
    motion = start_motion(client, record, 'execute', 0.1, velocity_scaling=0.2)
    sent = len(commands(record))
    send_foreign(point(ELSEWHERE, 2))
    answer = motion.response()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert "another client sends commands to controller 'arm_controller'" in answer.message
    wait_until_at(record, ELSEWHERE)
    assert len(commands(record)) == sent + 1, 'a command followed the foreign command'
    line = [line for line in node.text.splitlines() if 'motion by service execute' in line][-1]
    assert 'CONTROL_FAILED' in line and 'with arm_controller' in line


def test_partial_trajectory_of_another_client_brakes_a_motion(client, record, send_foreign):
    """The controller may refuse the trajectory, and would then continue the motion."""
    motion = start_motion(client, record, 'execute', 0.1, velocity_scaling=0.2)
    partial = point(ELSEWHERE, 2)
    partial.positions, partial.velocities = partial.positions[:6], partial.velocities[:6]
    send_foreign(partial, names=ARM[:6])
    answer = motion.response()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'that it may refuse' in answer.message
    record.wait_for_rest()
    assert record.read()[0] < 1.5


def test_motion_is_refused_during_a_trajectory_of_another_client(client, record, send_foreign):
    """The arm is at rest at first: the first point is its current position."""
    send_foreign(point(HOME, 3), point(ELSEWHERE, 4))
    wait_for_robot(client)   # its response shows that the node has received the trajectory
    # shortly after its own motion the node does not know yet that the arm is at rest
    answer = eventually(lambda: 'another client' in (found := client.wait(
        execute_async(client, {'panda_joint1': 1.0}))).message and found, 'a refusal')
    assert answer.status == Status.CONTROL_FAILED, answer.message
    wait_until_at(record, ELSEWHERE)
    assert len(commands(record)) == 1
    wait_until_released(client)


def test_motion_is_refused_while_another_client_swings_the_arm(client, record, send_foreign):
    """The arm is at rest for a moment at each turning point."""
    send_foreign(*(point({**HOME, 'panda_joint1': 0.1 * (1 - np.cos(4 * moment))}, 0.5 + moment,
                   [0.4 * np.sin(4 * moment), *[0.0] * 6])
                   for moment in np.linspace(0.0, 2 * np.pi, 252).tolist()))
    eventually(lambda: record.read()[0] > 0.1, 'the arm swings')
    eventually(lambda: 'no motion was stopped: joint' in (reply := stop(client)).message
               and not reply.success, 'a stop that names the moving joint')
    for _ in range(2):
        answer = client.wait(execute_async(client, ELSEWHERE))
        assert answer.status == Status.CONTROL_FAILED, answer.message
        # the swinging is detected before the path check, or after it
        assert 'nothing was moved' in answer.message or 'nothing was sent' in answer.message
    assert len(commands(record)) == 1
