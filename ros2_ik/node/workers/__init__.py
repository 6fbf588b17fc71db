"""Worker processes for searches, so that the node's callbacks stay short."""

from ros2_ik.node.workers.pool import Pool, UnansweredError, WorkerError
from ros2_ik.node.workers.serve import AnySearch

__all__ = ['AnySearch', 'Pool', 'UnansweredError', 'WorkerError']
