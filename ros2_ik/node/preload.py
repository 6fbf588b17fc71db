"""
Modules that the fork server imports before its first fork, so that its processes start quickly.

The imports take seconds. If the node ends meanwhile, this process must end as well.
"""

import gc

from ros2_ik.node.process import end_with_parent

end_with_parent()

from ros2_ik.core import compile_all  # noqa: E402
import ros2_ik.node.workers.serve  # noqa: E402, F401

compile_all()
# garbage collection in a worker would write to pages shared with this process, and copy them
gc.freeze()
