"""Events that stop a running motion or refuse a new one; the reply names the reason."""

import re

from action_msgs.msg import GoalStatus
from arm_harness import ARM, execute, HOME, near, set_usual, stop
from motion_requests import FAR, moving, NEAR, Requested
from moveit_msgs.msg import AllowedCollisionMatrix, RobotState
from node_harness import eventually, reachable
import pytest
from scene_harness import applied, attached, box, diff, pose
from sensor_msgs.msg import JointState

from ros2_ik.msg import Status

ASIDE = {'panda_joint1': -0.5, 'panda_joint4': -2.0}
BACK = 0.1   # a busy arm that hears late of the braking has to come back this far [rad]


@pytest.fixture(autouse=True)
def slow(client, mock):
    """Start each test without faults and with slow motions."""
    set_usual(client, mock)
    assert client.set('velocity_scaling', 0.3).successful


@pytest.fixture
def record(record):
    """Return a record of an arm at rest."""
    record.still()
    record.trajectories.clear()
    return record


def stopped_short(record):
    """Wait until the arm stands short of its goal; its last command was to brake."""
    assert 0.03 < record.still()[0] < 1.9
    first, *_, last = record.trajectories
    assert not any(last.points[-1].velocities)
    assert last.points[-1].positions[0] < first.points[-1].positions[0] - 0.1
    assert near(record.at(), {'panda_joint1': last.points[-1].positions[0]}) < 1e-3


def test_stop_service_brakes_a_motion(client, record):
    asked, since = moving(client, record, 'compute_ik'), len(record)
    answer = stop(client)
    assert answer.success and answer.message == '1 motion is being stopped'
    ended = asked.answer()
    assert ended.status == Status.PREEMPTED and 'by service stop' in ended.message
    stopped_short(record)
    positions = record.way(since).positions
    assert positions[:, 0].max() - positions[-1, 0] < BACK
    assert stop(client).message == 'nothing was moving'


def test_cancelled_goal_brakes_and_keeps_its_solution(client, record):
    """The result arrives after the arm has stopped."""
    asked = moving(client, record, 'solve_constrained_ik')
    asked.goal.cancel()
    state, ended = asked.goal.result(60)
    assert state == GoalStatus.STATUS_CANCELED and ended.status == Status.PREEMPTED
    assert 'stopped on the way' in ended.message and ended.solution.joint_state.name
    stopped_short(record)


# -- joint_states, and the arm ---------------------------------------------------------------

@pytest.mark.parametrize(('way', 'name', 'value', 'words'), [
    ('execute', 'publish_joint_states', False, 'execute_state_timeout'),
    ('compute_ik', 'nan_joint', 'panda_joint3', "'panda_joint3'")])
def test_missing_or_nan_joint_states_stop_a_motion(client, record, mock, way, name, value, words):
    """The running motion ends as ROBOT_STATE_STALE, and the next one is refused."""
    assert client.set('velocity_scaling', 0.1).successful
    asked = moving(client, record, way)
    mock.set(name, value)
    ended = asked.answer()
    assert ended.status == Status.ROBOT_STATE_STALE and ended.motion_seconds > 0, ended.message
    assert 'stopped on the way' in ended.message and words in ended.message
    sent = len(record.trajectories)
    again = Requested(client, way, FAR).answer()
    assert again.status == Status.ROBOT_STATE_STALE and again.motion_seconds == 0, again.message
    assert words in again.message and len(record.trajectories) == sent
    mock.set(name, '' if value else True)
    stopped_short(record)


def test_stuck_arm_is_stopped_by_max_tracking_error(client, record, mock):
    """The reply names the joint, its position and its command."""
    asked = moving(client, record, 'execute')
    mock.set('blocked', True)
    ended = asked.answer()
    assert ended.status == Status.CONTROL_FAILED, ended.message
    joint, at, commanded, far = re.search(
        r"joint '(\w+)' does not follow: it was at (\S+), commanded to be at (\S+), "
        r'and (\S+) from', ended.message).groups()
    assert joint == 'panda_joint1' and 0.2 <= float(far) < 0.6   # it moves at 0.65 rad/s
    assert abs(float(at) - record.at()[0]) < 1e-3 and float(commanded) > float(at) + 0.2
    assert 'max_tracking_error allows 0.2' in ended.message


def test_arm_that_does_not_arrive_fails_after_arrival_timeout(client, record, mock):
    """The reply names joint and distance from the goal; max_tracking_error 0 is unlimited."""
    assert client.set('arrival_timeout', 0.3).successful
    assert client.set('max_tracking_error', 0.0).successful
    mock.set('blocked', True)
    ended = Requested(client, 'execute', ASIDE, velocity_scaling=1.0).answer()
    assert ended.status == Status.CONTROL_FAILED and ended.motion_seconds > 0, ended.message
    joint, at, far = re.search(r"joint '(\w+)' is at (\S+), (\S+) from its goal",
                               ended.message).groups()
    assert joint == 'panda_joint1'
    assert float(at) == pytest.approx(0.0, abs=2e-3) and float(far) == pytest.approx(0.5, abs=2e-3)
    assert near(record.still(), {}) < 2e-3


@pytest.mark.parametrize('way, fields', [
    ('execute', {}),
    ('compute_ik', {'allowed_collisions': AllowedCollisionMatrix(
        default_entry_names=['panda_hand'], default_entry_values=[False])}),
    ('solve_constrained_ik', {'seed': RobotState(is_diff=True, attached_collision_objects=[
        attached(box('nut', 0.01, at=pose(0.0, 0.0, 0.1), frame='panda_hand'),
                 touch=['panda_leftfinger', 'panda_rightfinger'])])})])
def test_new_obstacle_on_the_path_stops_a_motion(client, record, way, fields):
    """An obstacle beside the path does not stop it; the next motion there is refused."""
    assert client.set('velocity_scaling', 0.15).successful
    asked = moving(client, record, way, **fields)
    applied(client, diff(box('aside', at=pose(-0.6, -0.6, 0.5))))
    applied(client, diff(box('late', 0.16, at=pose(0.06, 0.34, 0.55))))
    ended = asked.answer()
    for answer in (ended, Requested(client, 'execute', FAR).answer()):
        assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
        assert 'late' in {name for c in answer.contacts for name in (c.contact_body_1,
                                                                     c.contact_body_2)}
    assert 'stopped on the way: the scene has changed, and ahead' in ended.message
    assert answer.motion_seconds == 0
    assert 0.0 < record.still()[0] < 0.7


# -- several who want the arm ----------------------------------------------------------------

def test_second_motion_is_refused_while_the_first_runs(client, record):
    first = moving(client, record, 'execute')
    second = Requested(client, 'solve_constrained_ik', ASIDE).answer()
    assert second.status == Status.CONTROL_FAILED and second.motion_seconds == 0, second.message
    assert 'another motion of these joints is under way' in second.message
    assert not first.done() and first.answer().status == Status.SUCCESS
    assert near(record.still(), FAR) < 1e-3 and len(record.trajectories) == 1


# -- a second publisher of joint_states, and stamps that are off ---------------------------------

PERIOD = 0.02      # of the second publisher: 50 Hz [s]
STALE = Status.ROBOT_STATE_STALE


def zeros():
    return JointState(name=list(ARM), position=[0.0] * len(ARM))


def refused(client, words):
    """Request motions until one is refused with these words before it starts."""
    def asked():
        answer = execute(client, NEAR)
        # a motion that began before the node had read such a message is stopped on the way
        return (answer.status == STALE and words in answer.message
                and answer.motion_seconds == 0 and answer)
    return eventually(asked, words)


def test_contradicting_joint_states_refuse_a_motion(client, record, panda):
    with client.publishing('joint_states', zeros(), PERIOD, stamped=True):
        eventually(lambda: execute(client, HOME).status == STALE, 'that the other is heard')
        sent = len(record.trajectories)
        answer = refused(client, '/mock_robot')
        assert 'contradict' in answer.message and '/test_client' in answer.message
        assert "'panda_joint2'" in answer.message     # the first of those that differ
        assert '-0.7854' in answer.message and ' 0' in answer.message
        answer = client.ik(targets=[reachable(panda, 'panda_hand_tcp')], execute=True)
        assert answer.status == STALE and 'contradict' in answer.message, answer.message
    record.still()
    assert len(record.trajectories) == sent
    eventually(lambda: execute(client, NEAR).status == Status.SUCCESS, 'one truth again')


def test_contradicting_joint_states_stop_a_motion(client, record):
    asked = moving(client, record, 'execute', 0.25)
    with client.publishing('joint_states', zeros(), PERIOD):
        answer = asked.answer()
        assert answer.status == STALE and 'stopped on the way' in answer.message, answer.message
        assert 'contradict' in answer.message and '/test_client' in answer.message
    assert 0.1 < record.still()[0] < 1.0


# -- stamps ---------------------------------------------------------------------------------

@pytest.mark.parametrize('offset', [-0.6, 2.0])
def test_old_and_future_stamps_refuse_a_motion(client, home, mock, offset):
    """The clock of the driver is behind or ahead of the clock of the node."""
    mock.set('clock_offset', offset)
    answer = refused(client, 'execute_state_timeout')
    found = re.search(r'are ([\d.]+) s old \(received ([\d.e-]+) s ago\)', answer.message)
    assert found and abs(float(found[1]) - abs(offset)) < 0.4 and float(found[2]) < 0.4


def test_joint_states_without_stamps_refuse_a_motion(client, mock, record):
    sent = len(record.trajectories)
    mock.set('stamp', False)
    answer = refused(client, 'header.stamp')
    assert "joint_states of joint 'panda_joint1' have no header.stamp" in answer.message
    assert len(record.trajectories) == sent
