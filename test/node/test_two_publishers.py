"""A second publisher of joint_states beside the robot's own, and stamps that are off."""

from contextlib import contextmanager
import re
import time

from arm_harness import (
    ARM,
    at_home,
    execute,
    execute_later,
    FAST,
    HOME,
    POSITIONS,
    TRAJECTORIES,
)
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_harness import eventually, reachable, repeating
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from ros2_ik.msg import Status

NEAR = {'panda_joint1': 0.3}
FAR = {'panda_joint1': 2.0}
FASTEST = 2.61     # of the arm's joints, by its URDF [rad/s]
PERIOD = 0.02      # of the second publisher: 50 Hz [s]
STALE = Status.ROBOT_STATE_STALE


class Other:
    """A publisher of joint_states in the test's own node; what is its own it marks."""

    mark = 'another publisher'

    def __init__(self, client):
        self._client = client
        self._publisher = client.node.create_publisher(JointState, 'joint_states', 10)
        self.own = []          # what the robot itself said
        self._heard = client.node.create_subscription(
            JointState, 'joint_states', self._take, QoSProfile(depth=1000))

    def _take(self, message):
        if message.header.frame_id != self.mark:
            self.own.append((time.monotonic(), message))

    def close(self):
        self._client.node.destroy_subscription(self._heard)
        self._client.node.destroy_publisher(self._publisher)

    def say(self, joints, stamp):
        message = JointState(name=list(joints), position=[float(x) for x in joints.values()])
        message.header.frame_id = self.mark
        if stamp is not None:
            message.header.stamp = stamp
        self._publisher.publish(message)

    @contextmanager
    def saying(self, joints, stamped=False):
        """Publish joint values at 50 Hz."""
        clock = self._client.node.get_clock()
        with repeating(lambda: self.say(joints, clock.now().to_msg() if stamped else None),
                       PERIOD):
            yield

    @contextmanager
    def relaying(self, delay):
        """Publish what the robot said so long ago, as it was stamped."""
        def relay():
            then = [m for at, m in self.own if at <= time.monotonic() - delay]
            if then:
                self.say(dict(zip(then[-1].name, then[-1].position, strict=True)),
                         then[-1].header.stamp)
        with repeating(relay, PERIOD):
            yield

    def steps(self, since):
        """
        Give the speeds (k, n) of the arm between what the robot said from a count on.

        On a busy machine a late cycle is followed by a short one, with as many commands.
        """
        rows = [message for _, message in self.own[since:]]
        times = np.array([m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in rows])
        at = np.array([[dict(zip(m.name, m.position, strict=True))[j] for j in ARM]
                       for m in rows])
        return np.diff(at, axis=0) / np.maximum(np.diff(times), 0.02)[:, None]


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


def refused(client):
    """Wait until a motion is refused; gives the answer. None that begins is right."""
    answer = execute(client, NEAR)
    assert answer.status == STALE and answer.motion_seconds == 0, answer.message
    return answer


@pytest.mark.parametrize('stamped', [pytest.param(False, marks=pytest.mark.slow), True],
                         ids=['no stamp', 'stamped'])
def test_nothing_moves_by_joint_states_that_contradict_each_other(client, home, mock, record,
                                                                  other, panda, stamped):
    with other.saying(ZEROS, stamped):
        eventually(lambda: execute(client, HOME).status == STALE, 'that the other is heard')
        sent, defects = len(record.trajectories), mock.text.count('defect')
        answer = eventually(lambda: 'UNKNOWN' not in (got := refused(client)).message and got,
                            'that both are discovered')
        assert 'contradict' in answer.message
        assert "'panda_joint2'" in answer.message     # the first of those that differ
        assert '-0.7854' in answer.message and ' 0' in answer.message
        assert '/mock_robot' in answer.message and '/test_client' in answer.message
        answer = client.ik(targets=[reachable(panda, 'panda_hand_tcp')], execute=True)
        assert answer.status == STALE and 'contradict' in answer.message, answer.message
        time.sleep(0.3)
        assert len(record.trajectories) == sent and mock.text.count('defect') == defects
    eventually(lambda: execute(client, NEAR).status == Status.SUCCESS, 'one truth again', 5)


@pytest.mark.parametrize('stamped', [False, True], ids=['no stamp', 'stamped'])
def test_a_motion_stops(client, home, mock, other, stamped):
    defects, since = mock.text.count('defect'), len(other.own)
    future = execute_later(client, FAR, velocity_scaling=0.3)
    eventually(lambda: other.own and abs(other.own[-1][1].position[
        list(other.own[-1][1].name).index('panda_joint1')]) > 0.25, 'the arm moves')
    with other.saying(ZEROS, stamped):
        answer = client.wait(future)
        assert answer.status == STALE and 'stopped on the way' in answer.message, answer.message
        assert 'contradict' in answer.message and '/test_client' in answer.message
        time.sleep(0.5)
    rows = [dict(zip(m.name, m.position, strict=True)) for _, m in other.own[-20:]]
    assert all(row == rows[0] for row in rows) and 0.1 < rows[0]['panda_joint1'] < 1.0
    assert np.abs(other.steps(since)).max() < FASTEST
    assert mock.text.count('defect') == defects


@pytest.mark.slow
def test_small_disagreement(client, home, other):
    """It is less than the joints move in the time that a message may be late."""
    with other.saying({**HOME, 'panda_joint4': HOME['panda_joint4'] + 0.05}):
        eventually(lambda: execute(client, HOME).status == STALE, 'that the other is heard')
        assert "'panda_joint4'" in refused(client).message


@pytest.mark.slow
def test_other_publishers_that_agree(client, home, other):
    """A relay, however late by its stamps, and one of other joints."""
    for delay in (0.0, 0.3):
        with other.relaying(delay):
            for joint1 in (0.5, 0.0):
                answer = execute(client, {'panda_joint1': joint1})
                assert answer.status == Status.SUCCESS, answer.message
    with other.saying({'gripper': 0.02, 'wheel': 3.0}):
        answer = execute(client, NEAR)
        assert answer.status == Status.SUCCESS, answer.message


def test_search_that_starts_at_a_contradiction_says_so(client, home, other, panda):
    target = reachable(panda, 'panda_hand_tcp')
    with other.saying({'panda_joint2': 0.0}):
        answer = eventually(lambda: (got := client.ik(targets=[target])).status
                            and 'contradict' in got.message and got, 'an answer that says so')
        assert "'panda_joint2'" in answer.message
        assert client.fk(links=['panda_hand']).status == STALE   # its answer depends on them
        assert client.fk(links=['panda_link1']).status == Status.SUCCESS   # it is before joint 2


@pytest.mark.slow
def test_diagnostics_tell(client, home, other):
    told = []
    heard = client.node.create_subscription(
        DiagnosticArray, '/diagnostics',
        lambda m: told.extend(s for s in m.status if s.name.endswith('joint_states')), 10)
    with other.saying({'panda_joint2': 0.0}):
        eventually(lambda: any(s.level == DiagnosticStatus.ERROR
                               and "contradict each other: joint 'panda_joint2'" in s.message
                               for s in list(told)), 'the contradiction')
    told.clear()
    eventually(lambda: told and told[-1].level == DiagnosticStatus.OK, 'peace', 5)
    client.node.destroy_subscription(heard)


# -- stamps ---------------------------------------------------------------------------------

@pytest.mark.parametrize(('offset', 'said'), [(-2.0, 'behind'), (2.0, 'ahead of')])
def test_clocks_that_differ(client, home, mock, offset, said):
    mock.set('clock_offset', offset)
    answer = eventually(lambda: (got := execute(client, NEAR)).status == STALE and said
                        in got.message and got, 'that the clock is off')
    found = re.search(rf"stamp is ([\d.]+) s {said} this node's clock", answer.message)
    assert found and abs(float(found[1]) - 2.0) < 0.2 and 'Hz' in answer.message


@pytest.mark.slow
def test_late_by_its_stamp_is_late(client, home, mock):
    """What comes now and is .6 s old is older than execute_state_timeout allows."""
    mock.set('clock_offset', -0.6)
    answer = eventually(lambda: (got := execute(client, NEAR)).status == STALE
                        and not got.motion_seconds
                        and 'execute_state_timeout' in got.message and got, 'that it is late')
    assert 0.59 < float(re.search(r'([\d.]+) s ago', answer.message)[1]) < 1.0


def test_joint_states_without_stamps_move_nothing(client, home, mock, record):
    sent = len(record.trajectories)
    mock.set('stamp', False)
    answer = eventually(lambda: 'header.stamp' in (got := refused(client)).message and got,
                        'that there are no stamps')
    assert "joint_states of joint 'panda_joint1' have no header.stamp" in answer.message
    assert len(record.trajectories) == sent
    mock.set('stamp', True)


# -- a controller that steps at once --------------------------------------------------------

@pytest.fixture
def stream(client, start_node, arm, mock, tmp_path):
    """Have the arm moved by a stream of positions."""
    arm.end()
    mock.set('active', POSITIONS['controllers'])
    start_node(**POSITIONS, **FAST)
    at_home(client)


@pytest.mark.slow
def test_a_stream_of_positions_stops_without_a_step(client, stream, mock, other):
    test_a_motion_stops(client, None, mock, other, False)
