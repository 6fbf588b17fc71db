"""A second publisher of joint_states beside the robot's own, and stamps that are off."""

from contextlib import contextmanager
import re

from arm_harness import (
    ARM,
    at_home,
    execute,
    execute_later,
    FAST,
    HOME,
    TRAJECTORIES,
)
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_harness import eventually, reachable, repeating
import pytest
from sensor_msgs.msg import JointState

from ros2_ik.msg import Status

NEAR = {'panda_joint1': 0.3}
FAR = {'panda_joint1': 2.0}
PERIOD = 0.02      # of the second publisher: 50 Hz [s]
STALE = Status.ROBOT_STATE_STALE


class Other:
    """A publisher of joint_states in the test's own node."""

    def __init__(self, client):
        self._client = client
        self._publisher = client.node.create_publisher(JointState, 'joint_states', 10)

    def close(self):
        self._client.node.destroy_publisher(self._publisher)

    @contextmanager
    def saying(self, joints, stamped=False):
        """Publish joint values at 50 Hz."""
        clock = self._client.node.get_clock()
        message = JointState(name=list(joints), position=[float(x) for x in joints.values()])

        def say():
            if stamped:
                message.header.stamp = clock.now().to_msg()
            self._publisher.publish(message)
        with repeating(say, PERIOD):
            yield


@pytest.fixture(scope='module')
def arm(client, mock, start_shared_node):
    """Give a node that moves the mock robot."""
    node = start_shared_node(**TRAJECTORIES, **FAST, default_group='arm')
    at_home(client)
    return node


@pytest.fixture
def other(client):
    other = Other(client)
    yield other
    other.close()


@pytest.fixture
def home(client, arm, mock):
    """Have the arm at home, and nothing wrong."""
    mock.set('clock_offset', 0.0), mock.set('stamp', True)
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')


ZEROS = dict.fromkeys(ARM, 0.0)


def refused(client, words):
    """Wait until a motion is refused with these words; gives the answer. None may begin."""
    def asked():
        answer = execute(client, NEAR)
        return answer.status == STALE and words in answer.message and answer
    answer = eventually(asked, words)
    assert answer.motion_seconds == 0, answer.message
    return answer


def test_nothing_moves_by_joint_states_that_contradict_each_other(client, home, mock, record,
                                                                  other, panda):
    with other.saying(ZEROS, stamped=True):
        eventually(lambda: execute(client, HOME).status == STALE, 'that the other is heard')
        sent, defects = len(record.trajectories), mock.text.count('defect')
        answer = refused(client, '/mock_robot')
        assert 'contradict' in answer.message and '/test_client' in answer.message
        assert "'panda_joint2'" in answer.message     # the first of those that differ
        assert '-0.7854' in answer.message and ' 0' in answer.message
        answer = client.ik(targets=[reachable(panda, 'panda_hand_tcp')], execute=True)
        assert answer.status == STALE and 'contradict' in answer.message, answer.message
    record.still()
    assert len(record.trajectories) == sent and mock.text.count('defect') == defects
    eventually(lambda: execute(client, NEAR).status == Status.SUCCESS, 'one truth again', 5)


def test_a_motion_stops(client, home, mock, record, other):
    defects = mock.text.count('defect')
    future = execute_later(client, FAR, velocity_scaling=0.3)
    eventually(lambda: record.at()[0] > 0.25, 'the arm moves')
    with other.saying(ZEROS):
        answer = client.wait(future)
        assert answer.status == STALE and 'stopped on the way' in answer.message, answer.message
        assert 'contradict' in answer.message and '/test_client' in answer.message
    assert 0.1 < record.still()[0] < 1.0
    assert mock.text.count('defect') == defects


def test_diagnostics_say_so(client, home, other):
    told = []
    heard = client.node.create_subscription(
        DiagnosticArray, '/diagnostics',
        lambda m: told.extend(s for s in m.status if s.name.endswith('joint_states')), 10)
    with other.saying({'panda_joint2': 0.0}):
        eventually(lambda: any(s.level == DiagnosticStatus.ERROR
                               and "contradict each other: joint 'panda_joint2'" in s.message
                               for s in list(told)), 'the contradiction')
    client.node.destroy_subscription(heard)


# -- stamps ---------------------------------------------------------------------------------

@pytest.mark.parametrize(('offset', 'said', 'off'), [
    (-0.6, 'execute_state_timeout', 0.6), (-2.0, 'behind', 2.0), (2.0, 'ahead of', 2.0)])
def test_stamps_that_are_off(client, home, mock, offset, said, off):
    """What comes now and is older by its stamp than may be, or newer than now, moves nothing."""
    mock.set('clock_offset', offset)
    answer = refused(client, said)
    found = re.search(r"stamp is ([\d.]+) s \w+( of)? this node's clock", answer.message)
    assert found and abs(float(found[1]) - off) < 0.4


def test_joint_states_without_stamps_move_nothing(client, home, mock, record):
    sent = len(record.trajectories)
    mock.set('stamp', False)
    answer = refused(client, 'header.stamp')
    assert "joint_states of joint 'panda_joint1' have no header.stamp" in answer.message
    assert len(record.trajectories) == sent
