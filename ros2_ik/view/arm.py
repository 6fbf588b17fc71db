"""The interface between the viewer and a robot, with its solver and its controllers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ros2_ik.core import Array, CollisionChecker, Robot, Scene
from ros2_ik.core.internals import IKRequest
from ros2_ik.view.answer import Answer

PERIOD = 1 / 60    # time between two calls of `Arm.step` [s]


@dataclass(frozen=True)
class Question:
    """
    A problem to solve.

    `problem` is the content of a problem file, `targets` are the poses (4, 4) of its targets by
    tip. The search starts at `seed` (nq,). With `dragging` the search is limited to about 0.1 s
    and prefers solutions near the seed. `solutions` is the number of solutions to search for.
    """

    problem: Mapping[str, object]
    targets: Mapping[str, Array]
    seed: Array
    dragging: bool = False
    solutions: int = 1


# Converts the content of a problem file, for a robot at q (nq,) in a scene, to a request and a
# collision checker (None if none is needed); raises IKError, which names the wrong field.
Reader = Callable[[Mapping[str, object], Scene, Array], tuple[IKRequest, CollisionChecker | None]]


class Arm(Protocol):
    """
    A robot at `q` (nq,) in a scene, with its solver and its controllers.

    If `moving` is True, the robot may move by itself, and `step` must be called every `PERIOD`.
    A method that fails raises IKError with the reason. Only `wake` is thread-safe.
    """

    robot: Robot
    q: Array
    scene: Scene
    moving: bool

    def place(self, q: Array) -> None:
        """Set the robot's state to q (nq,), at rest."""

    def solve(self, question: Question) -> Answer:
        """Solve a question."""

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Abort waiting for responses, with an IKError, as soon as `true()` is True."""

    def wait(self, seconds: float) -> None:
        """Wait for a message of the robot, for a call of `wake`, or for at most `seconds`."""

    def wake(self) -> None:
        """End the present or the next call of `wait`; thread-safe."""

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """Start a motion to q (nq,) if the path is free; returns a note for the user."""

    def stop(self) -> None:
        """Stop the robot's motions."""

    def step(self) -> str:
        """Process the robot's messages; returns a note for the user, or ''."""
