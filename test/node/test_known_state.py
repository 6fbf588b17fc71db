"""What the node knows of robot, joints, TF and geometry, tested without a node."""

import os
import subprocess
import sys
import time
from types import ModuleType, SimpleNamespace

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from node_harness import eventually
import pytest
from small_arm import small_arm, URDF

from ros2_ik.core import Robot
from ros2_ik.core.kernels.cache import cache_folder
from ros2_ik.messages.frames import OldTransformError
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.transforms import Parent, Transforms


class Log:
    """Keeps what it is told."""

    def __init__(self):
        self.lines = []

    def __call__(self, text, **_):
        self.lines.append(text)
        return True
    error = warning = info = __call__


# -- collision geometry ---------------------------------------------------------------------

def test_convex_parts_are_made_beside(tmp_path):
    """The geometry is usable meanwhile; what was made is on disk for all processes."""
    # a process of its own: its workers have the environment of the first one that it forked from
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env={
        **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'XDG_CACHE_HOME': str(tmp_path),
        'NUMBA_CACHE_DIR': str(cache_folder().parent)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any('are made in the background' in line for line in lines), lines
    assert not any('were not made' in line for line in lines), lines
    assert len(list(tmp_path.glob('ros2_ik/pieces-*/*.npz'))) >= 6


def make_parts_of_ur5():
    """Print what is logged until its parts are made."""
    log = Log()
    geometry = CollisionGeometry(log, lambda *_: None)
    geometry.make(Robot.load('ur5'), 'exact', 'refuse')
    eventually(lambda: geometry.usable, 'the geometry')
    eventually(lambda: any('made in' in text and ' s' in text[-2:] for text in log.lines),
               'the parts', 100)
    print(*log.lines, sep='\n')


# -- description ----------------------------------------------------------------------------

def test_urdf_does_not_suffer_from_an_earlier_srdf():
    log, swaps = Log(), []
    description = Description(log, 'fixed', swaps.append)
    description.offer(srdf='<robot><group')
    assert description.refused == '' and description.robot is None
    description.offer(urdf=URDF)
    assert description.refused == '' and len(swaps) == 1
    assert 'left out' in log.lines[0] and list(description.robot.groups) == ['hand']
    other = URDF.replace('0.25', '0.26')
    description.offer(urdf=other, srdf='<robot><group')   # both at once: refused
    assert 'SRDF' in description.refused
    for _ in range(3):
        description.offer(urdf='<robot name="x"/>')
        assert 'no links' in description.refused
    assert sum('no links' in line for line in log.lines) == 1
    description.offer(urdf=URDF)
    assert description.refused == '' and len(swaps) == 1


# -- TF and the base ------------------------------------------------------------------------

NOW = 10_000_000_000    # the node clock [ns]


class Buffer:
    """Knows single transforms, along x, and what hangs on what."""

    def __init__(self):
        self.known, self.parents, self.since = {}, {}, time.monotonic()

    def has(self, parent, child, x=2.0, stamp=NOW):
        """Tell of one transform."""
        message = TransformStamped()
        message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
        message.transform.translation.x = x
        self.known[parent, child] = message
        return message

    def hangs(self, child, parent, static=True, ago=0.0):
        self.parents[child] = Parent(parent, static, time.monotonic() - ago)

    def lookup_transform(self, target, source, when):
        if (target, source) not in self.known:
            raise RuntimeError(f'"{source}" does not exist')
        return self.known[target, source]


@pytest.fixture
def tf(monkeypatch):
    """Put a tf2_ros in place; gives its buffer."""
    monkeypatch.setitem(sys.modules, 'tf2_ros', ModuleType('tf2_ros'))
    monkeypatch.setattr('ros2_ik.node.state.transforms.TRANSFORM_TIMEOUT', 0.05)
    return Buffer()


def transforms(tf=None, simulated=False, **parameters):
    given = SimpleNamespace(**{'tf_timeout': 5.0, 'execute_tf_timeout': 0.5, **parameters})
    return Transforms(None, given, lambda: NOW, lambda node: tf, lambda: simulated)


def test_transforms(tf):
    known, robot = transforms(tf), small_arm()
    assert known.absent == ''
    message = tf.has('base', 'table', stamp=NOW - 3_000_000_000)
    found = known.lookup()(robot, 'table')
    assert found.frame is None and found.offset.translation.tolist() == [2, 0, 0]
    assert known.find('base', 'table').stamp == NOW - 3_000_000_000
    with pytest.raises(LookupError, match='TF: "camera" does not exist'):
        known.lookup()(robot, 'camera')
    message.transform.rotation.w = 0.0
    with pytest.raises(LookupError, match='quaternion'):
        known.lookup()(robot, 'table')


def test_tf_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    with pytest.raises(LookupError, match='not installed'):
        transforms().lookup()(small_arm(), 'table')


@pytest.mark.parametrize(('age', 'execute', 'stamped', 'limit'), [
    (3.0, False, True, None), (6.0, False, False, 'tf_timeout allows 5 s'),
    (0.0, True, False, None), (1.0, True, True, 'execute_tf_timeout allows 0.5 s')])
def test_old_transforms_are_refused(tf, age, execute, stamped, limit):
    """By stamp, or by when they came: a publisher that has ended, or whose clock is late."""
    tf.has('base', 'part', stamp=NOW - int(age * 1e9) if stamped else 0)
    tf.hangs('part', 'base', static=False, ago=0.0 if stamped else age)
    find = transforms(tf).lookup(execute)
    if limit is None:
        assert find(small_arm(), 'part').offset is not None
        return
    with pytest.raises(OldTransformError, match=f"'part' is {age:g}.* s old.*{limit}"):
        find(small_arm(), 'part')
    assert transforms(tf, tf_timeout=0.0, execute_tf_timeout=0.0).lookup(execute)(
        small_arm(), 'part').offset is not None


def test_a_stamp_in_the_future_is_refused(tf):
    """Also one that has come long ago."""
    tf.has('base', 'part', stamp=NOW + 6_000_000_000)
    tf.hangs('part', 'base', static=False, ago=20.0)
    with pytest.raises(OldTransformError, match="'part' is stamped 6 s in the future"):
        transforms(tf).lookup()(small_arm(), 'part')


def test_in_simulated_time_stamps_count_alone(tf):
    """It may stand; what has no stamp is as old as it has been there."""
    tf.has('base', 'part')
    tf.hangs('part', 'base', static=False, ago=60.0)
    assert transforms(tf, simulated=True).lookup(True)(small_arm(), 'part').offset is not None
    for stamp, simulated in (NOW, False), (0, True), (NOW - 10**10 + 1, True):
        tf.has('base', 'part', stamp=stamp)
        with pytest.raises(OldTransformError):
            transforms(tf, simulated).lookup(True)(small_arm(), 'part')


def test_static_transforms_have_no_age(tf):
    tf.has('base', 'table', stamp=0)
    tf.hangs('table', 'base', static=True, ago=1000.0)
    assert transforms(tf).lookup(True)(small_arm(), 'table').offset is not None


def test_what_is_fixed_to_a_link_is_part_of_it(tf):
    """Also where TF knows where it stands, and where it does not know the robot at all."""
    tf.has('fore', 'optical', 0.5, stamp=0)
    tf.hangs('optical', 'camera')
    tf.hangs('camera', 'fore')
    for _ in range(2):
        found = transforms(tf).lookup()(small_arm(), 'optical')
        assert found.frame == 'fore' and found.loose_on is None
        assert found.offset.translation.tolist() == [0.5, 0, 0]
        tf.has('base', 'optical', 7.0)


def test_what_a_camera_sees_stands_where_tf_has_it(tf):
    """It hangs on the arm, but need not move with it."""
    tf.has('fore', 'tag', 0.5)
    tf.hangs('tag', 'camera', static=False)
    tf.hangs('camera', 'fore')
    with pytest.raises(LookupError, match='does not exist'):
        transforms(tf).lookup()(small_arm(), 'tag')
    tf.has('base', 'tag', 7.0)
    found = transforms(tf).lookup()(small_arm(), 'tag')
    assert (found.frame, found.loose_on) == (None, 'fore')
    assert found.offset.translation.tolist() == [7, 0, 0]


def test_base_from_tf(tf):
    tf.has('world', 'base', stamp=3_000_000_000)
    state = CurrentState(SimpleNamespace(base_source='tf'), None, transforms(tf), Log(), None)
    assert state.base(small_arm(root_joint='planar')).tolist() == [2, 0, 0]


if __name__ == '__main__':
    make_parts_of_ur5()
