"""Messages of /tf, and tf2_ros or its stand-in for nodes."""

from importlib.util import find_spec
import os
from pathlib import Path
import time

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage


def provide_tf2_ros(monkeypatch):
    """Make tf2_ros importable by nodes: the installed one, else a stand-in."""
    if find_spec('tf2_ros'):
        return
    stand_in = str(Path(__file__).parent / 'tf_stand_in')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [stand_in, *filter(None, [os.environ.get('PYTHONPATH')])]))


def tf_message(*transforms):
    """Return a message of /tf."""
    return TFMessage(transforms=transforms)


def transform(parent, child, x=0.0, z=0.0, ago=0.0):
    """Return a transform that is stamped `ago` seconds ago."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    nanoseconds = time.time_ns() - int(ago * 1e9)
    message.header.stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    message.transform.translation.x, message.transform.translation.z = x, z
    return message
