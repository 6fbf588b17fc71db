"""What goes wrong while the arm moves, however it was asked for: it stops, and it is said why."""

import re
import time

from action_msgs.msg import GoalStatus
from arm_harness import ARM, execute, FAST, HOME, near, Recorder, stop, TRAJECTORIES
from motion_requests import FAR, moving, Requested, SLOW, WAYS
from moveit_msgs.msg import AllowedCollisionMatrix, LinkPadding, RobotState
from node_harness import Client, eventually
import numpy as np
import pytest
from scene_harness import applied, attached, box, diff, empty, pose

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow

ASIDE = {'panda_joint1': 0.5, 'panda_joint4': -2.0}


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that moves it."""
    return start_shared_node(**TRAJECTORIES, **FAST)


@pytest.fixture
def record(client, node, mock):
    """Give a record with the arm at home in an empty scene; it must end without a defect."""
    record = Recorder(client)
    for name, value in (('publish_joint_states', True), ('follow', True), ('nan_joint', '')):
        mock.set(name, value)
    record.listen()
    eventually(lambda: execute(client, HOME, avoid_collisions=False).status == Status.SUCCESS,
               'the arm at home', 90.0)
    empty(client)
    for name, value in (*SLOW.items(), ('while_executing', 'refuse'), ('arrival_timeout', 2.0),
                        ('max_tracking_error', 0.2)):
        assert client.set(name, value).successful
    record.still()
    record.trajectories.clear()
    yield record
    assert client.set('velocity_scaling', 1.0).successful
    record.close()
    assert 'defect' not in mock.text, mock.text


def stopped_short(record):
    """Wait until the arm stands, not where it was going to; the last command was to brake."""
    assert 0.03 < record.still()[0] < 1.9
    first, *_, last = record.trajectories
    assert not any(last.points[-1].velocities)
    assert last.points[-1].positions[0] < first.points[-1].positions[0] - 0.1
    assert near(record.at(), {'panda_joint1': last.points[-1].positions[0]}) < 1e-3


# -- joint_states ----------------------------------------------------------------------------

@pytest.mark.parametrize('way', ['solve_constrained_ik'])
def test_joint_states_stop(client, record, mock, way):
    asked = moving(client, record, way)
    mock.set('publish_joint_states', False)
    ended = asked.answer()
    assert ended.status == Status.ROBOT_STATE_STALE, ended.message
    assert 'stopped on the way' in ended.message and 'execute_state_timeout' in ended.message
    assert ended.motion_seconds > 0
    again = Requested(client, way, FAR).answer()
    assert again.status == Status.ROBOT_STATE_STALE and again.motion_seconds == 0
    mock.set('publish_joint_states', True)
    stopped_short(record)


@pytest.mark.parametrize('way', ['compute_ik'])
def test_nan_in_joint_states(client, record, mock, way):
    """A motion that runs ends as stale, and none begins."""
    asked = moving(client, record, way)
    mock.set('nan_joint', 'panda_joint3')
    ended = asked.answer()
    assert ended.status == Status.ROBOT_STATE_STALE, ended.message
    assert 'stopped on the way' in ended.message and "'panda_joint3'" in ended.message
    sent = len(record.trajectories)
    again = Requested(client, way, FAR).answer()
    assert again.status == Status.ROBOT_STATE_STALE and again.motion_seconds == 0, again.message
    assert "'panda_joint3'" in again.message
    assert len(record.trajectories) == sent
    mock.set('nan_joint', '')
    stopped_short(record)


# -- the controller --------------------------------------------------------------------------

@pytest.mark.parametrize('way', ['execute'])
def test_an_arm_that_does_not_follow(client, record, mock, way):
    """The answer says which joint is how far from its goal."""
    assert client.set('velocity_scaling', 1.0).successful
    assert client.set('arrival_timeout', 0.3).successful
    assert client.set('max_tracking_error', 0.0).successful
    mock.set('follow', False)
    ended = Requested(client, way, ASIDE).answer()
    mock.set('follow', True)
    assert ended.status == Status.CONTROL_FAILED and ended.motion_seconds > 0, ended.message
    joint, more, at, far = re.search(r"joint '(\w+)' \(and (\d) more\) is at (\S+), (\S+) from "
                                     'its goal', ended.message).groups()
    assert (joint, more) == ('panda_joint1', '1')
    assert float(at) == pytest.approx(0.0, abs=2e-3) and float(far) == pytest.approx(0.5, abs=2e-3)
    assert near(record.still(), {}) < 2e-3


@pytest.mark.parametrize('way', ['compute_ik'])
def test_the_service_stop(client, record, way):
    asked = moving(client, record, way)
    assert stop(client).message == '1 motion is being stopped'
    ended = asked.answer()
    assert ended.status == Status.PREEMPTED and 'by service stop' in ended.message
    stopped_short(record)
    assert stop(client).message == 'nothing was moving'


def test_a_goal_that_is_cancelled(client, record):
    """The arm has stopped when the result comes, which keeps the solution."""
    asked = moving(client, record, 'solve_constrained_ik')
    asked.goal.cancel()
    state, ended = asked.goal.result()
    assert state == GoalStatus.STATUS_CANCELED and ended.status == Status.PREEMPTED
    assert 'stopped on the way' in ended.message and ended.solution.joint_state.name
    stopped_short(record)


# -- what comes into the way -----------------------------------------------------------------

@pytest.mark.parametrize('way, fields', [
    ('execute', {}), ('compute_ik', {}),
    ('compute_ik', {'link_padding': [LinkPadding(link_name='panda_hand', padding=0.005)]}),
    ('compute_ik', {'allowed_collisions': AllowedCollisionMatrix(
        default_entry_names=['panda_hand'], default_entry_values=[False])}),
    ('solve_constrained_ik', {'seed': RobotState(is_diff=True, attached_collision_objects=[
        attached(box('nut', 0.01, at=pose(0.0, 0.0, 0.1), frame='panda_hand'),
                 touch=['panda_leftfinger', 'panda_rightfinger'])])})])
def test_an_object_that_comes_into_the_way(client, record, way, fields):
    """The motion stops for it, and the next one there is refused."""
    assert client.set('velocity_scaling', 0.3).successful
    asked = moving(client, record, way, **fields)
    applied(client, diff(box('late', 0.16, at=pose(0.06, 0.34, 0.55))))
    ended = asked.answer()
    for answer in (ended, Requested(client, 'execute', FAR).answer()):
        assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
        assert 'late' in {name for c in answer.contacts for name in (c.contact_body_1,
                                                                     c.contact_body_2)}
    assert 'stopped on the way: the scene has changed' in ended.message
    assert answer.motion_seconds == 0
    assert 0.0 < record.still()[0] < 0.7


# -- two who want the arm --------------------------------------------------------------------

@pytest.fixture
def rival(domain):
    """Give another client."""
    rival = Client(domain)
    yield rival
    rival.close()


@pytest.mark.parametrize('way', ['solve_constrained_ik'])
def test_the_second_one_is_refused(client, rival, record, way):
    first = moving(client, record, 'execute')
    for _ in range(3):
        second = Requested(rival, way, ASIDE).answer()
        assert second.status == Status.CONTROL_FAILED, second.message
        assert 'another motion is under way' in second.message and second.motion_seconds == 0
    assert not first.done()
    assert first.answer().status == Status.SUCCESS
    assert near(record.still(), FAR) < 1e-3 and len(record.trajectories) == 1


@pytest.mark.parametrize('way', ['execute'])
def test_the_second_one_replaces(client, rival, record, way):
    assert client.set('while_executing', 'replace').successful
    first = moving(client, record, way)
    assert client.set('velocity_scaling', 0.5).successful
    second = Requested(rival, way, ASIDE).answer()
    assert second.status == Status.SUCCESS, second.message
    ended = first.answer()
    assert ended.status == Status.PREEMPTED and 'another motion took its place' in ended.message
    assert near(record.still(), ASIDE) < 1e-3


@pytest.mark.parametrize('mode', ['refuse', 'replace'])
def test_a_fight(client, rival, record, mode):
    """Every motion that was begun was sent once; the arm ends where the last one sent wants it."""
    assert client.set('while_executing', mode).successful
    assert client.set('velocity_scaling', 0.5).successful
    fights, places = [], np.linspace(-0.9, 0.9, 12)
    for i, place in enumerate(places):
        who = (client, rival)[i % 2]
        fights.append(Requested(who, WAYS[i % 3], {'panda_joint1': float(place)}))
        time.sleep(0.15)
    answers = [fight.answer() for fight in fights]
    won = [i for i, answer in enumerate(answers) if answer.status == Status.SUCCESS]
    allowed = Status.CONTROL_FAILED if mode == 'refuse' else Status.PREEMPTED
    lost = [(answer.status, answer.message) for answer in answers
            if answer.status not in (Status.SUCCESS, allowed)]
    assert won and not lost, lost
    moved = sum(answer.motion_seconds > 0 for answer in answers)
    # what brakes has no accelerations
    assert sum(bool(one.points[0].accelerations) for one in record.trajectories) == moved
    arrived = {ARM[0]: record.trajectories[-1].points[-1].positions[0]}
    assert min(abs(arrived[ARM[0]] - places[i]) for i in won) < 1e-6
    assert near(record.still(), arrived) < 1e-3
