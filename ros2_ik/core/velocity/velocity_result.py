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

AT_LIMIT = 1e-9     # largest distance from a limit that counts as being at the limit [rad, m]


class VelocityStatus(Enum):
    """Status of a step."""

    SOLVED = 'solved'          # all limits, barriers and hard tasks hold
    RELAXED = 'relaxed'        # conflicting requirements (least violation), or a shortened step
    NO_STEP = 'no step'        # values not finite, or the first QP not solvable: velocity zero


class StepNumbers(NamedTuple):
    """Results of one call of the compiled step."""

    code: int           # DONE, RELAXED ... of kernels/velocity.py
    scale: float        # factor of the step of scaled tasks, in [0, 1]
    q: Array            # configuration after the step (nq,)
    step: Array         # displacement in the tangent space (nv,)
    values: Array       # values of functions before the step, and targets (2, m)
    ends: Array         # smallest and largest step that the limits permit (2, nv)
    violations: Array   # of rows of functions, rows of `near`, limits of joints
    near: tuple[DistanceRows, ...]
    excess: tuple[float, ...] = ()      # violation of each barrier of distances at the end [m]


class ProgramNames(NamedTuple):
    """Names of the rows (tasks, barriers, limits) and columns (joints) of a velocity program."""

    targets: tuple[tuple[str, slice], ...]      # tasks that have a target
    rows: tuple[tuple[str, slice], ...]         # tasks, barriers of functions, limits of frames
    columns: tuple[str, ...]                    # joint of each column (nv,)


@dataclass(eq=False)
class VelocityResult:
    """
    The velocity of one step, and the configuration after the step.

    `v` (nv,) is the velocity [rad/s, m/s], `q` (nq,) the configuration. `scale`, in [0, 1], is the
    executed fraction of the step that scaled tasks request; if the step is halved to stay within a
    bound, so is `scale`. `errors`, `relaxed` and `active_limits` are computed when they are read.
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
        """Errors target - f (m,) before the step, by the name of each task with a target."""
        f, targets = self._numbers.values
        return {name: targets[row_slice] - f[row_slice] for name, row_slice in self._names.targets}

    @cached_property
    def relaxed(self) -> Mapping[str, float]:
        """Largest violation of each violated limit, barrier, hard or scaled task, by name."""
        # order of `violations`: rows of functions, rows of pairs, limits of joints
        violations = np.abs(self._numbers.violations)
        found = [(name, float(violations[rows].max(initial=0))) for name, rows in self._names.rows]
        labels = [label for near in self._numbers.near for label in near.labels]
        others = violations[self._numbers.values.shape[1]:].tolist()
        found += zip([*labels, *LIMITS], others, strict=True)
        # `near` and `excess` are empty if there are no barriers of distances
        found += zip((near.barrier for near in self._numbers.near), self._numbers.excess,
                     strict=True)
        largest = dict[str, float]()
        for name, by in found:
            if by > 0:
                largest[name] = max(by, largest.get(name, 0.0))
        return largest

    @cached_property
    def active_limits(self) -> tuple[str, ...]:
        """Joints whose step is as large as limits permit: '<joint> lower' or '<joint> upper'."""
        if self.status is VelocityStatus.NO_STEP:
            return ()
        step, (low, high) = self._numbers.step, self._numbers.ends
        return tuple(f'{name} {"lower" if below else "upper"}' for name, below, above in zip(
            self._names.columns, step <= low + AT_LIMIT, step >= high - AT_LIMIT,
            strict=True) if below or above)

    @property
    def message(self) -> str:
        """The status as text, with violations and the scale."""
        parts = [self.status.value]
        if self.relaxed:
            parts[0] += ': ' + ', '.join(f'{name} by {by:.3g}'
                                         for name, by in self.relaxed.items())
        if self.scale < 1 and self.status is not VelocityStatus.NO_STEP:
            parts.append(f'the step is scaled to {100 * self.scale:.0f} %')
        return '; '.join(parts)
