"""Parts of the node's knowledge, without a node."""

import sys
import threading
import time
from types import ModuleType, SimpleNamespace

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TransformStamped
from node_harness import eventually
import pytest
from sensor_msgs.msg import JointState
from small_arm import small_arm, SRDF, URDF

from ros2_ik.core import Robot
from ros2_ik.core.scene.cache import forget
from ros2_ik.node.state import collision_geometry
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.free_base import FreeBase
from ros2_ik.node.state.joint_states import JointStates, MAX_NAMES
from ros2_ik.node.state.reading import Reading
from ros2_ik.node.state.transforms import Transforms


class Log:
    """Keeps what it is told."""

    def __init__(self):
        self.lines = []

    def __call__(self, text, **_):
        self.lines.append(text)
        return True
    error = warning = info = __call__


# -- readings -------------------------------------------------------------------------------

def test_age():
    now = 5_000_000_000
    just = time.monotonic()
    assert Reading(0, 3_000_000_000, just).age(now) == 2
    assert Reading(0, now + 3_000_000_000, just).age(now) == 3                  # in the future
    received = just - 7
    assert Reading(0, 0, received).age(now) == pytest.approx(7, abs=0.5)        # no stamp
    assert Reading(0, now, received).age(now) == pytest.approx(7, abs=0.5)      # a clock stands


def test_joint_states_have_a_bound():
    log = Log()
    states = JointStates(log)
    for number in range(30):
        names = [f'joint_{number}_{i}' for i in range(1000)]
        states.take(JointState(name=names, position=[0.0] * 1000))
    assert sum(states.get(f'joint_{n}_0') is not None for n in range(30)) == MAX_NAMES // 1000
    assert 'more than' in log.lines[-1]
    states.take(JointState(name=['joint_0_0'], position=[1.5]))   # known ones go on
    assert states.get('joint_0_0').value == 1.5


def test_joints_without_a_number_are_told_of_once():
    log, nan = Log(), float('nan')
    states = JointStates(log)

    def told(**positions):
        log.lines.clear()
        states.take(JointState(name=list(positions), position=list(positions.values())))
        return log.lines
    assert "for 'elbow' (nan):" in told(shoulder=1.0, elbow=nan)[0]
    assert not told(shoulder=1.0, elbow=nan)
    assert not told(shoulder=1.0)                  # nothing of the elbow is no number either
    text, = told(shoulder=float('inf'), elbow=nan)
    assert "for 'shoulder' (inf):" in text
    assert states.get('shoulder').value == 1.0 and states.get('elbow') is None
    assert not told(shoulder=1.0, elbow=0.5)
    text, = told(shoulder=nan, elbow=nan)
    assert "'shoulder' (nan), 'elbow' (nan)" in text
    text, = told(**{f'joint_{number}': nan for number in range(7)})
    assert 'and 2 more' in text


def test_a_warning_that_is_held_back_comes_later():
    passing, lines = [False], []
    states = JointStates(lambda text: lines.append(text) or passing[0])
    message = JointState(name=['elbow'], position=[float('nan')])
    states.take(message)
    passing[0] = True
    states.take(message)
    states.take(message)
    assert len(lines) == 2


# -- collision geometry ---------------------------------------------------------------------

def test_larger_than_the_meshes_is_said_once_if_it_matters():
    log = Log()
    geometry = CollisionGeometry(log, lambda *_: None)

    def made(name):
        log.lines.clear()
        geometry.make(Robot.load(name), 'hull', 'refuse')
        eventually(lambda: geometry.usable, 'the geometry')
        return log.lines
    assert not made('panda')         # its meshes are hulls
    text, = made('ur5')
    assert "robot 'ur5' is up to" in text
    assert not made('ur5')           # made anew, with an SRDF that came later
    assert made('xarm7')


def test_replaced_descriptions_do_not_pile_up(monkeypatch):
    """Whatever their geometry takes, two threads make it, and the newest robot's comes at once."""
    going, ready = threading.Event(), []
    make = collision_geometry.collision_checker

    def slow(robot, *options):
        assert going.wait(20)
        return make(robot, *options)
    monkeypatch.setattr(collision_geometry, 'collision_checker', slow)
    monkeypatch.setattr(collision_geometry, 'PATIENCE', 0.01)
    geometry = CollisionGeometry(Log(), lambda robot, _: ready.append(robot))
    robots = [Robot.load(name) for name in ('panda', 'xarm7', 'panda', 'xarm7', 'panda')]
    for robot in robots:
        geometry.make(robot, 'hull', 'refuse')
        assert not geometry.usable
    assert sum(t.name == 'collision geometry' for t in threading.enumerate()) == 2
    going.set()
    eventually(lambda: geometry.usable, 'the geometry')
    assert ready[-1] is robots[-1]
    eventually(lambda: not [t for t in threading.enumerate() if t.name == 'collision geometry'],
               'the end of the threads')


def test_convex_parts_are_made_beside(tmp_path, monkeypatch):
    """The geometry is usable meanwhile; what was made is on disk for all processes."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    forget()
    log = Log()
    geometry = CollisionGeometry(log, lambda *_: None)
    geometry.make(Robot.load('ur5'), 'exact', 'refuse')
    eventually(lambda: geometry.usable, 'the geometry')
    eventually(lambda: any('are made in the background' in text for text in log.lines), 'a word')
    eventually(lambda: any('made in' in text and ' s' in text[-2:] for text in log.lines),
               'the parts', 120)
    assert len(list(tmp_path.glob('ros2_ik/pieces-*/*.npz'))) >= 6
    assert not any('were not made' in text for text in log.lines)


# -- description ----------------------------------------------------------------------------

@pytest.fixture
def log():
    return Log()


@pytest.fixture
def swaps():
    return []


def limits(length):
    return SimpleNamespace(max_description_length=length, max_joints=200)


@pytest.fixture
def description(log, swaps):
    return Description(limits(10_000), log, swaps.append)


def test_srdf_before_urdf(description, swaps):
    assert description.offer(srdf=SRDF) == '' and description.robot is None
    assert description.offer(urdf=URDF) == '' and list(description.robot.groups) == ['arm']
    assert len(swaps) == 1


def test_urdf_does_not_suffer_from_an_earlier_srdf(description, log, swaps):
    description.offer(srdf='<robot><group')
    assert description.offer(urdf=URDF) == ''
    assert 'left out' in log.lines[0] and list(description.robot.groups) == ['hand']
    other = URDF.replace('0.25', '0.26')
    assert 'SRDF' in description.offer(urdf=other, srdf='<robot><group')   # both at once: refused


def test_refused_text_is_not_read_again(description, log, swaps):
    description.offer(urdf=URDF)
    for _ in range(3):
        assert 'no links' in description.offer(urdf='<robot name="x"/>')
    assert sum('refused' in line for line in log.lines) == 1
    assert description.offer(urdf=URDF) == '' and description.refused == ''
    assert len(swaps) == 1


def test_longer_than_allowed(log, swaps):
    parameters = limits(10)
    description = Description(parameters, log, swaps.append)
    assert 'allows 10' in description.offer(urdf=URDF)
    parameters.max_description_length = 10_000
    assert description.offer(urdf=URDF) == '' and len(swaps) == 1


def test_why_not_changes_nothing(description, swaps):
    assert description.why_not(urdf=URDF) == '' and description.robot is None
    assert 'no XML' in description.why_not(urdf='x')
    assert description.offer(urdf=URDF) == '' and len(swaps) == 1


# -- TF and the base ------------------------------------------------------------------------

@pytest.fixture
def tf(monkeypatch):
    """Put a tf2_ros in place that knows one transform."""
    message = TransformStamped()
    message.header.stamp = Time(sec=3)
    message.transform.translation.x = 2.0

    class Buffer:
        def __init__(self, node):
            pass

        def lookup_transform(self, target, source, when):
            if (target, source) not in (('world', 'base'), ('world', 'map')):
                raise RuntimeError(f'"{source}" does not exist')
            return message
    monkeypatch.setitem(sys.modules, 'tf2_ros', ModuleType('tf2_ros'))
    monkeypatch.setattr('ros2_ik.node.state.transforms.PATIENCE', 0.05)
    return SimpleNamespace(message=message, listen=lambda node: Buffer(node))


def test_transforms(tf):
    transforms = Transforms(None, True, tf.listen)
    assert transforms.absent == ''
    assert transforms.lookup('world', 'base').translation.tolist() == [2, 0, 0]
    assert transforms.find('world', 'base').stamp == 3_000_000_000
    with pytest.raises(LookupError, match='TF: "camera" does not exist'):
        transforms.lookup('world', 'camera')
    tf.message.transform.rotation.w = 0.0
    with pytest.raises(LookupError, match='quaternion'):
        transforms.lookup('world', 'base')
    with pytest.raises(LookupError, match='use_tf'):
        Transforms(None, False).lookup('world', 'base')


def test_tf_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    with pytest.raises(LookupError, match='not installed'):
        Transforms(None, True).lookup('world', 'base')


def test_base_from_tf(tf):
    robot = small_arm(root_joint='planar')
    base = FreeBase(SimpleNamespace(base_source='tf'), Transforms(None, True, tf.listen), Log())
    reading = base.read(robot)
    assert reading.value == [2, 0, 0] and reading.stamp == 3_000_000_000


def test_base_pose_in_a_frame_of_tf(tf):
    robot, log = small_arm(root_joint='planar'), Log()
    base = FreeBase(SimpleNamespace(base_source='topic'), Transforms(None, True, tf.listen), log)
    assert base.read(robot) is None
    message = PoseStamped()
    message.header.frame_id, message.pose.position.x = 'map', 1.0
    base.take(message)
    assert base.read(robot).value == [3, 0, 0]
    message.header.frame_id = 'odom'
    base.take(message)
    assert base.read(robot) is None and 'odom' in log.lines[-1]
