"""
Modules that the fork server imports before its first fork, so that workers start quickly.

The fork server must ignore SIGINT and SIGTERM before the imports, which take seconds: terminals
and systemd send these signals to all processes of the node, and no worker starts without a fork
server. This module is therefore outside of `node/workers`, whose import loads the library.
"""

import gc
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)

from ros2_ik.node.process import end_with_parent  # noqa: E402, I001

# before the imports and the compilation, during which the node may end
end_with_parent()

from ros2_ik.core import compile_all  # noqa: E402
import ros2_ik.node.workers.serve  # noqa: E402, F401

compile_all()
# a garbage collection in a worker would write to, and so copy, pages shared with this process
gc.freeze()
