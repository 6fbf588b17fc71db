"""The interface between a page and a robot that solves and moves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ros2_ik.core import Array, CollisionChecker, Robot, Scene
from ros2_ik.core.internals import IKRequest
from ros2_ik.view.answer import Answer

PERIOD = 1 / 60    # of `Arm.step` [s]


@dataclass(frozen=True)
class Question:
    """
    A problem to solve: `problem` as its file has it, its targets' poses (4, 4) by tip apart.

    The search starts at `seed` (nq,). While `dragging` the answer comes in a few hundredths of a
    second and near the seed.
    """

    problem: Mapping[str, object]
    targets: Mapping[str, Array]
    seed: Array
    dragging: bool = False
    solutions: int = 1


# Reads a problem file's content for a robot that stands at q (nq,) in a scene: returns the request
# and the checker of distances and contacts, or raises IKError, which says where it is wrong.
Reader = Callable[[Mapping[str, object], Scene, Array], tuple[IKRequest, CollisionChecker | None]]


class Arm(Protocol):
    """
    A robot at `q` (nq,) in a scene, with its solver and its controllers.

    One thread uses it. `moving`: it may move by itself, and `step` is called every `PERIOD`. All
    methods raise IKError with the reason.
    """

    robot: Robot
    q: Array
    scene: Scene
    moving: bool

    def change_scene(self, scene: Scene) -> None:
        """Replace the scene."""

    def place(self, q: Array) -> None:
        """Set the robot's state to q (nq,), at rest."""

    def solve(self, question: Question) -> Answer:
        """Answer a question."""

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Make waiting for an answer end with an error as soon as `true` returns True."""

    def wait(self, seconds: float) -> None:
        """Wait until the robot sends something, `wake` is called or the time [s] is over."""

    def wake(self) -> None:
        """End the wait, or the next one; any thread may call."""

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """Start a motion to q (nq,), if the path is free; returns a note for the user."""

    def stop(self) -> None:
        """Brake."""

    def step(self) -> str:
        """Process the robot's messages; returns a note for the user, or ''."""
