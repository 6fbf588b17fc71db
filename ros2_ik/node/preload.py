"""
Imports of the workers' fork server before its first fork, so that workers start warm.

It ignores SIGINT and SIGTERM before all else, for that takes seconds (so this is not in the room
of the workers, whose import loads the library): terminals, systemd and others send them to every
process of the node at once, and no worker starts without a fork server. It ends when the node
does. The node compiles the loops at the same time, if they are not in the cache.
"""

import gc
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)

from ros2_ik.node.process import end_with_parent  # noqa: E402, I001

end_with_parent()   # also while it compiles

from ros2_ik.core import compile_all  # noqa: E402
import ros2_ik.node.workers.serve  # noqa: E402, F401

compile_all()
gc.freeze()   # so that the workers go on sharing this memory
