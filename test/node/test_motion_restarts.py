"""What becomes of a motion when the node, the description, the clock or the controller changes."""

import signal
import time

from arm_harness import at_home, FAST, knows_the_robot, mock_robot, near, TRAJECTORIES
from builtin_interfaces.msg import Duration, Time
from motion_requests import moving, NEAR, Requested, SLOW, WAYS
from node_harness import unreachable
import pytest
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow

JUMPS = (1000, 10, 5000, 0, 1_900_000_000, 1000)   # of the clock [s]


@pytest.fixture
def mock(client, tmp_path):
    """Give a panda that follows trajectories; it must end without a defect."""
    with mock_robot(client, tmp_path) as mock:
        yield mock
        assert 'defect' not in mock.text, mock.text


@pytest.fixture
def record(client, record):
    yield record
    client.retract('robot_description')     # the next node must not hear of it


# -- the node --------------------------------------------------------------------------------

@pytest.mark.parametrize('way', WAYS[:2])
def test_the_node_is_stopped(client, record, start_node, way):
    """It brakes before it ends: the arm is at rest, and not at the goal."""
    node = start_node(**TRAJECTORIES, **SLOW)
    at_home(client)
    asked = moving(client, record, way)
    node.process.send_signal(signal.SIGTERM)
    assert node.process.wait(20) == 0
    ended = asked.answer()
    assert ended.status == Status.PREEMPTED, ended.message
    assert 'stopped on the way: the node was stopped' in ended.message
    assert 0.03 < record.still()[0] < 1.9


# -- the description -------------------------------------------------------------------------

def slower(panda):
    """Give the URDF of a panda that may not go as fast."""
    urdf = panda.urdf.replace('velocity="2.175"', 'velocity="2.0"')
    assert urdf != panda.urdf
    return urdf


@pytest.mark.parametrize('way', WAYS[1:])
def test_another_description_comes_on_the_way(client, record, start_node, panda, way):
    start_node(**TRAJECTORIES, **SLOW)
    at_home(client)
    asked = moving(client, record, way)
    client.publish('robot_description', String(data=slower(panda)), latched=True)
    ended = asked.answer()
    assert ended.status == Status.INVALID_ROBOT_STATE, ended.message
    assert 'stopped on the way: the robot description was replaced' in ended.message
    assert 0.03 < record.still()[0] < 1.9
    assert Requested(client, way, {}).answer().status == Status.SUCCESS
    assert near(record.still(), {}) < 1e-3


def test_another_description_comes_during_the_search(client, record, start_node, panda):
    """A goal that searches for the robot of before ends at once, and moves nothing."""
    start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    goal = client.goal(targets=[unreachable()], timeout=Duration(sec=9), execute=True)
    goal.searching()
    client.publish('robot_description', String(data=slower(panda)), latched=True)
    result = goal.result()[1]
    assert result.status == Status.INVALID_ROBOT_STATE and result.seconds < 8, result.message
    assert 'replaced' in result.message and near(record.still(), {}) < 1e-3
    assert Requested(client, 'solve_constrained_ik', NEAR).answer().status == Status.SUCCESS


# -- the controller --------------------------------------------------------------------------

@pytest.mark.parametrize('way', WAYS[:2])
def test_a_controller_that_never_listens(client, record, start_node, way):
    """The topic is named; a solution is kept."""
    start_node(controllers=['absent_controller'], **{'absent_controller.group': 'arm'}, **FAST)
    knows_the_robot(client)
    answer = Requested(client, way, NEAR).answer()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'no subscriber on /absent_controller/joint_trajectory' in answer.message
    assert answer.motion_seconds == 0 and near(record.still(), {}) < 1e-3
    if way != 'execute':
        assert answer.solution.joint_state.name


# -- the clock -------------------------------------------------------------------------------

@pytest.fixture
def jumpy(client, record, mock, start_node):
    """Give a node by another clock than the mock's; gives a function that makes it jump."""
    mock.set('stamp', False)
    start_node(**TRAJECTORIES, **FAST, use_sim_time=True)
    since = [JUMPS[0], time.monotonic()]

    def tick():
        now = since[0] + time.monotonic() - since[1]
        client.publish('clock', Clock(clock=Time(sec=int(now), nanosec=int(now % 1 * 1e9))))
    timer = client.node.create_timer(0.02, tick)
    knows_the_robot(client)

    def jump(second):
        since[:] = second, time.monotonic()
    yield jump
    client.node.destroy_timer(timer)


def test_budgets_hold_while_the_clock_jumps(client, jumpy):
    """Time for a search is time on the wall."""
    half = {'targets': [unreachable()], 'timeout': Duration(nanosec=500_000_000)}
    client.ik(**half), client.goal(**half).result()     # workers are slow at first
    for second in JUMPS:
        begin = time.monotonic()
        future, goal = client.ik_later(**half), client.goal(**half)
        jumpy(second)
        for answer in (client.wait(future, 30), goal.result(30)[1]):
            assert answer.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT), answer.message
            assert 0.4 < answer.seconds < 5
        assert time.monotonic() - begin < 20


def test_nothing_moves_by_another_clock(client, record, jumpy):
    """How old joint_states are is not known; each answer says so."""
    for i, second in enumerate(JUMPS):
        jumpy(second)
        answer = Requested(client, WAYS[i % 3], NEAR).answer()
        assert answer.status == Status.ROBOT_STATE_STALE and answer.motion_seconds == 0
        assert 'header.stamp' in answer.message or 'clock' in answer.message
    assert near(record.still(), {}) < 1e-3
