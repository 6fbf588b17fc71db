"""Interface and registry of solvers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
import inspect
from typing import ClassVar, NamedTuple, TypeVar

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidOptionError, UnknownOptionError, UnknownSolverError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.options import NAMES
from ros2_ik.core.solvers.starts import draw_starts, Starts
from ros2_ik.core.status import ExitFlag


class Attempt(NamedTuple):
    """
    End of a descent: q (nq,), the squared error of hard rows, and the reason.

    `cost` is the sum of the costs where they were looked at; such a descent may end before their
    minimum where all that must hold does: `holds`.
    """

    q: Array
    error: float
    iterations: int
    exit_flag: ExitFlag
    cost: float = 0.0
    holds: bool = False

    @property
    def reached(self) -> bool:
        """True if the hard rows hold, as far as the solver sees."""
        return self.holds or self.exit_flag is ExitFlag.CONVERGED


class Solver(ABC):
    """
    A local solver: descends from a start; some take several starts in one call.

    Made for one problem, so that what can be prepared is prepared once. Options are keyword
    arguments of __init__. Knows nothing of restarts, selection or collisions, and claims no
    success: acceptance does. `kinds` are the parts of a problem that it can use, `batch_size`
    how many starts it is best given in turn.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[str]] = frozenset(('targets',))
    batch_size: int = 1
    finds_starts: bool = False

    def __init__(self, problem: IKProblem) -> None:
        self.problem = problem
        for kind in problem.kinds - self.kinds:
            able = [name for name, solver in _SOLVERS.items() if problem.kinds <= solver.kinds]
            raise InvalidOptionError(f"solver '{self.name}' cannot use {kind}; of the built-in "
                                     f'ones these can: {", ".join(able) or "none"}')

    @abstractmethod
    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,) until a target is reached, stalled or the budget is over."""

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """
        Descend from numbered `starts`, see `Starts`, until one reaches what must hold.

        Only the first, unless a solver can take more. Solvers with `finds_starts` draw these by
        themselves, and serve each problem that differs from their own in poses of targets, start
        and limits alone. Returns the best end, how many starts were used, and the number of the
        next.
        """
        start, = draw_starts(self.problem, starts._replace(last=starts.first))
        return self.attempt(start, budget), 1, starts.first + 1


_SOLVERS: dict[str, type[Solver]] = {}
S = TypeVar('S', bound=type[Solver])


def register_solver(name: str) -> Callable[[S], S]:
    """Enter a Solver class under a name; packages of others do so by entry point."""
    def enter(solver: S) -> S:
        solver.name = name
        _SOLVERS[name] = solver
        return solver
    return enter


def solver_names() -> tuple[str, ...]:
    """Names of all solvers, those of other packages (entry points `ros2_ik.solvers`) too."""
    return tuple(dict.fromkeys([*_SOLVERS, *(e.name for e in entry_points(group=GROUP))]))


GROUP = 'ros2_ik.solvers'    # of entry points
MATLAB_NAMES = {'BFGSGradientProjection': 'bfgs', 'LevenbergMarquardt': 'lm', 'fminconsqp': 'sqp'}


def make_solver(name: str, problem: IKProblem, options: Mapping[str, object]) -> Solver:
    """
    Make the solver of that name for a problem; MATLAB's names of algorithms are known, too.

    Raises UnknownSolverError, or InvalidOptionError for an option it does not have.
    """
    name = MATLAB_NAMES.get(str(name), str(name))
    make = _SOLVERS.get(name) or _load(name)
    valid = [p for p in inspect.signature(make).parameters if p != 'problem'] if options else []
    for option in options:
        if option not in valid:
            raise UnknownOptionError(option, name, [*valid, *NAMES])
    return make(problem, **options)


def _load(name: str) -> type[Solver]:
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            solver: type[Solver] = entry.load()
            return register_solver(name)(solver)
    raise UnknownSolverError(name, ('auto', *solver_names()))
