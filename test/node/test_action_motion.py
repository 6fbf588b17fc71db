"""Goals of solve_constrained_ik with `execute`: moving, cancelled on the way, preempted."""

from action_msgs.msg import GoalStatus
from arm_harness import execute, HOME, near, TRAJECTORIES
from builtin_interfaces.msg import Duration
from node_harness import eventually
import pytest

from ros2_ik.messages.functions import function_message as function
from ros2_ik.msg import Bounds, Solution, Status

AWAY = {**HOME, 'panda_joint1': 1.5}


def to(joints):
    """Give the fields of a goal that one configuration alone meets."""
    wanted = function('joint_positions', names=list(joints), reference=list(joints.values()),
                            bounds=Bounds(target=[0.0], tolerance=1e-5))
    return {'group': 'arm', 'execute': True, 'timeout': Duration(sec=9),   # on a busy machine
            'max_joint_change': 2.0,   # max_jump is 1
            'constraints': [wanted]}


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that moves a slow panda."""
    return start_shared_node(**TRAJECTORIES, velocity_scaling=0.4, acceleration_scaling=1.0)


@pytest.fixture
def record(client, node, record):
    """Give a record of the arm, which stands at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home', 60.0)
    record.still()
    return record


def moving(goal, record):
    """Wait until a goal moves the arm."""
    start, ended = record.at(), goal.result_later()

    def moves():
        assert not ended.done(), ended.result().result.message
        return (any(f.phase == 'moving' for f in list(goal.feedback))
                and abs(record.at() - start).max() > 0.05)
    eventually(moves, 'a motion')
    return goal


def test_arrives(client, record):
    solutions = []
    subscription = client.node.create_subscription(Solution, 'ros2_ik/solution',
                                                   solutions.append, 10)
    goal = client.goal(**to(AWAY))
    moving(goal, record)
    state, result = goal.result(60)
    assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS), result.message
    assert result.motion_seconds > 0 and near(record.at(), AWAY) < 1e-3
    elapsed = [feedback.seconds for feedback in goal.feedback]
    assert elapsed == sorted(elapsed) and elapsed[-1] > result.motion_seconds / 2
    eventually(lambda: solutions, 'the solution as a topic')
    client.node.destroy_subscription(subscription)


def test_cancelled_on_the_way(client, record):
    goal = moving(client.goal(**to(AWAY)), record)
    goal.cancel()
    state, result = goal.result(60)
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
    assert 'stopped on the way' in result.message
    there = record.still()
    assert near(there, AWAY) > 0.05 and near(there, HOME) > 0.05


def test_preempted_on_the_way(client, record):
    """The new goal's motion begins when the old one's has come to its end."""
    assert client.set('goals', 'preempt').successful
    try:
        first = moving(client.goal(**to(AWAY)), record)
        second = client.goal(**to({**HOME, 'panda_joint1': -0.5}))
        state, result = second.result(60)
        assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS), result
        state, result = first.result(60)
    finally:
        assert client.set('goals', 'queue').successful
    assert (state, result.status) == (GoalStatus.STATUS_ABORTED, Status.PREEMPTED)
    assert 'stopped on the way: preempted by a newer goal' in result.message
    assert near(record.still(), {'panda_joint1': -0.5}) < 1e-3
