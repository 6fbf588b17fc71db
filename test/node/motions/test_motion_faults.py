"""Faults that stop a running motion or refuse a new one; the reply names the reason."""

import re

from action_msgs.msg import GoalStatus
from arm_harness import ARM, distance, execute, HOME, set_standard_parameters, stop
from motion_requests import FAR, NEAR, RequestedMotion, start_motion
from moveit_msgs.msg import AllowedCollisionMatrix, RobotState
from node_harness import eventually, reachable
import pytest
from scene_harness import applied, attached, box, diff, pose
from sensor_msgs.msg import JointState

from ros2_ik.msg import Status

ASIDE = {'panda_joint1': -0.5, 'panda_joint4': -2.0}
MAX_OVERSHOOT = 0.1   # of a busy mock robot that receives the braking late [rad]


@pytest.fixture(autouse=True)
def slow(client, mock):
    """Start each test without faults, and with slow motions."""
    set_standard_parameters(client, mock)
    assert client.set('velocity_scaling', 0.3).successful


@pytest.fixture
def record(record):
    """Return a record of an arm at rest."""
    record.wait_for_rest()
    record.trajectories.clear()
    return record


def assert_braked(record):
    """Assert that the arm rests short of FAR, at the end of a braking trajectory."""
    assert 0.03 < record.wait_for_rest()[0] < 1.9
    first, *_, last = record.trajectories
    assert not any(last.points[-1].velocities)
    assert last.points[-1].positions[0] < first.points[-1].positions[0] - 0.1
    assert distance(record.read(), {'panda_joint1': last.points[-1].positions[0]}) < 1e-3


def test_stop_service_brakes_a_motion(client, record):
    motion, since = start_motion(client, record, 'compute_ik'), len(record)
    answer = stop(client)
    assert answer.success and answer.message == '1 motion is being stopped'
    response = motion.response()
    assert response.status == Status.PREEMPTED and 'by service stop' in response.message
    assert_braked(record)
    positions = record.motion(since).positions
    assert positions[:, 0].max() - positions[-1, 0] < MAX_OVERSHOOT
    assert stop(client).message == 'nothing was moving'


def test_cancelled_goal_brakes_the_arm_and_returns_its_solution(client, record):
    """The result arrives after the arm has stopped."""
    motion = start_motion(client, record, 'solve_constrained_ik')
    motion.goal.cancel()
    state, response = motion.goal.result(60)
    assert state == GoalStatus.STATUS_CANCELED and response.status == Status.PREEMPTED
    assert 'stopped on the way' in response.message and response.solution.joint_state.name
    assert_braked(record)


@pytest.mark.parametrize(('interface', 'name', 'value', 'words'), [
    ('execute', 'publish_joint_states', False, 'execute_state_timeout'),
    ('compute_ik', 'nan_joint', 'panda_joint3', "'panda_joint3'")])
def test_missing_or_nan_joint_states_stop_a_motion(
        client, record, mock, interface, name, value, words):
    """The running motion ends as ROBOT_STATE_STALE, and the next one is refused."""
    assert client.set('velocity_scaling', 0.1).successful
    motion = start_motion(client, record, interface)
    mock.set(name, value)
    first = motion.response()
    assert first.status == Status.ROBOT_STATE_STALE and first.motion_seconds > 0, first.message
    assert 'stopped on the way' in first.message and words in first.message
    sent = len(record.trajectories)
    second = RequestedMotion(client, interface, FAR).response()
    assert second.status == Status.ROBOT_STATE_STALE and second.motion_seconds == 0, second.message
    assert words in second.message and len(record.trajectories) == sent
    mock.set(name, '' if value else True)
    assert_braked(record)


def test_motion_of_a_stuck_arm_fails_beyond_max_tracking_error(client, record, mock):
    motion = start_motion(client, record, 'execute')
    mock.set('blocked', True)
    response = motion.response()
    assert response.status == Status.CONTROL_FAILED, response.message
    joint, position, commanded, error = re.search(
        r"joint '(\w+)' does not follow: it was at (\S+), commanded to be at (\S+), "
        r'and (\S+) from', response.message).groups()
    assert joint == 'panda_joint1' and 0.2 <= float(error) < 0.6   # at 0.65 rad/s
    assert abs(float(position) - record.read()[0]) < 1e-3
    assert float(commanded) > float(position) + 0.2
    assert 'max_tracking_error allows 0.2' in response.message


def test_motion_that_does_not_arrive_fails_after_arrival_timeout(client, record, mock):
    """The reply names the joint and its distance; max_tracking_error 0 means no limit."""
    assert client.set('arrival_timeout', 0.3).successful
    assert client.set('max_tracking_error', 0.0).successful
    mock.set('blocked', True)
    response = RequestedMotion(client, 'execute', ASIDE, velocity_scaling=1.0).response()
    assert response.status == Status.CONTROL_FAILED, response.message
    assert response.motion_seconds > 0
    joint, position, error = re.search(r"joint '(\w+)' is at (\S+), (\S+) from its goal",
                                       response.message).groups()
    assert joint == 'panda_joint1'
    assert float(position) == pytest.approx(0.0, abs=2e-3)
    assert float(error) == pytest.approx(0.5, abs=2e-3)
    assert distance(record.wait_for_rest(), {}) < 2e-3


@pytest.mark.parametrize('interface, fields', [
    ('execute', {}),
    ('compute_ik', {'allowed_collisions': AllowedCollisionMatrix(
        default_entry_names=['panda_hand'], default_entry_values=[False])}),
    ('solve_constrained_ik', {'seed': RobotState(is_diff=True, attached_collision_objects=[
        attached(box('nut', 0.01, at=pose(0.0, 0.0, 0.1), frame='panda_hand'),
                 touch=['panda_leftfinger', 'panda_rightfinger'])])})])
def test_new_obstacle_on_the_path_stops_a_motion(client, record, interface, fields):
    """An obstacle beside the path does not stop it; the next motion is refused as well."""
    assert client.set('velocity_scaling', 0.15).successful
    motion = start_motion(client, record, interface, **fields)
    applied(client, diff(box('aside', at=pose(-0.6, -0.6, 0.5))))
    applied(client, diff(box('late', 0.16, at=pose(0.06, 0.34, 0.55))))
    response = motion.response()
    for answer in (response, RequestedMotion(client, 'execute', FAR).response()):
        assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
        assert 'late' in {name for c in answer.contacts for name in (c.contact_body_1,
                                                                     c.contact_body_2)}
    assert 'stopped on the way: the scene has changed, and ahead' in response.message
    assert answer.motion_seconds == 0
    assert 0.0 < record.wait_for_rest()[0] < 0.7


def test_second_motion_is_refused_while_the_first_runs(client, record):
    first = start_motion(client, record, 'execute')
    second = RequestedMotion(client, 'solve_constrained_ik', ASIDE).response()
    assert second.status == Status.CONTROL_FAILED and second.motion_seconds == 0, second.message
    assert 'another motion of these joints is under way' in second.message
    assert not first.done() and first.response().status == Status.SUCCESS
    assert distance(record.wait_for_rest(), FAR) < 1e-3 and len(record.trajectories) == 1


PERIOD = 0.02      # of the second publisher: 50 Hz [s]
STALE = Status.ROBOT_STATE_STALE


def zeros():
    return JointState(name=list(ARM), position=[0.0] * len(ARM))


def wait_for_refusal(client, words):
    """Request motions until one is refused before its start, with `words` in the reply."""
    def refusal():
        answer = execute(client, NEAR)
        # a motion that starts before the node receives the faulty message is stopped later
        return (answer.status == STALE and words in answer.message
                and answer.motion_seconds == 0 and answer)
    return eventually(refusal, words)


def test_contradicting_joint_states_refuse_a_motion(client, record, panda):
    with client.publishing('joint_states', zeros(), PERIOD, stamped=True):
        eventually(lambda: execute(client, HOME).status == STALE, 'the second publisher')
        sent = len(record.trajectories)
        answer = wait_for_refusal(client, '/mock_robot')
        assert 'contradict' in answer.message and '/test_client' in answer.message
        assert "'panda_joint2'" in answer.message     # the first joint that differs
        assert '-0.7854' in answer.message and ' 0' in answer.message
        answer = client.ik(targets=[reachable(panda, 'panda_hand_tcp')], execute=True)
        assert answer.status == STALE and 'contradict' in answer.message, answer.message
    record.wait_for_rest()
    assert len(record.trajectories) == sent
    eventually(lambda: execute(client, NEAR).status == Status.SUCCESS, 'consistent joint_states')


def test_contradicting_joint_states_stop_a_motion(client, record):
    motion = start_motion(client, record, 'execute', 0.25)
    with client.publishing('joint_states', zeros(), PERIOD):
        answer = motion.response()
        assert answer.status == STALE and 'stopped on the way' in answer.message, answer.message
        assert 'contradict' in answer.message and '/test_client' in answer.message
    assert 0.1 < record.wait_for_rest()[0] < 1.0


@pytest.mark.parametrize('offset', [-0.6, 2.0])
def test_old_and_future_stamps_refuse_a_motion(client, home, mock, offset):
    mock.set('clock_offset', offset)
    answer = wait_for_refusal(client, 'execute_state_timeout')
    found = re.search(r'are ([\d.]+) s old \(received ([\d.e-]+) s ago\)', answer.message)
    assert found and abs(float(found[1]) - abs(offset)) < 0.4 and float(found[2]) < 0.4


def test_joint_states_without_stamps_refuse_a_motion(client, mock, record):
    mock.set('stamp', False)
    wait_for_refusal(client, 'header.stamp')
    record.wait_for_rest()
    sent = len(record.trajectories)
    answer = execute(client, HOME)
    assert answer.status == STALE and answer.motion_seconds == 0, answer.message
    assert "joint_states of joint 'panda_joint1' have no header.stamp" in answer.message
    assert len(record.trajectories) == sent
