"""The result of a step of velocity IK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels.velocity_rows import LIMITS
from ros2_ik.core.velocity.distance_constraints import DistanceRows

AT_LIMIT = 1e-9     # [rad, m] of a step


class VelocityStatus(Enum):
    """Outcome of a step."""

    SOLVED = 'solved'          # all limits, barriers and hard tasks hold
    RELAXED = 'relaxed'        # they contradict each other: the least violating velocity
    NO_STEP = 'no step'        # numbers that are not finite: velocity zero


class StepNumbers(NamedTuple):
    """Numbers of one compiled step."""

    code: int
    scale: float
    q: Array
    step: Array         # (nv,)
    values: Array       # before the step, and the targets (2, m)
    ends: Array         # how far joints could have gone down and up (2, nv)
    missed: Array       # by how much: rows of functions, of the pairs in `near`, limits of joints
    near: tuple[DistanceRows, ...]
    excess: tuple[float, ...] = ()      # of each barrier of distances at the end [m]


class ProgramNames(NamedTuple):
    """Names of a velocity program's parts, some with the places of their rows."""

    targets: tuple[tuple[str, slice], ...]      # tasks that have a target
    rows: tuple[tuple[str, slice], ...]         # tasks, barriers of functions, limits of frames
    distances: tuple[str, ...]                  # barriers of distances
    columns: tuple[str, ...]                    # joints (nv,)


@dataclass(eq=False)
class VelocityResult:
    """
    The velocity of one step, and where it leads.

    `v` (nv,) [rad/s, m/s] and `q` (nq,) after the step; `scale` is the part of the way that
    scaled tasks go. `errors`, `relaxed` and `active_limits` are computed when they are read.
    """

    v: Array
    q: Array
    status: VelocityStatus
    scale: float
    _names: ProgramNames = field(repr=False)
    _numbers: StepNumbers = field(repr=False)

    @property
    def success(self) -> bool:
        """True if all limits, barriers and hard tasks hold."""
        return self.status is VelocityStatus.SOLVED

    @cached_property
    def errors(self) -> Mapping[str, Array]:
        """Errors (m,) before the step of the tasks that have a target, by name."""
        f, targets = self._numbers.values
        return {name: targets[place] - f[place] for name, place in self._names.targets}

    @cached_property
    def relaxed(self) -> Mapping[str, float]:
        """Violations of limits, barriers and hard tasks, in their units, by name."""
        missed = np.abs(self._numbers.missed)
        found = [(name, float(missed[place].max(initial=0.0))) for name, place in self._names.rows]
        labels = [label for near in self._numbers.near for label in near.labels]
        others = missed[self._numbers.values.shape[1]:].tolist()
        found += zip([*labels, *LIMITS], others, strict=True)
        found += zip(self._names.distances, self._numbers.excess, strict=False)
        largest = dict[str, float]()
        for name, by in found:
            if by > 0:
                largest[name] = max(by, largest.get(name, 0.0))
        return largest

    @cached_property
    def active_limits(self) -> tuple[str, ...]:
        """The joints that a limit keeps from moving further, with its kind."""
        if self.status is VelocityStatus.NO_STEP:
            return ()
        step, (low, high) = self._numbers.step, self._numbers.ends
        return tuple(f'{name} {"lower" if below else "upper"}' for name, below, above in zip(
            self._names.columns, step <= low + AT_LIMIT, step >= high - AT_LIMIT,
            strict=True) if below or above)

    @property
    def message(self) -> str:
        """A sentence about the outcome."""
        parts = [self.status.value]
        if self.relaxed:
            parts.append('relaxed: ' + ', '.join(f'{name} by {by:.3g}'
                                                 for name, by in self.relaxed.items()))
        if self.scale < 1 and self.status is not VelocityStatus.NO_STEP:
            parts.append(f'scaled tasks go {100 * self.scale:.0f} % of their way')
        return '; '.join(parts)
