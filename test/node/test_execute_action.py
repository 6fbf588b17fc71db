"""Controllers of kind follow_joint_trajectory, if control_msgs is installed."""

import pytest

pytest.importorskip('control_msgs.action')

from action_msgs.msg import GoalStatus  # noqa: E402
from arm_harness import ARM, execute, HOME, near, stop  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from motion_requests import moving  # noqa: E402
from node_harness import eventually  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from ros2_ik.msg import Status  # noqa: E402

BACK = 0.1   # a busy arm that hears late of the braking has to come back this far [rad]
ASIDE = {'panda_joint1': 0.4, 'panda_joint4': -2.0}
ACTION = 'arm_controller/follow_joint_trajectory'


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Return a node that moves the mock robot by the action."""
    return start_shared_node(controllers=['arm_controller'], velocity_scaling=1.0,
                             **{'arm_controller.kind': 'follow_joint_trajectory',
                                'arm_controller.group': 'arm'})


@pytest.fixture
def record(client, node, record):
    """Return a record, with the arm at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    return record


def test_action_controller_moves_the_arm(client, record):
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert near(record.at(), ASIDE) < 1e-3 and not record.trajectories


def test_stop_brakes_an_action_goal(client, record):
    asked, since = moving(client, record, 'execute', velocity_scaling=0.3), len(record)
    assert stop(client).success
    assert asked.answer().status == Status.PREEMPTED
    assert 0.03 < record.still()[0] < 1.8
    positions = record.way(since).positions
    assert positions[:, 0].max() - positions[-1, 0] < BACK


@pytest.mark.parametrize('begun', [True, False])
def test_goal_of_another_client_has_the_right_of_way(client, record, begun):
    """It preempts a motion, and no motion starts while it lasts, even if the arm stands."""
    other = ActionClient(client.node, FollowJointTrajectory, ACTION)
    eventually(other.server_is_ready, 'the action')
    asked = moving(client, record, 'execute', velocity_scaling=0.3) if begun else None
    theirs = JointTrajectory(joint_names=list(ARM), points=[JointTrajectoryPoint(
        positions=list({**HOME, 'panda_joint1': to}.values()), velocities=[0.0] * 7,
        time_from_start=Duration(sec=seconds)) for to, seconds in ((0.0, 3), (-0.5, 4))])
    handle = client.wait(other.send_goal_async(FollowJointTrajectory.Goal(trajectory=theirs)))
    assert handle.accepted
    answer = asked.answer() if begun else execute(client, {'panda_joint1': 1.0})
    assert answer.status == Status.CONTROL_FAILED, answer.message
    # what is noticed first: the state of their goal, or the end of this node's goal
    assert 'another client' in answer.message or (
        begun and 'preempted by a new goal' in answer.message)
    ended = client.wait(handle.get_result_async())
    assert ended.status == GoalStatus.STATUS_SUCCEEDED, ended.result.error_string
    assert near(record.still(), {'panda_joint1': -0.5}) < 1e-3
    other.destroy()
