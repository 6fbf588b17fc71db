"""The ROS 2 node: answers requests, and moves the robot."""

from importlib import import_module
import logging
import os
import signal
import sys
from typing import NoReturn

from ros2_ik.node.process import ensure_fork_server, SIGNALS

# OpenBLAS threads do not speed up work on ten-row matrices, and wait for cores on busy machines.
# Worker processes inherit this setting.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
# The fork server runs as `python -c`, which would import `ros2_ik` from the working directory.
os.environ.setdefault('PYTHONSAFEPATH', '1')
# The node writes the library's warnings to the ROS log. This handler keeps Python from printing
# them to stderr as well, once per worker.
logging.getLogger('ros2_ik').addHandler(logging.NullHandler())


def main() -> NoReturn:
    """Run the node until SIGINT, SIGTERM or SIGHUP, then exit the process."""
    # a signal during the start-up, which takes two seconds, ends the process at once
    for number in SIGNALS:
        signal.signal(number, lambda *_: os._exit(0))
    # start the fork server first: it imports the library while this process imports ROS
    ensure_fork_server()
    # import now: before Python 3.11, simultaneous imports of a module in two threads may fail
    if sys.version_info < (3, 11):
        for name in ('linalg', 'optimize', 'sparse', 'spatial'):
            import_module(f'scipy.{name}')
    # imported here, since worker processes import this package without ROS
    from ros2_ik.node.node import run
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter's regular exit takes up to a second on a busy machine. It also destroys a
    # node whose constructor failed, and rclpy may crash then.
    os._exit(code)
