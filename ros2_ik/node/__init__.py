"""The ROS node: messages in, core objects, messages out."""

import os
import signal

# A second thread for matrices of ten rows only waits for its turn on a busy machine. Workers,
# which are forked from what is started here, inherit it.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> int:
    """Run the node until SIGINT or SIGTERM; gives the exit code."""
    for number in SIGNALS:   # first of all: to start takes two seconds, to end at most one
        signal.signal(number, lambda *_: os._exit(0))
    from ros2_ik.node.node import run  # late: worker processes come by here without ROS
    return run()
