"""
What the fork server imports before its first fork, so that workers start warm.

It ignores SIGTERM: systemd and others send that to every process of the node at once, and the
node takes a worker whose fork server has died for a dead one. It ends when the node does.
"""

import gc
import signal

from ros2_ik.core import load_kernels
import ros2_ik.node.workers.serve  # noqa: F401

load_kernels()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
gc.freeze()   # so that the workers go on sharing this memory
