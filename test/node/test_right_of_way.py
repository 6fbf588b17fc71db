"""Others command the same controller while a motion of ours is under way: they are let be."""

import importlib.util
import time

from action_msgs.msg import GoalStatus, GoalStatusArray
from arm_harness import (
    ARM,
    at_home,
    execute_later,
    FAST,
    HOME,
    knows_the_robot,
    mock_robot,
    POSITIONS,
    stop,
    TRAJECTORIES,
)
from builtin_interfaces.msg import Duration
from node_harness import eventually
import numpy as np
import pytest
from rclpy.action import ActionClient, ActionServer, GoalResponse
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.msg import Status

ELSEWHERE = {**HOME, 'panda_joint1': -0.5}
needs_action = pytest.mark.skipif(not importlib.util.find_spec('control_msgs.action'),
                                  reason='control_msgs is not installed')
ACTIONS = {'controllers': ['arm_controller'], 'arm_controller.group': 'arm',
           'arm_controller.kind': 'follow_joint_trajectory'}


@pytest.fixture
def mock(client, tmp_path):
    with mock_robot(client, tmp_path) as mock:
        yield mock


def theirs(seconds=2.0):
    """Give a trajectory of another client."""
    return JointTrajectory(joint_names=list(ARM), points=[JointTrajectoryPoint(
        positions=[ELSEWHERE[name] for name in ARM], velocities=[0.0] * 7,
        time_from_start=Duration(sec=int(seconds)))])


def heard(publisher):
    """Wait until controller, node and record listen, and have seen the publisher, too."""
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all listen')
    time.sleep(0.5)   # nothing tells of the second


def moving(client, record):
    """Begin a slow motion; gives the future when the arm moves."""
    future = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.2)
    eventually(lambda: record.at()[0] > 0.1, 'the arm moves')
    return future


def goes_where_they_want(record):
    """Wait until the arm stands, and see that it is where the other client sent it."""
    time.sleep(0.3)
    end = record.still()
    assert np.abs(end - [ELSEWHERE[name] for name in ARM]).max() < 1e-3, end


@pytest.mark.slow
def test_another_trajectory_on_the_topic(client, record, mock, start_node):
    node = start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    publisher = client.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory',
                                             10)
    future = moving(client, record)
    sent = len(record.trajectories)
    publisher.publish(theirs())
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client sends commands' in answer.message
    assert "'arm_controller'" in answer.message
    goes_where_they_want(record)
    assert len(record.trajectories) == sent + 1, 'something was sent after theirs'
    client.node.destroy_publisher(publisher)
    lines = [line for line in node.text.splitlines() if 'motion by service execute' in line]
    assert 'CONTROL_FAILED' in lines[-1] and 'with arm_controller' in lines[-1]
    assert execute_later(client, HOME) and not mock.process.poll()


@pytest.mark.slow
def test_another_goal_of_the_controllers_action(client, record, mock, start_node):
    """Its state tells of it, also where there is no control_msgs to send one with."""
    start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    action = 'arm_controller/follow_joint_trajectory'
    publisher = client.node.create_publisher(
        GoalStatusArray, f'{action}/_action/status',
        QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def tell(*states):
        publisher.publish(GoalStatusArray(status_list=[GoalStatus(status=each)
                                                       for each in states]))
    tell(GoalStatus.STATUS_SUCCEEDED)
    future = moving(client, record)
    sent = len(record.trajectories)
    tell(GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_EXECUTING)
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client sends commands' in answer.message and action in answer.message
    record.still()      # nobody moves it elsewhere here: it is where our motion ended
    refused = client.wait(execute_later(client, HOME))
    assert refused.status == Status.CONTROL_FAILED, refused.message
    assert f'another client has a goal under way on /{action}' in refused.message
    assert len(record.trajectories) == sent
    tell(GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_SUCCEEDED)
    eventually(lambda: client.wait(execute_later(client, HOME)).status == Status.SUCCESS,
               'a motion after it')
    client.node.destroy_publisher(publisher)


@pytest.mark.slow
def test_no_motion_begins_where_another_client_turns(client, record, mock, start_node):
    """The arm stands there for a moment."""
    start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    publisher = client.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory',
                                             10)
    swing, times = theirs(), np.linspace(0.0, 12.0, 481)
    points = []
    for moment in times.tolist():
        there = np.array([HOME[name] for name in ARM])
        there[0] += 0.1 * (1 - np.cos(4 * moment))
        seconds = 0.5 + moment
        points.append(JointTrajectoryPoint(
            positions=there.tolist(),
            velocities=[0.4 * np.sin(4 * moment) * (moment < 12), *[0.0] * 6],
            time_from_start=Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9))))
    swing.points = points
    heard(publisher)
    publisher.publish(swing)
    eventually(lambda: record.at()[0] > 0.1, 'the arm swings')
    eventually(lambda: 'no motion was stopped: joint' in (told := stop(client)).message
               and not told.success, 'a stop that says what it cannot stop')
    for _ in range(2):
        answer = client.wait(execute_later(client, ELSEWHERE))
        assert answer.status == Status.CONTROL_FAILED, answer.message
        # it is seen to swing before the check of the way, or after
        assert 'nothing was moved' in answer.message or 'nothing was sent' in answer.message
    assert not record.trajectories or len(record.trajectories) == 2   # home, and theirs
    client.node.destroy_publisher(publisher)


def test_another_stream_of_positions(client, record, mock, start_node):
    mock.set('active', POSITIONS['controllers'])
    start_node(**POSITIONS, **FAST)
    at_home(client)
    publisher = client.node.create_publisher(Float64MultiArray,
                                             'arm_position_controller/commands', 10)
    future = moving(client, record)
    aside = record.at().tolist()
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all listen')
    for _ in range(20):
        publisher.publish(Float64MultiArray(data=aside))
        time.sleep(0.01)
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client sends commands' in answer.message
    time.sleep(0.3)
    count = len(record.commands)
    assert np.abs(record.still() - aside).max() < 1e-6
    assert len(record.commands) == count, 'something was sent after theirs'
    client.node.destroy_publisher(publisher)


@pytest.mark.slow
def test_an_own_motion_is_no_other_client(client, record, mock, start_node):
    """Stopped and replaced ones, and what cannot be meant for these joints."""
    start_node(**TRAJECTORIES, **FAST, while_executing='replace')
    at_home(client)
    publisher = client.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory',
                                             10)
    first = moving(client, record)
    publisher.publish(JointTrajectory(joint_names=['wheel'], points=theirs().points))
    second = execute_later(client, {'panda_joint1': -0.3}, velocity_scaling=0.5)
    assert client.wait(first).status == Status.PREEMPTED
    answer = client.wait(second)
    assert answer.status == Status.SUCCESS, answer.message
    client.node.destroy_publisher(publisher)


@needs_action
@pytest.mark.parametrize(('controllers', 'why'), [
    (ACTIONS, 'preempted by a new goal'), (TRAJECTORIES, 'another client sends commands')],
    ids=['action', 'topic'])
def test_another_goal_preempts_ours(client, record, mock, start_node, controllers, why):
    """Nothing aborts it: the controller is sent nothing more."""
    from control_msgs.action import FollowJointTrajectory
    start_node(**controllers, **FAST)
    at_home(client)
    other = ActionClient(client.node, FollowJointTrajectory,
                         'arm_controller/follow_joint_trajectory')
    eventually(other.server_is_ready, 'the action')
    future = moving(client, record)
    handle = client.wait(other.send_goal_async(FollowJointTrajectory.Goal(trajectory=theirs())))
    assert handle.accepted
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert why in answer.message
    ended = client.wait(handle.get_result_async())
    assert ended.status == GoalStatus.STATUS_SUCCEEDED, ended.result.error_string
    goes_where_they_want(record)
    other.destroy()


@needs_action
@pytest.mark.parametrize('controllers', [ACTIONS, TRAJECTORIES], ids=['action', 'topic'])
@pytest.mark.parametrize('by_goal', [True, False], ids=['goal', 'trajectory'])
def test_no_motion_begins_while_theirs_lasts(client, record, mock, start_node, controllers,
                                             by_goal):
    """Though the arm stands: their first point is where it is, and it is there for a while."""
    from control_msgs.action import FollowJointTrajectory
    start_node(**controllers, **FAST)
    at_home(client)
    waits, sent = theirs(4.0), len(record.trajectories)
    waits.points.insert(0, JointTrajectoryPoint(
        positions=[HOME[name] for name in ARM], velocities=[0.0] * 7,
        time_from_start=Duration(sec=3)))
    if by_goal:
        other = ActionClient(client.node, FollowJointTrajectory,
                             'arm_controller/follow_joint_trajectory')
        eventually(other.server_is_ready, 'the action')
        handle = client.wait(other.send_goal_async(FollowJointTrajectory.Goal(trajectory=waits)))
        assert handle.accepted
    else:
        other = client.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory',
                                             10)
        heard(other)
        other.publish(waits)
    time.sleep(0.5)
    answer = client.wait(execute_later(client, {'panda_joint1': 1.0}))
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client' in answer.message, answer.message
    eventually(lambda: np.abs(record.at() - [ELSEWHERE[name] for name in ARM]).max() < 1e-3,
               'their goal')
    assert len(record.trajectories) == sent + (not by_goal)
    eventually(lambda: client.wait(execute_later(client, HOME)).status == Status.SUCCESS,
               'a motion after it')
    # own goals are nobody else's, neither while they run nor when they are over
    assert client.wait(execute_later(client, {'panda_joint1': 0.3})).status == Status.SUCCESS
    other.destroy() if by_goal else client.node.destroy_publisher(other)


@pytest.mark.slow
@needs_action
def test_another_trajectory_during_a_goal(client, record, mock, start_node):
    start_node(**ACTIONS, **FAST)
    at_home(client)
    publisher = client.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory',
                                             10)
    future = moving(client, record)
    publisher.publish(theirs())
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    goes_where_they_want(record)
    client.node.destroy_publisher(publisher)


@needs_action
@pytest.mark.parametrize('end', ['rejected', 'aborted', 'canceled'])
def test_a_goal_that_ends_is_not_followed_by_another(client, record, start_node, end):
    """Neither after it was rejected, nor after the controller gave it up."""
    from control_msgs.action import FollowJointTrajectory
    goals = []

    def judge(_):
        goals.append(time.monotonic())
        return GoalResponse.REJECT if end == 'rejected' else GoalResponse.ACCEPT

    def run(goal):
        time.sleep(0.2)
        if end == 'aborted':
            goal.abort()
            return FollowJointTrajectory.Result(error_code=-4, error_string='too far')
        goal.abort()
        return FollowJointTrajectory.Result(
            error_code=-1, error_string='Current goal cancelled due to new incoming action.')
    server = ActionServer(client.node, FollowJointTrajectory,
                          'other_controller/follow_joint_trajectory', run, goal_callback=judge)
    start_node(controllers=['other_controller'], max_tracking_error=0.0, **FAST, **{
        'other_controller.kind': 'follow_joint_trajectory', 'other_controller.group': 'arm'})
    answer = eventually(
        lambda: (found := client.wait(execute_later(client, {'panda_joint1': 1.0}))).status
        == Status.CONTROL_FAILED and goals and found, 'an answer', 60)
    text = {'rejected': 'rejected the trajectory', 'aborted': 'gave up: too far (-4)',
            'canceled': 'cancelled due to new incoming action'}[end]
    assert text in answer.message, answer.message
    time.sleep(0.5)
    assert len(goals) == 1
    server.destroy()
    if end == 'rejected':
        assert answer.motion_seconds == 0 and answer.message.startswith('nothing was moved')


@needs_action
@pytest.mark.parametrize('accepts', [True, False])
def test_a_goal_that_is_not_answered_is_no_rest(client, record, mock, start_node, accepts):
    """A stop is answered once the controller has said whether it takes what was sent before."""
    from control_msgs.action import FollowJointTrajectory
    asked, answered = [], []

    def judge(_):
        asked.append(time.monotonic())
        time.sleep(1.0)
        answered.append(time.monotonic())
        return GoalResponse.ACCEPT if accepts else GoalResponse.REJECT

    def run(goal):
        goal.succeed()
        return FollowJointTrajectory.Result()
    server = ActionServer(client.node, FollowJointTrajectory,
                          'other_controller/follow_joint_trajectory', run, goal_callback=judge)
    start_node(controllers=['other_controller'], max_tracking_error=0.0, **FAST, **{
        'other_controller.kind': 'follow_joint_trajectory', 'other_controller.group': 'arm'})
    knows_the_robot(client)
    # joints may not be known for a moment, nor the action
    def begun():
        future = execute_later(client, {'panda_joint1': 0.5})
        eventually(lambda: asked or future.done(), 'a goal or an answer')
        return future if asked else None
    future = eventually(begun, 'a goal', 60)
    assert stop(client).success
    answer = client.wait(future)
    assert answered and answered[0] <= time.monotonic()
    assert len(answered) == len(asked), 'ended while a goal was not answered'
    assert answer.status == Status.PREEMPTED, answer.message
    assert (answer.motion_seconds == 0) is not accepts, answer.message
    server.destroy()
