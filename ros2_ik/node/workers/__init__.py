"""Worker processes for searches, so that the node's callbacks stay short."""

from ros2_ik.node.workers.jobs import AnySearch
from ros2_ik.node.workers.member import UnansweredError, WorkerError
from ros2_ik.node.workers.pool import Pool

__all__ = ['AnySearch', 'Pool', 'UnansweredError', 'WorkerError']
