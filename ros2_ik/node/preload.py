"""
Modules that the fork server imports before its first fork, so that workers start quickly.

The imports take seconds, in which the node may end; therefore this process ends with the node.
"""

import gc

from ros2_ik.node.process import end_with_parent

end_with_parent()

from ros2_ik.core import compile_all  # noqa: E402
import ros2_ik.node.workers.serve  # noqa: E402, F401

compile_all()
# a garbage collection in a worker would write to, and so copy, pages shared with this process
gc.freeze()
