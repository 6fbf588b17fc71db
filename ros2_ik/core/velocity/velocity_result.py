"""What a step of velocity IK comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array

if TYPE_CHECKING:
    from ros2_ik.core.velocity.velocity_program import VelocityProgram

AT_LIMIT = 1e-9     # [rad, m] of a step


class VelocityStatus(Enum):
    """How a step went."""

    SOLVED = 'solved'          # all limits, barriers and hard tasks hold
    RELAXED = 'relaxed'        # they contradict each other: the least violating velocity
    NO_STEP = 'no step'        # numbers that are not finite: velocity zero


@dataclass(eq=False)
class VelocityResult:
    """
    The velocity of one step, and where it leads.

    `v` (nv,) [rad/s, m/s] and `q` (nq,) after the step; `scale` is the part of the way that
    scaled tasks go; `dropped` are the names of tasks that were left out because their targets are
    not finite. `errors`, `relaxed` and `active_limits` are worked out when they are read.
    """

    v: Array
    q: Array
    status: VelocityStatus
    scale: float
    dropped: tuple[str, ...]
    _program: 'VelocityProgram' = field(repr=False)
    _numbers: tuple[Any, ...] = field(repr=False)

    @property
    def success(self) -> bool:
        """Whether all that must hold holds."""
        return self.status is VelocityStatus.SOLVED

    @cached_property
    def errors(self) -> Mapping[str, Array]:
        """How far each task that has a target was from it before the step, (m,), by name."""
        f, targets = self._numbers[0], self._numbers[3]
        return {task.name: targets[place] - f[place]
                for task, place in self._program.placed_tasks if task.target is not None}

    @cached_property
    def relaxed(self) -> Mapping[str, float]:
        """By how much what is hard is missed in this step, in its unit, by name."""
        missed, near = self._numbers[1], self._numbers[4]
        found = dict[str, float]()
        for name, place in self._program.hard_rows(near):
            largest = float(np.abs(missed[place]).max(initial=0.0))
            if largest > 0:
                found[name] = max(largest, found.get(name, 0.0))
        return found

    @cached_property
    def active_limits(self) -> tuple[str, ...]:
        """The joints that a limit keeps from moving further, with its kind."""
        if self.status is VelocityStatus.NO_STEP:
            return ()
        step, low, high = self._numbers[2]
        return tuple(f'{name} {"lower" if below else "upper"}' for name, below, above in zip(
            self._program.column_names, step <= low + AT_LIMIT, step >= high - AT_LIMIT,
            strict=True) if below or above)

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        parts = [self.status.value]
        if self.relaxed:
            parts.append('relaxed: ' + ', '.join(f'{name} by {by:.3g}'
                                                 for name, by in self.relaxed.items()))
        if self.dropped:
            parts.append('left out, as the target is not finite: ' + ', '.join(self.dropped))
        if self.scale < 1 and self.status is not VelocityStatus.NO_STEP:
            parts.append(f'scaled tasks go {100 * self.scale:.0f} % of their way')
        return '; '.join(parts)
