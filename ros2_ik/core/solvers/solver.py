"""Interface and registry of solvers, and the budget of a search."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
import inspect
import math
from threading import Event
import time
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidOptionError, nearest, UnknownNameError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.options import NAMES
from ros2_ik.core.solvers.starts import draw_starts, Starts
from ros2_ik.core.status import ExitFlag

# stands for an unlimited number of iterations, in compiled code too
UNLIMITED = 2**62


@dataclass(slots=True)
class Budget:
    """
    Deadline, remaining iterations and cancel flag of one search.

    `deadline` and `started` are times of the monotonic clock (`time.monotonic`) [s], which all
    processes of a machine share. The search subtracts used iterations from `iterations`. The
    search is cancelled when `cancel` is set (an event) or returns True (a callable).
    """

    deadline: float = math.inf
    iterations: int = UNLIMITED
    cancel: Event | Callable[[], bool] | None = None
    started: float = field(default_factory=time.monotonic)
    flag: ExitFlag | None = None

    def cancelled(self) -> bool:
        """Return whether the search was cancelled."""
        if self.cancel is None:
            return False
        return bool(self.cancel.is_set() if hasattr(self.cancel, 'is_set') else self.cancel())

    def interrupted(self) -> ExitFlag | None:
        """Return the reason to stop a descent now, or None; `flag` keeps the result."""
        self.flag = None
        if time.monotonic() >= self.deadline:
            self.flag = ExitFlag.TIME_LIMIT
        elif self.cancelled():
            self.flag = ExitFlag.CANCELLED
        return self.flag

    def over(self) -> bool:
        """Return whether no further attempt is allowed."""
        return self.iterations <= 0 or self.interrupted() is not None


class Attempt(NamedTuple):
    """
    Result of a descent: q (nq,), squared error of the hard rows, iterations and exit flag.

    `cost` is the sum of the costs if the solver minimizes costs. q meets the hard rows if `holds`
    is True or the exit flag is CONVERGED.
    """

    q: Array
    error: float
    iterations: int
    exit_flag: ExitFlag
    cost: float = 0.0
    holds: bool = False

    @property
    def reached(self) -> bool:
        """True if q meets the hard rows according to the solver, before the test by `accept`."""
        return self.holds or self.exit_flag is ExitFlag.CONVERGED


class Solver:
    """
    Base class of local solvers, which descend from a start.

    A solver is made for one problem; its options are keyword arguments of __init__. A subclass
    overrides `attempt`, or `find` if it descends from several starts in one call; by default, the
    two call each other. `Search` handles restarts, selection and collisions; `accept` decides on
    success. `kinds` are the `IKProblem.kinds` that the solver supports. `batch_size` is the best
    number of starts for one call of `find`. `finds_starts` is True if `find` skips the starts near
    the seed for far targets, adds the full turns that bring joints nearest to the seed, and
    accepts problems that differ from the solver's own only in target poses, start and limits.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[str]] = frozenset(('targets',))
    batch_size: int = 1
    finds_starts: bool = False

    def __init__(self, problem: IKProblem) -> None:
        self.problem = problem
        for kind in problem.kinds - self.kinds:
            able = [name for name, solver in _SOLVERS.items() if problem.kinds <= solver.kinds]
            raise InvalidOptionError(f"solver '{self.name}' cannot use {kind}; of the loaded "
                                     f'solvers these can: {", ".join(able) or "none"}')

    def without_problem(self) -> 'Solver':
        """Return a copy for `find` that does not keep the problem's checker in memory."""
        solver = copy(self)
        del solver.problem
        return solver

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,) until the descent converges, stalls or exceeds the budget."""
        return self.find(self.problem, Starts(start, 0, 0, np.zeros(1, dtype=np.int64)), budget)[0]

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """
        Descend from numbered `starts`, one after another, until a descent meets the hard rows.

        This default uses only the first start. Returns the best attempt, the number of starts
        used, and the number of the next start.
        """
        start = self.problem.start.copy()
        start[self.problem.active.q_slice] = draw_starts(self.problem, starts._replace(
            last=starts.first))[0]
        return self.attempt(start, budget), 1, starts.first + 1


_SOLVERS: dict[str, type[Solver]] = {}
S = TypeVar('S', bound=type[Solver])


def register_solver(name: str) -> Callable[[S], S]:
    """
    Return a decorator that registers a Solver class under a name.

    Other packages register their solvers in the entry point group `ros2_ik.solvers`. Raises
    TypeError for a class that overrides neither `attempt` nor `find`.
    """
    def register(solver: S) -> S:
        if solver.attempt is Solver.attempt and solver.find is Solver.find:
            raise TypeError(f"solver '{name}' must override `attempt` or `find`")
        solver.name = name
        _SOLVERS[name] = solver
        return solver
    return register


def solver_names() -> tuple[str, ...]:
    """Return the names of all solvers, including those of other packages (entry points)."""
    return tuple(dict.fromkeys([*_SOLVERS, *(e.name for e in entry_points(group=GROUP))]))


# entry point group of solvers in other packages
GROUP = 'ros2_ik.solvers'


def make_solver(name: str, problem: IKProblem, options: Mapping[str, object]) -> Solver:
    """
    Return a new solver by its name.

    Raises UnknownNameError, or InvalidOptionError for an option that the solver does not have.
    """
    make = _SOLVERS.get(str(name)) or _load(str(name))
    valid = _option_names(str(name)) if options else ()
    for option in options:
        if option not in valid:
            known = [*valid, *NAMES]
            hint = nearest(option, known) or f'valid: {", ".join(known)}'
            raise InvalidOptionError(f"'{option}' is neither an option of a search nor of solver "
                                     f"'{name}'; {hint}")
    return make(problem, **options)


# cached: reading a signature takes longer than a search
@lru_cache(maxsize=32)
def _option_names(solver: str) -> tuple[str, ...]:
    parameters = inspect.signature(_SOLVERS[solver]).parameters
    return tuple(name for name in parameters if name != 'problem')


def _load(name: str) -> type[Solver]:
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            solver: type[Solver] = entry.load()
            return register_solver(name)(solver)
    raise UnknownNameError(name, ('auto', *solver_names()), 'solver')
