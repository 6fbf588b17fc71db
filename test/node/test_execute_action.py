"""Kind follow_joint_trajectory, where control_msgs is installed."""

import pytest

pytest.importorskip('control_msgs.action')

from arm_harness import execute, execute_later, goal_request, HOME, near, stop  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from node_harness import eventually, nodes  # noqa: E402
from rclpy.action import ActionServer, GoalResponse  # noqa: E402

from ros2_ik.msg import Status  # noqa: E402
from ros2_ik.srv import Execute  # noqa: E402

BACK = 0.1   # a busy arm that hears late of the braking has to come back this far [rad]
ASIDE = {'panda_joint1': 0.4, 'panda_joint4': -2.0}


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that moves the mock robot by the action."""
    return start_shared_node(controllers=['arm_controller'], velocity_scaling=1.0,
                             **{'arm_controller.kind': 'follow_joint_trajectory',
                                'arm_controller.group': 'arm'})


@pytest.fixture
def record(client, node, record):
    """Give a record, with the arm at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    return record


def test_goes_there(client, record):
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert near(record.at(), ASIDE) < 1e-3 and not record.trajectories


def test_stop_brakes(client, record):
    future = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.3)
    eventually(lambda: record.at()[0] > 0.05, 'the arm moves')
    since = len(record.states)
    assert stop(client).success
    assert client.wait(future).status == Status.PREEMPTED
    assert 0.05 < record.still()[0] < 1.8
    _, positions = record.way(since)
    assert positions[:, 0].max() - positions[-1, 0] < BACK


@pytest.mark.parametrize('accepts, text', [
    (False, "'refusing_controller' rejected the trajectory"),
    (True, "'refusing_controller' gave up: no more (-4)")])
def test_a_controller_that_refuses(client, record, domain, tmp_path, accepts, text):
    def give_up(goal):
        goal.abort()
        return FollowJointTrajectory.Result(error_code=-4, error_string='no more')
    server = ActionServer(
        client.node, FollowJointTrajectory, 'refusing_controller/follow_joint_trajectory', give_up,
        goal_callback=lambda _: GoalResponse.ACCEPT if accepts else GoalResponse.REJECT)
    with nodes(domain, tmp_path) as start:
        start(('__node:=other_ik',), controllers=['refusing_controller'],
              **{'refusing_controller.kind': 'follow_joint_trajectory',
                 'refusing_controller.group': 'arm'})
        answer = eventually(lambda: (found := client.call(
            Execute, 'other_ik/execute', goal_request(ASIDE))).status == Status.CONTROL_FAILED
            and 'no action' not in found.message and found, 'an answer')
    server.destroy()
    assert text in answer.message, answer.message
    assert near(record.at(), {}) < 1e-3
