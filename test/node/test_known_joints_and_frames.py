"""Robot description, joint_states and TF of the node: refused, stale or contradictory input."""

import sys
from types import SimpleNamespace

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from small_arm import small_arm, URDF

from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock
from ros2_ik.node.state.transforms import Transforms


class Log:
    """Logger that records its lines."""

    def __init__(self):
        self.lines = []

    def __call__(self, text, **_):
        self.lines.append(text)
        return True
    error = warning = info = __call__


class Node:
    """The methods of a ROS node that JointStates and Transforms call."""

    def __init__(self, now=lambda: 0, publishers=()):
        self._now, self._publishers, self.log = now, publishers, Log()

    def get_clock(self):
        return SimpleNamespace(ros_time_is_active=False,
                               now=lambda: SimpleNamespace(nanoseconds=self._now()))

    def get_logger(self):
        return self.log

    def get_publishers_info_by_topic(self, topic):
        return [SimpleNamespace(node_namespace='/', node_name=name) for name in self._publishers]


def test_malformed_description_is_refused_until_a_valid_one_arrives():
    log, robots = Log(), []
    description = Description(log, 'fixed', robots.append, 'robot_description')
    description.update(srdf='<robot><group')
    assert description.error == '' and description.robot is None
    description.update(urdf=URDF)
    assert 'SRDF' in description.error and description.robot is None
    description.update(srdf='<robot name="small_arm"/>')
    assert description.error == '' and len(robots) == 1
    for _ in range(3):
        description.update(urdf='<robot name="x"/>')
        assert 'no links' in description.error
    assert sum('no links' in line for line in log.lines) == 1
    control = '<!-- --><ros2_control name="mock_system" type="system"/></robot>'
    for urdf in (URDF, URDF.replace('</robot>', control)):    # as from robot_state_publisher
        description.update(urdf=urdf)
        assert description.error == '' and len(robots) == 1
    description.update(urdf=URDF.replace('"hand"', '"tool"'))
    assert description.error == '' and len(robots) == 2


def test_missing_tf2_ros_is_reported_as_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    with pytest.raises(LookupError, match='not installed'):
        Transforms(Node(), SimpleNamespace()).locate(small_arm(), 'table')


START = 1_000_000_000_000   # time of the node's clock at the start of a test [ns]


class Stream:
    """JointStates on a clock that tests advance; `offset` is added to the node's clock."""

    def __init__(self, monkeypatch, publishers=('driver', 'forgotten'), factor=1.5):
        self.now, self.offset = 0.0, 0.0
        monkeypatch.setattr('time.monotonic', lambda: 500.0 + self.now)
        node = Node(lambda: START + round((self.now + self.offset) * 1e9), publishers)
        self.lines = node.log.lines
        self.states = JointStates(node, 'joint_states', SimpleNamespace(joint_state_speed=factor),
                                  MotionClock(node))
        self.states.set_robot(small_arm())

    def publish(self, value, joint='shoulder', stamped=True, late=0.0, clock_offset=0.0):
        """Publish a position that is `late` seconds old, from a clock with an offset [s]."""
        message = JointState(name=[joint], position=[float(value)])
        if stamped:
            stamp = START + round((self.now + self.offset - late + clock_offset) * 1e9)
            message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
        self.states.record(message)

    def age(self, joint='shoulder'):
        return self.states.age(self.states.get(joint))

    def contradiction(self, joint='shoulder'):
        return self.states.contradiction_text(joint)


@pytest.fixture
def stream(monkeypatch):
    return Stream(monkeypatch)


def alternate(stream, first, second, seconds=1.0, period=0.01, every=2, **options):
    """Publish two functions of time in turn; return the time of the first contradiction."""
    found = None
    for i in range(round(seconds / period)):
        stream.now += period
        stream.publish(first(stream.now))
        if i % every == every - 1:
            stream.now += period / 3
            stream.publish(second(stream.now), **options)
        if found is None and stream.contradiction():
            found = stream.now
    return found


@pytest.mark.parametrize(('stamped', 'difference'), [(True, 0.05), (False, 1.57)])
def test_contradicting_publishers_are_detected(stream, stamped, difference):
    found = alternate(stream, lambda _: 0.4, lambda _: 0.4 - difference, stamped=stamped)
    assert found and found < 0.06
    assert "'shoulder'" in stream.contradiction() and '0.4' in stream.contradiction()
    assert f'{0.4 - difference:.4g}' in stream.contradiction()
    assert '/driver, /forgotten' in stream.contradiction()
    assert any('contradict' in line for line in stream.lines)


def test_message_with_a_missing_position_is_ignored(stream):
    stream.states.record(JointState(name=['shoulder', 'elbow'], position=[0.4]))
    assert stream.states.get('shoulder') is None
    assert 'with 2 names and 1 position is ignored' in stream.lines[-1]


def test_contradiction_is_ignored_with_factor_0_and_names_a_single_publisher(monkeypatch):
    assert alternate(Stream(monkeypatch, factor=0.0), lambda _: 0.4, lambda _: 0.0) is None
    stream = Stream(monkeypatch, ('driver',))
    alternate(stream, lambda _: 0.4, lambda _: 0.0)
    assert 'publishers: /driver' in stream.contradiction()


@pytest.mark.parametrize('delay', [0.1, 1.0])
def test_delayed_relay_causes_no_contradiction(stream, delay):
    """The joint moves at its speed limit, and the relay keeps the original stamps."""
    def position(now):
        return 0.8 * np.sin(now / 0.8)   # peaks at the speed limit
    assert alternate(stream, position, position, 1.2) is None
    assert alternate(stream, position, lambda now: position(now - delay), 5, late=delay) is None
    stamp = stream.states.get('shoulder').stamp
    assert START + stream.now * 1e9 - stamp < 2e7           # not that of the relay


@pytest.mark.parametrize('behind', [0.05, 50.0])
def test_contradiction_with_older_stamps_is_detected(stream, behind):
    """Either publisher may be the driver of the robot."""
    assert alternate(stream, lambda _: 0.0, lambda _: 0.4, late=behind) is not None


@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('rate', [500, 10])
def test_joint_at_its_speed_limit_causes_no_contradiction(stream, rate, stamped):
    """With 10 ms of jitter in stamps and receipt, and dropped messages."""
    random = np.random.default_rng(1)
    for i in range(5 * rate):
        stream.now = i / rate + min(random.uniform(0, 0.01), 0.9 / rate)
        if random.uniform() > 0.2:
            stream.publish(0.8 * np.sin(i / rate / 0.8), stamped=stamped)
        assert not stream.contradiction()


def test_wrapping_continuous_joint_causes_no_contradiction(stream):
    for i in range(1000):
        stream.now += 0.01
        stream.publish((0.05 * i + np.pi) % (2 * np.pi) - np.pi, 'wrist')
        assert not stream.contradiction('wrist')
    stream.now += 0.01
    stream.publish(0.05 * 999 + 2.5, 'wrist')
    assert stream.contradiction('wrist')


def test_jump_of_joint_states_is_accepted_after_one_second(stream):
    """A driver may restart after the robot has moved."""
    for i in range(300):
        stream.now += 0.01
        stream.publish(0.4 if i < 100 else -1.0)
        assert bool(stream.contradiction()) == (100 <= i < 200)
    assert stream.states.get('shoulder').value == -1.0


@pytest.mark.parametrize(('options', 'age'), [
    ({}, 0.0), ({'late': 0.6}, 0.6), ({'stamped': False}, 0.0),
    ({'clock_offset': -2.0}, 2.0), ({'clock_offset': 2.0}, 2.0)])
def test_age_of_joint_states_includes_stamp_offset_and_delay(stream, options, age):
    stream.publish(0.4, **options)
    assert stream.age() == pytest.approx(age, abs=1e-6)


def test_age_text_of_an_old_stamp_includes_the_time_since_receipt(stream):
    for _ in range(100):
        stream.now += 0.02
        stream.publish(0.4, clock_offset=-2.0)
    reading = stream.states.get('shoulder')
    assert stream.states.age_text(reading) == '2 s old (received 0 s ago)'


def test_restarted_simulation_drops_old_joint_states(stream):
    """Time and positions jump; a joint that is no longer published keeps its old age."""
    stream.now = 900.0
    stream.publish(0.4)
    stream.publish(0.2, 'elbow')
    stream.offset = -890.0
    for _ in range(110):
        stream.now += 0.01
        stream.publish(0.0)
    assert stream.states.get('shoulder').value == 0.0
    assert stream.age() < 0.1 and stream.age('elbow') > 800
