"""The interface between the viewer and a robot, with its solver and its controllers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ros2_ik.core import Array, CollisionChecker, Contact, IKSolution, Robot, Scene
from ros2_ik.core.internals import IKRequest, TargetError

PERIOD = 1 / 60    # time between two calls of `Arm.step` [s]


# Converts the content of a problem file, for a robot at q (nq,) in a scene, to a request and a
# collision checker (None if none is needed); raises IKError, which names the wrong field.
Reader = Callable[[Mapping[str, object], Scene, Array], tuple[IKRequest, CollisionChecker | None]]


class Reached(Enum):
    """Degrees of success of an answer; values are colours of the ghost (r, g, b)."""

    YES = (0.18, 0.72, 0.32)
    TOUCHING = (0.96, 0.58, 0.1)     # solves the problem, but is in contact
    NO = (0.88, 0.2, 0.2)            # best attempt


@dataclass(frozen=True)
class Answer:
    """
    A configuration `q` (nq,), whether `q` solves the problem, and a message.

    `errors` are the errors of the targets [m, rad]. `seconds` is the time of the search [s].
    `more` are further solutions.
    """

    q: Array
    reached: Reached
    message: str
    errors: tuple[TargetError, ...] = ()
    contacts: Sequence[Contact] = ()
    seconds: float = 0.0
    not_checked: tuple[str, ...] = ()
    more: tuple['Answer', ...] = ()

    @property
    def accepted(self) -> bool:
        """True if the robot may move to `q`."""
        return self.reached is Reached.YES

    @classmethod
    def of(cls, solution: IKSolution) -> 'Answer':
        """Convert a solution of the library to an answer."""
        reached = Reached.YES if solution.success else (
            Reached.TOUCHING if solution.contacts and not solution.violations else Reached.NO)
        return cls(solution.best_q, reached, f'{solution.status.name}: {solution.message}',
                   solution.errors, solution.contacts, solution.seconds, solution.not_checked,
                   tuple(cls.of(other) for other in solution.alternatives))


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

    def solve(self, problem: Mapping[str, object], seed: Array) -> Answer:
        """Solve a problem, the content of a problem file; the search starts at seed (nq,)."""

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
