"""Options of a search: names, defaults and checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
import math
from threading import Event
from typing import Any

import numpy as np

from ros2_ik.core.checks import check_cancel, entries, flag, one_of, positive, vector, whole
from ros2_ik.core.errors import InvalidOptionError

# default timeout of a search [s]
TIMEOUT = 0.05
SELECTIONS = ('first', 'nearest', 'cost', 'manipulability')


@dataclass(slots=True)
class SolveOptions:
    """
    Options of `solve`, `solve_pose` and `Search`.

    - `timeout` [s]: time limit of the search; one attempt is made even after the timeout.
    - `solver`: a name in `solver_names()`, or 'auto', which chooses a solver for the problem and
      gives the reason in the solution.
    - `select`: the solution to return. 'first' returns the first one found. 'nearest' (to the
      first seed), 'cost' (lowest) and 'manipulability' (largest product of Yoshikawa's measures
      of all target tips) search until the timeout or another limit and return the best one.
    - `solutions`: number of different solutions to find; above 1, 'first' returns the nearest.
    - `allow_restarts`: False tries only the seeds.
    - `approximate` (position [m], orientation [rad]): if no solution is found, return the best
      configuration with target errors within these bounds, with the status APPROXIMATE.
    - `max_joint_change` [rad, m]: bound on the joint changes from the first seed (a full turn
      counts as 2 pi); one number, or numbers by joint name. Planar and floating joints that may
      move cannot be bounded.
    - `random_state`: integer or numpy Generator, whose value or state fixes the random starts.
    - `max_iterations`: bound on the iterations of all attempts together.
    - `cancel`: an event, or a callable that returns True to cancel the search.
    - `solver_options`: keyword arguments of the solver.

    If full turns of a joint make no difference, the angle within its limits that is nearest to
    the first seed is returned. Raises InvalidOptionError.
    """

    timeout: float = TIMEOUT
    solver: str = 'auto'
    select: str = 'first'
    solutions: int = 1
    allow_restarts: bool = True
    approximate: Any = None
    max_joint_change: Any = None
    random_state: int | np.random.Generator | None = None
    max_iterations: int | None = None
    cancel: Event | Callable[[], bool] | None = None
    solver_options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.timeout = positive(self.timeout, 'timeout', InvalidOptionError)
        if self.max_iterations is not None:
            self.max_iterations = whole(self.max_iterations, 'max_iterations', InvalidOptionError)
        check_cancel(self.cancel, InvalidOptionError)
        self.solutions = whole(self.solutions, 'solutions', InvalidOptionError)
        one_of(self.select, 'select', SELECTIONS, InvalidOptionError)
        flag(self.allow_restarts, 'allow_restarts', InvalidOptionError)
        self.solver_options = dict(entries(self.solver_options, 'solver_options',
                                           InvalidOptionError))
        if not isinstance(self.random_state, (np.random.Generator, type(None))):
            self.random_state = whole(self.random_state, 'random_state', InvalidOptionError, 0,
                                      math.inf)
        if self.approximate is not None:
            found = vector(self.approximate, 'approximate', 2, InvalidOptionError)
            if (found < 0).any():
                raise InvalidOptionError(f'approximate must not be negative: '
                                         f'{self.approximate!r}')
            self.approximate = found

    @classmethod
    def of(cls, arguments: dict[str, Any]) -> 'SolveOptions':
        """Return the options for keyword arguments; unknown names become `solver_options`."""
        if not arguments:
            return DEFAULTS
        own, others = dict[str, Any](), dict(entries(
            arguments.get('solver_options'), 'solver_options', InvalidOptionError))
        for name, value in arguments.items():
            if name != 'solver_options':
                (own if name in OPTION_NAMES else others)[name] = value
        return cls(**own, solver_options=others)


OPTION_NAMES = tuple(each.name for each in fields(SolveOptions))
# keywords of `solve_pose`: the error for an unknown keyword suggests a similar one
NAMES = (*OPTION_NAMES, 'relative_to', 'group', 'locked', 'weights', 'position_tolerance',
         'orientation_tolerance', 'joint_limits', 'scene', 'meshes', 'missing_meshes',
         'collisions')
DEFAULTS = SolveOptions()
