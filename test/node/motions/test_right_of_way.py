"""Other clients of the same controller have the right of way over our motions."""

from arm_harness import ARM, execute_later, HOME, knows_the_robot, stop
from builtin_interfaces.msg import Duration
from motion_requests import moving
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
def theirs(client, record):
    """Return a publisher of another client that all subscribers have discovered."""
    publisher = client.node.create_publisher(JointTrajectory, TOPIC, 10)
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all listen')

    def send(*points, names=ARM):
        publisher.publish(JointTrajectory(joint_names=list(names), points=points))
    # a subscriber may discover the publisher later than it is discovered, and miss a message
    eventually(lambda: send(point(HOME, 0.3)) or 'another client' in client.wait(
        execute_later(client, HOME)).message, 'the node hears it')
    free_again(client)
    record.trajectories.clear()
    yield send
    client.node.destroy_publisher(publisher)


def commands(record):
    """Return the trajectories that were sent to the arm."""
    return [message for message in record.trajectories if ARM[0] in message.joint_names]


def goes_to(record, joints):
    eventually(lambda: np.abs(record.at() - [joints[name] for name in ARM]).max() < 1e-3,
               'the arm where they sent it')
    record.still()


def free_again(client):
    eventually(lambda: client.wait(execute_later(client, HOME)).status == Status.SUCCESS,
               'a motion after it')


def test_trajectory_of_another_client_ends_a_motion(client, record, theirs, node):
    asked = moving(client, record, 'execute', 0.1, velocity_scaling=0.2)
    sent = len(commands(record))
    theirs(point(ELSEWHERE, 2))
    answer = asked.answer()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert "another client sends commands to controller 'arm_controller'" in answer.message
    goes_to(record, ELSEWHERE)
    assert len(commands(record)) == sent + 1, 'something was sent after theirs'
    line = [line for line in node.text.splitlines() if 'motion by service execute' in line][-1]
    assert 'CONTROL_FAILED' in line and 'with arm_controller' in line


def test_trajectory_with_missing_joints_brakes_a_motion(client, record, theirs):
    """The controller refuses it, and would go on with the motion."""
    asked = moving(client, record, 'execute', 0.1, velocity_scaling=0.2)
    left_out = point(ELSEWHERE, 2)
    left_out.positions, left_out.velocities = left_out.positions[:6], left_out.velocities[:6]
    theirs(left_out, names=ARM[:6])
    answer = asked.answer()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'that it may refuse' in answer.message
    record.still()
    assert record.at()[0] < 1.5


def test_no_motion_starts_while_a_trajectory_of_another_client_lasts(client, record, theirs):
    """The arm stands meanwhile: the first point is its current position."""
    theirs(point(HOME, 3), point(ELSEWHERE, 4))
    knows_the_robot(client)   # an answer: the node has taken what was sent before
    # for a moment after its own motion the node does not know that the arm stands
    answer = eventually(lambda: 'another client' in (found := client.wait(
        execute_later(client, {'panda_joint1': 1.0}))).message and found, 'a refusal')
    assert answer.status == Status.CONTROL_FAILED, answer.message
    goes_to(record, ELSEWHERE)
    assert len(commands(record)) == 1
    free_again(client)


def test_no_motion_starts_while_another_client_swings_the_arm(client, record, theirs):
    """The arm stands for a moment at each turning point."""
    theirs(*(point({**HOME, 'panda_joint1': 0.1 * (1 - np.cos(4 * moment))}, 0.5 + moment,
                   [0.4 * np.sin(4 * moment), *[0.0] * 6])
             for moment in np.linspace(0.0, 2 * np.pi, 252).tolist()))
    eventually(lambda: record.at()[0] > 0.1, 'the arm swings')
    eventually(lambda: 'no motion was stopped: joint' in (told := stop(client)).message
               and not told.success, 'a stop that says what it cannot stop')
    for _ in range(2):
        answer = client.wait(execute_later(client, ELSEWHERE))
        assert answer.status == Status.CONTROL_FAILED, answer.message
        # it is seen to swing before the check of the way, or after
        assert 'nothing was moved' in answer.message or 'nothing was sent' in answer.message
    assert len(commands(record)) == 1
