"""The mock robot's action follow_joint_trajectory; needs control_msgs."""

from mock_harness import ARM, HOME, positions, TOPIC, trajectory
import pytest

pytest.importorskip('control_msgs.action')

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTolerance  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402


@pytest.fixture(scope='module')
def client(mock):
    client = ActionClient(mock.node, FollowJointTrajectory,
                          'arm_controller/follow_joint_trajectory')
    mock.until(client.server_is_ready, 'the action')
    yield client
    client.destroy()


@pytest.fixture
def arm(mock, client):
    """Return the mock robot with its arm at rest at home."""
    if [mock.wait_for_rest()[joint] for joint in ARM] != HOME:
        mock.move(TOPIC, trajectory(ARM, (0.3, HOME)))
    return mock


def goal(seconds, shift, *tolerances, goal_time=0):
    message = trajectory(ARM, (seconds, [at + shift for at in HOME]))
    return FollowJointTrajectory.Goal(trajectory=message, goal_tolerance=list(tolerances),
                                      goal_time_tolerance=Duration(sec=goal_time))


def call_action(mock, function):
    """Call a function of an action client; wait for its future and return the result."""
    future = mock.client.on_executor(function)
    mock.until(future.done, 'an answer to the goal')
    return future.result()


def send(mock, client, request):
    return call_action(mock, lambda: client.send_goal_async(request))


def result(mock, handle):
    answer = call_action(mock, handle.get_result_async)
    return answer.status, answer.result


def test_action_goal_succeeds_at_the_end_of_its_trajectory(arm, client):
    handle = send(arm, client, goal(1.0, 0.2))
    assert handle.accepted
    status, answer = result(arm, handle)
    assert (status, answer.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0)
    assert arm.wait_for_rest()[ARM[0]] == pytest.approx(0.2)   # joint_states may be late


def test_malformed_goal_is_rejected(arm, client):
    request = FollowJointTrajectory.Goal(trajectory=trajectory(ARM[:6], (1.0, HOME[:6])))
    assert not send(arm, client, request).accepted
    arm.wait_for_log('refused a trajectory: joint names', 0)


def test_new_goal_aborts_the_running_one(arm, client):
    first = send(arm, client, goal(20.0, 0.2))
    second = send(arm, client, goal(0.5, 0.1))
    status, answer = result(arm, first)
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, -1)
    assert 'preempted' in answer.error_string
    assert result(arm, second)[0] == GoalStatus.STATUS_SUCCEEDED
    assert arm.wait_for_rest()[ARM[0]] == pytest.approx(0.1)


def test_cancelled_goal_holds_the_position(arm, client):
    handle = send(arm, client, goal(20.0, 0.5))
    arm.until(lambda: positions(arm.states[-1])[ARM[0]] > 0.01, 'motion')
    call_action(arm, handle.cancel_goal_async)
    status, _ = result(arm, handle)
    assert status == GoalStatus.STATUS_CANCELED
    stopped = arm.wait_for_rest()
    assert 0.01 < stopped[ARM[0]] < 0.5
    assert arm.wait_for_states(20) == stopped


def test_goal_without_tolerances_succeeds_even_if_the_arm_is_blocked(arm, client):
    arm.set('blocked', True)
    status, _ = result(arm, send(arm, client, goal(0.5, 0.3)))
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert positions(arm.states[-1])[ARM[0]] == 0.0
    arm.set('blocked', False)


def test_violated_goal_and_path_tolerances_abort_the_goal(arm, client):
    tolerance = JointTolerance(name=ARM[0], position=0.01)
    arm.set('blocked', True)
    status, answer = result(arm, send(arm, client, goal(0.5, 0.3, tolerance, goal_time=1)))
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, -5)
    request = goal(10.0, 0.3)
    request.path_tolerance = [tolerance]
    status, answer = result(arm, send(arm, client, request))
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, -4)
    assert ARM[0] in answer.error_string
    arm.set('blocked', False)
    status, _ = result(arm, send(arm, client, goal(0.5, 0.1, tolerance)))
    assert status == GoalStatus.STATUS_SUCCEEDED
