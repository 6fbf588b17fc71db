"""The answer to a question, for display."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ros2_ik.core import Array, Contact, IKSolution
from ros2_ik.core.internals import TargetError


class Reached(Enum):
    """Degrees of success of an answer; values are colours of the ghost (r, g, b)."""

    YES = (0.18, 0.72, 0.32)
    TOUCHING = (0.96, 0.58, 0.1)     # solves the problem, but is in contact
    NO = (0.88, 0.2, 0.2)            # best attempt


@dataclass(frozen=True)
class Answer:
    """
    A configuration `q` (nq,), whether `q` solves the problem, and a message.

    `errors` are the errors of the targets [m, rad]. `largest_change` is a text about the joint
    that differs most from the seed. `seconds` is the time of the search [s]. `more` are further
    solutions.
    """

    q: Array
    reached: Reached
    message: str
    errors: tuple[TargetError, ...] = ()
    contacts: Sequence[Contact] = ()
    largest_change: str = ''
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
                   solution.errors, solution.contacts, str(solution.travel or ''),
                   solution.seconds, solution.not_checked,
                   tuple(cls.of(other) for other in solution.alternatives))
