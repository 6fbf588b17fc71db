"""Service ~/execute with a joint_trajectory_controller: the arm goes, or it is said why not."""

from arm_harness import (
    ARM,
    execute,
    execute_later,
    FAST,
    goal_request,
    HOME,
    knows_the_robot,
    near,
    Recorder,
    stop,
    TRAJECTORIES,
)
from moveit_msgs.msg import CollisionObject
from node_harness import eventually
import numpy as np
import pytest
from scene_harness import applied, attached, box, change, diff, pose

from ros2_ik.msg import Status
from ros2_ik.srv import Execute

BACK = 0.1   # a busy arm that hears late of the braking has to come back this far [rad]
ASIDE = {'panda_joint1': 0.6, 'panda_joint4': -2.0}
LIMITS = {'panda_joint1': 2.175, 'panda_joint2': 2.175, 'panda_joint3': 2.175,
          'panda_joint4': 2.175, 'panda_joint5': 2.61, 'panda_joint6': 2.61, 'panda_joint7': 2.61}


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that moves it."""
    return start_shared_node(**TRAJECTORIES, **FAST)


@pytest.fixture
def record(client, node, mock):
    """Give a record, with the arm at home in an empty scene and everything at work."""
    record = Recorder(client)
    knows_the_robot(client)
    applied(client, diff(change('', CollisionObject.REMOVE)))
    for name, value in (('publish_joint_states', True), ('follow', True), ('nan_joint', '')):
        mock.set(name, value)
    record.listen()
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    yield record
    record.close()


def test_goes_there(client, record):
    since = len(record.states)
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert near(record.at(), ASIDE) < 1e-3
    assert 0.5 < answer.motion_seconds < answer.seconds and not answer.contacts
    assert 'arrived' in answer.message
    _, positions = record.way(since)
    done = (positions[:, 0] - 0.0) / 0.6                 # all joints in step: a straight line
    assert np.abs(positions[:, 3] - (HOME['panda_joint4'] + done * 0.35619)).max() < 2e-3
    assert np.abs(positions[:, [1, 2, 4, 5, 6]] - positions[0, [1, 2, 4, 5, 6]]).max() < 1e-4


def test_what_is_sent(client, record):
    """What a real controller wants: all joints, times above 0 and growing, at rest at the end."""
    record.trajectories.clear()
    assert execute(client, ASIDE).status == Status.SUCCESS
    message, = record.trajectories
    assert tuple(message.joint_names) == ARM
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9
                      for p in message.points])
    assert times[0] > 0.005 and (np.diff(times) > 1e-4).all()
    positions, velocities, accelerations = (np.array([list(getattr(p, name)) for p in
                                                      message.points])
                                            for name in ('positions', 'velocities',
                                                         'accelerations'))
    assert near(positions[-1], ASIDE) < 1e-9 and (velocities[-1] == 0).all()
    assert (np.abs(velocities) <= np.array([LIMITS[joint] for joint in ARM]) + 1e-9).all()
    assert (np.abs(accelerations) <= 3 + 1e-9).all()
    assert np.abs(np.diff(np.vstack([list(HOME.values()), positions]), axis=0)).max() < 0.1


@pytest.mark.slow
def test_slower_on_demand(client, record):
    fast = execute(client, ASIDE).motion_seconds
    slow = execute(client, HOME, velocity_scaling=0.1)
    assert slow.status == Status.SUCCESS, slow.message
    assert slow.motion_seconds > 0.6 / 0.2175 > fast


def test_there_already(client, record):
    answer = execute(client, HOME)
    assert answer.status == Status.SUCCESS and near(record.at(), {}) < 1e-3


def test_joints_that_no_controller_moves(client, record):
    finger = record.listen()['panda_finger_joint1']
    assert execute(client, {**ASIDE, 'panda_finger_joint1': finger}).status == Status.SUCCESS
    answer = execute(client, {**HOME, 'panda_finger_joint1': finger + 0.02})
    assert answer.status == Status.CONTROL_FAILED
    assert "no controller moves joint 'panda_finger_joint1'" in answer.message
    assert near(record.still(), ASIDE) < 1e-3


@pytest.mark.parametrize('joints, fields, status, text', [
    ({}, {}, Status.INVALID_GOAL_CONSTRAINTS, 'names no joint'),
    ({'panda_joint9': 0.0}, {}, Status.INVALID_ROBOT_STATE, "'panda_joint9'"),
    ({'panda_joint1': float('nan')}, {}, Status.INVALID_ROBOT_STATE, 'is at nan'),
    ({'panda_joint1': float('inf')}, {}, Status.INVALID_ROBOT_STATE, 'is at inf'),
    ({'panda_joint1': 3.0}, {}, Status.INVALID_GOAL_CONSTRAINTS, 'outside its limits'),
    ({'panda_finger_joint2': 0.01}, {}, Status.INVALID_GOAL_CONSTRAINTS,
     "follows 'panda_finger_joint1', which must be named"),
    ({'panda_finger_joint1': 0.01, 'panda_finger_joint2': 0.04}, {},
     Status.INVALID_GOAL_CONSTRAINTS, 'puts it at 0.01'),
    (ASIDE, {'group': 'hand'}, Status.INVALID_GOAL_CONSTRAINTS, "not in group 'hand'"),
    (ASIDE, {'group': 'leg'}, Status.INVALID_GROUP_NAME, "unknown group 'leg'"),
    (ASIDE, {'velocity_scaling': 1e-300}, Status.INVALID_GOAL_CONSTRAINTS,
     'velocity_scaling is 1e-300; valid: 0.001 to 1, or 0'),
    (ASIDE, {'velocity_scaling': 1.5}, Status.INVALID_GOAL_CONSTRAINTS, 'velocity_scaling is 1.5'),
    (ASIDE, {'velocity_scaling': float('nan')}, Status.INVALID_GOAL_CONSTRAINTS, 'nan')])
def test_questions_that_make_no_sense(client, record, joints, fields, status, text):
    record.trajectories.clear()
    answer = execute(client, joints, **fields)
    assert answer.status == status and text in answer.message, answer.message
    assert answer.motion_seconds == 0 and near(record.still(), {}) < 1e-3
    assert not record.trajectories


def test_a_bound_on_the_changes_of_joints(client, record):
    """Of the request; the parameter max_jump is about solutions that the node has found."""
    record.trajectories.clear()
    answer = execute(client, ASIDE, max_joint_change=0.5)
    assert answer.status == Status.INVALID_GOAL_CONSTRAINTS and answer.motion_seconds == 0
    assert ("joint 'panda_joint1' would move by 0.6; max_joint_change allows 0.5"
            in answer.message)
    for wrong in (-1.0, float('nan')):
        answer = execute(client, ASIDE, max_joint_change=wrong)
        assert answer.status == Status.INVALID_GOAL_CONSTRAINTS
        assert 'max_joint_change is' in answer.message
    assert not record.trajectories
    assert execute(client, HOME, max_joint_change=0.5).status == Status.SUCCESS


# -- what is in the way ----------------------------------------------------------------------

POST = box('post', 0.12, at=pose(0.29, 0.17, 0.55))      # beside the hand


def test_something_in_the_way(client, record):
    applied(client, diff(POST))
    record.trajectories.clear()
    answer = execute(client, {'panda_joint1': 1.5})
    assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
    assert 'blocked' in answer.message and "'post'" in answer.message
    assert 'panda_joint1' in answer.message
    pairs = {frozenset((c.contact_body_1, c.contact_body_2)) for c in answer.contacts}
    assert any('post' in pair for pair in pairs) and not record.trajectories
    assert near(record.still(), {}) < 1e-3
    free = execute(client, {'panda_joint1': 1.5}, avoid_collisions=False)
    assert 'the way was not checked for collisions' in free.message
    assert free.status == Status.SUCCESS, free.message


def test_the_goal_or_the_start_in_contact(client, record):
    applied(client, diff(POST))
    answer = execute(client, {'panda_joint1': 0.45})
    assert answer.status == Status.GOAL_IN_COLLISION and 'post' in answer.message
    applied(client, diff(box('post', 0.12, at=pose(0.307, 0.0, 0.55))))
    answer = execute(client, {'panda_joint1': -1.0})
    assert answer.status == Status.START_STATE_IN_COLLISION and 'post' in answer.message
    assert near(record.still(), {}) < 1e-3


def test_attached_objects_move_along(client, record):
    """A stick in the hand hits what the hand alone would pass."""
    applied(client, diff(box('wall', 0.1, at=pose(0.2, 0.45, 0.5))))
    assert execute(client, {'panda_joint1': 2.3}).status == Status.SUCCESS
    assert execute(client, HOME).status == Status.SUCCESS
    stick = box('stick', 0.3, at=pose(0, 0, 0.27), frame='panda_hand')
    touching = ('panda_leftfinger', 'panda_rightfinger', 'panda_link7', 'panda_link8')
    applied(client, diff(holding=[attached(stick, touch=touching)]))
    answer = execute(client, {'panda_joint1': 2.3})
    held = change('', CollisionObject.REMOVE)
    applied(client, diff(holding=[attached(held, '')]))
    assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
    assert "'stick'" in answer.message and "'wall'" in answer.message


def test_objects_of_the_question_alone(client, record):
    applied(client, diff(box('wall', 0.1, at=pose(0.2, 0.45, 0.5))))
    request = goal_request({'panda_joint1': 2.3})
    touching = ('panda_leftfinger', 'panda_rightfinger', 'panda_link7', 'panda_link8')
    request.goal.attached_collision_objects = [attached(
        box('stick', 0.3, at=pose(0, 0, 0.27), frame='panda_hand'), touch=touching)]
    answer = client.call(Execute, 'ros2_ik/execute', request)
    assert answer.status == Status.INVALID_MOTION_PLAN and "'stick'" in answer.message


# -- stopping and fighting -------------------------------------------------------------------

def under_way(record):
    """Wait until the arm moves."""
    start = record.at()
    eventually(lambda: np.abs(record.at() - start).max() > 0.02, 'the arm moves')


def test_stop(client, record):
    future = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.3)
    under_way(record)
    since = len(record.states)
    answer = stop(client)
    assert answer.success and answer.message == '1 motion is being stopped'
    ended = client.wait(future)
    assert ended.status == Status.PREEMPTED and 'stopped' in ended.message
    assert record.still()[0] < 1.8
    _, positions = record.way(since)
    assert positions[:, 0].max() - positions[-1, 0] < BACK
    assert stop(client).message == 'nothing was moving'


def test_a_second_one_is_refused(client, record):
    future = execute_later(client, {'panda_joint1': 1.0}, velocity_scaling=0.3)
    under_way(record)
    answer = execute(client, HOME)
    assert answer.status == Status.CONTROL_FAILED and 'while_executing' in answer.message
    assert client.wait(future).status == Status.SUCCESS
    assert near(record.at(), {'panda_joint1': 1.0}) < 1e-3


def test_a_second_one_replaces(client, record):
    """From where the arm is and as fast as it is: no step, nothing faster than allowed."""
    assert client.set('while_executing', 'replace').successful
    try:
        since = len(record.states)
        first = execute_later(client, {'panda_joint1': 1.5}, velocity_scaling=0.3)
        under_way(record)
        second = execute(client, {'panda_joint1': -0.5, 'panda_joint4': -2.0},
                         velocity_scaling=0.3)
    finally:
        client.set('while_executing', 'refuse')
    ended = client.wait(first)
    assert ended.status == Status.PREEMPTED and 'another motion' in ended.message
    assert second.status == Status.SUCCESS, second.message
    assert near(record.at(), {'panda_joint1': -0.5, 'panda_joint4': -2.0}) < 1e-3
    times, positions = record.way(since)
    speeds = np.abs(np.diff(positions, axis=0) / np.diff(times)[:, None])
    # 1.1 at rest; on a busy machine the arm is farther behind its commands, and catches up
    assert speeds.max() < 0.3 * 2.61 * 1.5


def test_many_at_once(client, record):
    """Only one of them moves the arm."""
    futures = [execute_later(client, {'panda_joint1': 0.1 * i}) for i in range(1, 9)]
    answers = [client.wait(future) for future in futures]
    good = [i for i, answer in enumerate(answers) if answer.status == Status.SUCCESS]
    assert len(good) == 1
    assert all(answer.status == Status.CONTROL_FAILED for i, answer in enumerate(answers)
               if i not in good)
    assert near(record.at(), {'panda_joint1': 0.1 * (good[0] + 1)}) < 1e-3


# -- faults ----------------------------------------------------------------------------------

def test_joint_states_stop_on_the_way(client, record, mock):
    record.trajectories.clear()
    future = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.2)
    under_way(record)
    mock.set('publish_joint_states', False)
    ended = client.wait(future)
    assert ended.status == Status.ROBOT_STATE_STALE, ended.message
    # all went silent at once
    assert 'stopped' in ended.message and 'panda_joint' in ended.message
    assert len(record.trajectories) == 2                 # the second one brakes
    refused = execute(client, HOME)
    assert refused.status == Status.ROBOT_STATE_STALE and 'execute_state_timeout' in \
        refused.message and refused.motion_seconds == 0
    mock.set('publish_joint_states', True)
    assert 0.02 < record.still()[0] < 1.9


def test_nan_in_joint_states_is_no_news(client, record, mock):
    mock.set('nan_joint', 'panda_joint3')
    eventually(lambda: execute(client, ASIDE).status == Status.ROBOT_STATE_STALE,
               'a joint that is not known')
    mock.set('nan_joint', '')
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'joints that are known')


def test_an_arm_that_does_not_follow(client, record, mock):
    assert client.set('arrival_timeout', 0.3).successful
    assert client.set('max_tracking_error', 0.0).successful
    mock.set('follow', False)
    try:
        answer = execute(client, ASIDE)
    finally:
        client.set('arrival_timeout', 2.0)
        client.set('max_tracking_error', 0.2)
        mock.set('follow', True)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert "'panda_joint1' (and 1 more) is at" in answer.message
    assert 'goal_tolerance' in answer.message
    assert answer.motion_seconds > 0


def test_the_mock_saw_no_defect(record, mock):
    """It says when a command steps, or has NaN."""
    assert 'defect' not in mock.text, mock.text

