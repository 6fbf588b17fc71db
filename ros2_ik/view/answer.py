"""The answer to a question, as a page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ros2_ik.core import Array, Contact, IKSolution
from ros2_ik.core.internals import TargetError


class Reached(Enum):
    """Degree to which an answer meets the problem; values are the ghost's colours (r, g, b)."""

    YES = (0.18, 0.72, 0.32)
    TOUCHING = (0.96, 0.58, 0.1)     # but for contacts
    NO = (0.88, 0.2, 0.2)            # the best attempt


@dataclass(frozen=True)
class Answer:
    """
    A configuration q (nq,), how far it meets the problem, and why.

    `errors` are those of the targets [m, rad], `largest_change` is the one of a joint from the
    seed, in words, `seconds` the time of the search. `more` are other answers.
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
        """True if the robot may go there."""
        return self.reached is Reached.YES

    @classmethod
    def of(cls, solution: IKSolution) -> 'Answer':
        """Return the answer of a solution of the library."""
        reached = Reached.YES if solution.success else (
            Reached.TOUCHING if solution.contacts and not solution.violations else Reached.NO)
        return cls(solution.best_q, reached, f'{solution.status.name}: {solution.message}',
                   solution.errors, solution.contacts, str(solution.travel or ''),
                   solution.seconds, solution.not_checked,
                   tuple(cls.of(other) for other in solution.alternatives))
