"""Messages between the node and a worker."""

import math
from typing import NamedTuple, TypeAlias

from ros2_ik.core import IKSolution
from ros2_ik.core.internals import PathSearch, Search, TimedPath

AnySearch: TypeAlias = Search | PathSearch
Answer: TypeAlias = IKSolution | TimedPath


class TakeRobot(NamedTuple):
    """
    To the worker: a pickled robot, to which jobs refer by `key`.

    `geometry` has the options of `collision_checker`; None while the geometry is not ready.
    """

    key: str
    robot: bytes
    geometry: tuple[str, str] | None = None


class Job(NamedTuple):
    """
    To the worker: a search, serialized by its method `question`.

    `watched` requests Progress messages. `sent` is the time of the submission to the pool, on the
    steady clock [s].
    """

    number: int
    robot_key: str
    question: bytes
    watched: bool = False
    sent: float = math.inf
    kind: type[AnySearch] = Search


class Cancel(NamedTuple):
    """To the worker: end a job now, and send its best result so far."""

    number: int


class Ready(NamedTuple):
    """To the node: the worker has started, or has loaded a robot."""


class Progress(NamedTuple):
    """To the node: the best result so far of a watched job, about ten times per second."""

    number: int
    solution: Answer


class Result(NamedTuple):
    """To the node: the result of a job; without a solution, `failure` has the traceback."""

    number: int
    solution: Answer | None
    failure: str = ''
