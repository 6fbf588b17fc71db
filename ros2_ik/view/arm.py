"""Who solves, and who moves: what a page needs of a robot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ros2_ik.core import Array, CollisionChecker, IKRequest, Robot, Scene
from ros2_ik.view.answer import Answer


@dataclass(frozen=True)
class Question:
    """
    What is wanted: `problem` as its file has it, its targets' poses (4, 4) by tip apart.

    The search starts at `seed` (nq,). While `dragging` the answer comes in a few hundredths of a
    second and near the seed.
    """

    problem: Mapping[str, Any]
    targets: Mapping[str, Array]
    seed: Array
    dragging: bool = False
    solutions: int = 1


# Reads a problem file's content for a robot that stands at q (nq,) in a scene: returns the request
# and the checker of distances and contacts, or raises IKError, which says where it is wrong.
Reader = Callable[[Mapping[str, Any], Scene, Array], tuple[IKRequest, CollisionChecker | None]]


class Arm(Protocol):
    """
    A robot that stands somewhere, in a scene, and who solves and moves for it.

    One thread uses it. All raise IKError for what cannot be, with the reason.
    """

    @property
    def robot(self) -> Robot:
        """The robot."""

    @property
    def q(self) -> Array:
        """Where it stands now, (nq,)."""

    @property
    def scene(self) -> Scene:
        """What is around it now."""

    def change_scene(self, scene: Scene) -> None:
        """Have this around it from now on."""

    def place(self, q: Array) -> None:
        """Take q (nq,) as where it stands, at rest."""

    def solve(self, question: Question) -> Answer:
        """Answer a question."""

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Wait for no answer any longer, but raise, as soon as that is true."""

    def wait(self, seconds: float) -> None:
        """Wait until something comes from the robot, or `wake` is called; at most so long."""

    def wake(self) -> None:
        """End the wait, or the next one; any thread may call."""

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """Begin to go to q (nq,), if the way is free; returns what is to be said of it."""

    def stop(self) -> None:
        """Brake."""

    @property
    def moving(self) -> bool:
        """Whether it may move by itself: then `step` is called every `PERIOD`."""

    def step(self) -> str:
        """Go on for a `PERIOD`; returns what is to be said of it, '' for nothing."""


PERIOD = 1 / 60    # [s]
