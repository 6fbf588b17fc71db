"""What the node and a worker send each other through their pipe."""

import math
from typing import NamedTuple

from ros2_ik.core import IKSolution


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
    To the worker: a search to make, from Search.question(); `watched`: tell of it.

    `sent` is when it was handed to the pool, on the steady clock [s].
    """

    number: int
    robot_key: str
    question: bytes
    watched: bool = False
    sent: float = math.inf


class Cancel(NamedTuple):
    """To the worker: answer a job at once with what there is."""

    number: int


class Ready(NamedTuple):
    """To the node: the worker has started, or has what it was told of a robot."""


class Progress(NamedTuple):
    """To the node: how a watched job stands; about ten times a second."""

    number: int
    solution: IKSolution


class Result(NamedTuple):
    """To the node: a job's end; without a solution, `failure` says what went wrong."""

    number: int
    solution: IKSolution | None
    failure: str = ''
