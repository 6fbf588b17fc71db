"""Messages between the node and a worker."""

import math
from typing import NamedTuple, TypeAlias

from ros2_ik.core import IKSolution
from ros2_ik.core.internals import PathSearch, Search, TimedPath

AnySearch: TypeAlias = Search | PathSearch
Answer: TypeAlias = IKSolution | TimedPath


class TakeRobot(NamedTuple):
    """
    To the worker: a robot, pickled, that jobs may name.

    `geometry`, when its collision geometry is made: the options of `collision_checker`.
    """

    key: str
    robot: bytes
    geometry: tuple[str, str] | None = None


class Job(NamedTuple):
    """
    To the worker: a search, from question() of its class; `watched`: report its progress.

    `sent` is when it was handed to the pool, on the steady clock [s].
    """

    number: int
    robot_key: str
    question: bytes
    watched: bool = False
    sent: float = math.inf
    kind: type[AnySearch] = Search


class Cancel(NamedTuple):
    """To the worker: answer a job now, with its best result."""

    number: int


class Ready(NamedTuple):
    """To the node: the worker has started, or has made a robot's geometry."""


class Progress(NamedTuple):
    """To the node: how a watched job stands; about ten times a second."""

    number: int
    solution: Answer


class Result(NamedTuple):
    """To the node: a job's end; without a solution, `failure` says what went wrong."""

    number: int
    solution: Answer | None
    failure: str = ''
