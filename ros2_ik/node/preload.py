"""
What the fork server of the workers imports before its first fork, so that they start warm.

It ignores SIGINT and SIGTERM before all else, for that takes seconds (so this is not in the room
of the workers, whose import loads the library): terminals, systemd and others send them to every
process of the node at once, and the node takes a worker whose fork server has died for a dead
one. It ends when the node does.
"""

import gc
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)

from ros2_ik.core import load_kernels  # noqa: E402
import ros2_ik.node.workers.serve  # noqa: E402, F401

load_kernels()
gc.freeze()   # so that the workers go on sharing this memory
