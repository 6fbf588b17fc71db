"""Controllers of kind follow_joint_trajectory, if control_msgs is installed."""

import pytest

pytest.importorskip('control_msgs.action')

from action_msgs.msg import GoalStatus  # noqa: E402
from arm_harness import ARM, distance, execute, HOME, stop  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from motion_requests import start_motion  # noqa: E402
from node_harness import eventually  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from ros2_ik.msg import Status  # noqa: E402

MAX_OVERSHOOT = 0.1   # of a busy mock robot that receives the braking late [rad]
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
    """Return a record of the arm, which is at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    return record


def test_action_controller_moves_the_arm(client, record):
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert distance(record.read(), ASIDE) < 1e-3 and not record.trajectories


def test_stop_brakes_an_action_goal(client, record):
    motion = start_motion(client, record, 'execute', velocity_scaling=0.3)
    since = len(record)
    assert stop(client).success
    assert motion.response().status == Status.PREEMPTED
    assert 0.03 < record.wait_for_rest()[0] < 1.8
    positions = record.motion(since).positions
    assert positions[:, 0].max() - positions[-1, 0] < MAX_OVERSHOOT


@pytest.mark.parametrize('moving', [True, False])
def test_goal_of_another_client_preempts_and_refuses_motions(client, record, moving):
    """The goal preempts a motion, and refuses new ones even while the arm is at rest."""
    other = ActionClient(client.node, FollowJointTrajectory, ACTION)
    eventually(other.server_is_ready, 'the action')
    motion = moving and start_motion(client, record, 'execute', velocity_scaling=0.3)
    trajectory = JointTrajectory(joint_names=list(ARM), points=[JointTrajectoryPoint(
        positions=list({**HOME, 'panda_joint1': to}.values()), velocities=[0.0] * 7,
        time_from_start=Duration(sec=seconds)) for to, seconds in ((0.0, 3), (-0.5, 4))])
    handle = client.wait(other.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory)))
    assert handle.accepted
    answer = motion.response() if moving else execute(client, {'panda_joint1': 1.0})
    assert answer.status == Status.CONTROL_FAILED, answer.message
    # received first: the status of the foreign goal, or the end of the node's goal
    assert 'another client' in answer.message or (
        moving and 'preempted by a new goal' in answer.message)
    ended = client.wait(handle.get_result_async())
    assert ended.status == GoalStatus.STATUS_SUCCEEDED, ended.result.error_string
    assert distance(record.wait_for_rest(), {'panda_joint1': -0.5}) < 1e-3
    other.destroy()
