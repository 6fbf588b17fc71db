"""Options of a search: the one list of their names, defaults and checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
import math
from threading import Event
from typing import Any

import numpy as np

from ros2_ik.core.checks import positive, vector, whole
from ros2_ik.core.errors import InvalidOptionError

TIMEOUT = 0.05    # of a search [s]
SELECTIONS = ('first', 'nearest', 'cost', 'manipulability')
MATLAB_OPTIONS = {'max_time': 'timeout', 'allow_random_restart': 'allow_restarts'}


@dataclass(slots=True)
class SolveOptions:
    """
    Options of `solve`, `solve_pose` and `Search`; raises InvalidOptionError.

    `timeout` [s]: at least one descent is made, even with a tiny timeout. `solver` is a name
    of `solver_names()`, or 'auto', which chooses by the problem and gives the reason in the
    solution. `select` says which answers are returned: the 'first' found, or of all found in
    the time the 'nearest' (to the first seed), or best by 'cost' (lowest) or 'manipulability' (of
    the targets' tips: Yoshikawa, the product over the tips). `solutions` is how many different
    answers are wanted. Without `allow_restarts` only the seeds are tried. Of all turns of a
    joint that mean the same, the one nearest the first seed is kept.
    `approximate` (position [m], orientation [rad]) asks for the best answer within these when
    there is no other; its status is then APPROXIMATE. `max_joint_change` [rad, m] bounds how
    far joints move from the first seed, turns counted: one number, numbers by joint name, or
    one for each joint of the robot. `random_state` is a number or numpy Generator: the same
    gives the same starts. `max_iterations` bounds all attempts together. `cancel` is an event
    or callable. `solver_options` are the solver's.
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
        if not (self.cancel is None or callable(self.cancel) or hasattr(self.cancel, 'is_set')):
            raise InvalidOptionError('cancel must be an event or a callable, not '
                                     f'{self.cancel!r}')
        self.solutions = whole(self.solutions, 'solutions', InvalidOptionError)
        if not (isinstance(self.select, str) and self.select in SELECTIONS):
            raise InvalidOptionError(f'select is {self.select!r}; valid: {", ".join(SELECTIONS)}')
        if not isinstance(self.allow_restarts, (bool, np.bool_)):
            raise InvalidOptionError(f'allow_restarts is True or False, not '
                                     f'{self.allow_restarts!r}')
        if not isinstance(self.solver_options, Mapping):
            raise InvalidOptionError('solver_options must be a mapping from names, not '
                                     f'{self.solver_options!r}')
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
        """Return options of keyword arguments; those of other names are the solver's."""
        if not arguments:
            return DEFAULTS
        own: dict[str, Any] = {}
        others = dict(arguments.get('solver_options') or ())
        for name, value in arguments.items():
            ours = MATLAB_OPTIONS.get(name, name)
            if ours != name and ours in arguments:
                raise InvalidOptionError(f'{name} is another name of {ours}; valid: one of the '
                                         'two')
            if ours != 'solver_options':
                (own if ours in OF_SEARCH else others)[ours] = value
        return cls(**own, solver_options=others)


OF_SEARCH = tuple(each.name for each in fields(SolveOptions))
# all keywords that `solve_pose` takes, to find the one meant by a misspelt one
NAMES = (*OF_SEARCH, *MATLAB_OPTIONS, 'relative_to', 'group', 'locked', 'weights',
         'position_tolerance', 'orientation_tolerance', 'joint_limits',
         'enforce_joint_limits', 'scene', 'meshes', 'missing_meshes', 'collisions')
DEFAULTS = SolveOptions()
