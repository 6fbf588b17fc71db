"""The ROS node: messages in, core objects, messages out."""

from importlib import import_module
import logging
import os
import signal
import sys

from ros2_ik.node.process import ensure_fork_server, SIGNALS

# A second thread for matrices of ten rows only waits for its turn on a busy machine. Workers,
# which are forked from what is started here, inherit it.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
# The fork server is a `python -c`: it would take a ros2_ik in the working folder for this one.
os.environ.setdefault('PYTHONSAFEPATH', '1')
# The node says in ROS's log what the library says in Python's; workers would say it again.
logging.getLogger('ros2_ik').addHandler(logging.NullHandler())
USAGE = """\
usage: ik_node [--ros-args [-p NAME:=VALUE] [--params-file FILE] [-r FROM:=TO] ...]

The inverse-kinematics node, ros2_ik. It waits for a robot on topic robot_description, or takes it
from the parameter of that name.

  ros2 param list /ros2_ik              its parameters, while it runs
  ros2 param describe /ros2_ik NAME     what one means
  ros2_ik --help                        inverse kinematics from the command line, without a node
"""


def main() -> int:
    """Run the node until SIGINT, SIGTERM or SIGHUP; gives the exit code."""
    for number in SIGNALS:   # starting takes two seconds, ending at most one
        signal.signal(number, lambda *_: os._exit(0))
    if not {'-h', '--help'}.isdisjoint(sys.argv[1:]):
        print(USAGE, end='')
        return 0
    ensure_fork_server()   # it imports while this process does
    if sys.version_info < (3, 11):  # of two threads that import at once one may lose a module
        for name in ('linalg', 'optimize', 'sparse', 'spatial'):
            import_module(f'scipy.{name}')
    from ros2_ik.node.node import run  # late: worker processes come by here without ROS
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    # the interpreter's own end takes up to a second on a busy machine, and destroys a node that
    # was refused half made, in which rclpy may crash
    os._exit(code)
