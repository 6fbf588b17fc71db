"""The result of a search."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import Contact
from ros2_ik.core.problem.acceptance import error_norm, TargetError, Violation
from ros2_ik.core.robot import Joint
from ros2_ik.core.status import ExitFlag, Status


class JointChange(NamedTuple):
    """Absolute change of a joint in `unit`, 'rad' or 'm'."""

    joint: str
    change: float
    unit: str

    def __str__(self) -> str:
        return f'{self.change:.3g} {self.unit} ({self.joint})'


def largest_change(joints: Iterable[Joint], before: Array, after: Array) -> JointChange | None:
    """
    Return the largest change of a joint between configurations (nq,), without wrapping angles.

    Planar and floating joints are left out; returns None if there are no other joints.
    """
    changes = np.abs(after - before).tolist()
    largest, change = None, -1.0
    for joint in joints:
        if joint.is_scalar and changes[joint.index] > change:
            largest, change = joint, changes[joint.index]
    if largest is None:
        return None
    return JointChange(largest.name, change, 'rad' if largest.rotary else 'm')


# eq=False: solutions compare by identity, because arrays have no single truth value.
# slots: reading an unset field calls __getattr__, which computes the field.
@dataclass(frozen=True, eq=False, slots=True)
class IKSolution:
    """
    The result of a search for joint values; its truth value is True if the search succeeded.

    `q` (nq,) and `joints` (by name, mimic joints included) are the solution, or None if there is
    none. The solution may be approximate only if the options allow it. `best_q` and `best_joints`
    are the best values found, also set if the search failed. `errors`, `violations`, `costs` and
    `contacts` are those at `best_q`. `travel` is the largest change of an active joint from the
    first seed to `best_q`; planar and floating joints do not count.

    `pose_error_norm` is the norm of all errors as one vector that mixes metres and radians, as in
    MATLAB. `alternatives` are further solutions, best first, if several were requested.
    `impossible` is True if it was proved that the problem has no solution; other failures prove
    nothing. `not_checked` lists gaps in the collision check: links without geometry, pairs of
    links left out although no SRDF disables them, or all collisions if the check is switched off.
    """

    status: Status
    message: str
    best_q: Array = field(repr=False)
    best_joints: dict[str, float | Array]
    errors: tuple[TargetError, ...] = ()
    violations: tuple[Violation, ...] = ()
    costs: tuple[tuple[str, float], ...] = ()   # name and value of each cost
    contacts: tuple[Contact, ...] = ()
    iterations: int = 0
    restarts: int = 0
    seconds: float = 0.0
    solver: str = ''
    solver_reason: str = ''
    exit_flag: ExitFlag = ExitFlag.NOT_RUN
    alternatives: tuple['IKSolution', ...] = field(default=(), repr=False)
    impossible: bool = False
    travel: JointChange | None = None
    not_checked: tuple[str, ...] = ()

    _compute: Callable[['IKSolution', str], object] | None = field(
        init=False, repr=False, default=None)

    @classmethod
    def lazy(cls, compute: Callable[['IKSolution', str], object], status: Status, best_q: Array,
             alternatives: tuple['IKSolution', ...]) -> 'IKSolution':
        """
        Return a solution with the given fields; `compute(solution, name)` computes the others.

        A field is computed when first read: a program that solves in a loop reads few fields.
        """
        solution, keep = object.__new__(cls), object.__setattr__
        keep(solution, 'status', status)
        keep(solution, 'best_q', best_q)
        keep(solution, 'alternatives', alternatives)
        keep(solution, '_compute', compute)
        return solution

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS or self._compute is None:
            raise AttributeError(f"an IKSolution has no '{name}'")
        value = self._compute(self, name)
        object.__setattr__(self, name, value)
        return value

    def __reduce__(self) -> tuple[object, ...]:
        # pickling computes all fields, because the search behind `_compute` is not pickled
        return IKSolution, tuple(getattr(self, name) for name in FIELDS)

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """True if the status is SUCCESS: `best_q` was accepted by `accept`."""
        return self.status is Status.SUCCESS

    @property
    def q(self) -> Array | None:
        """The solution (nq,), or None if the status is neither SUCCESS nor APPROXIMATE."""
        return self.best_q if self._has_solution else None

    @property
    def joints(self) -> dict[str, float | Array] | None:
        """The solution by joint name, or None, as for `q`."""
        return self.best_joints if self._has_solution else None

    @property
    def _has_solution(self) -> bool:
        return self.status in (Status.SUCCESS, Status.APPROXIMATE)

    @property
    def cost(self) -> float:
        """Sum of all costs at `best_q`."""
        return sum(value for _, value in self.costs)

    @property
    def pose_error_norm(self) -> float:
        """Norm of all errors as one vector, like MATLAB's PoseErrorNorm."""
        return error_norm(self.errors)

    def explain(self) -> str:
        """Return a text of several lines: status, errors, violations, contacts, costs, advice."""
        lines = [f'{self.status.name}: {self.message}']
        for error in self.errors:
            lines.append(f"  '{error.tip}' is {error.position:.3g} m and "
                         f'{error.orientation:.3g} rad from its target')
        lines += [f'  violated: {violation}' for violation in self.violations]
        lines += [f'  touching: {contact}' for contact in self.contacts[:5]]
        if self.travel is not None:
            lines.append(f'  largest joint change from the seed: {self.travel}')
        lines += [f'  cost {name}: {value:.4g}' for name, value in self.costs]
        lines += [f'  {text}' for text in self.not_checked]
        if advice := self._advice():
            lines.append(f'  try: {advice}')
        lines.append(f'  {self.solver}: {self.iterations} iterations, {self.restarts} restarts, '
                     f'{self.seconds * 1e3:.2f} ms ({self.solver_reason})')
        return '\n'.join(lines)

    def _advice(self) -> str:
        if self.contacts and not self.violations:
            return ('another target, or removing the obstacle; contacts of links whose models '
                    "always touch can be allowed (SRDF, the scene's `allowed`)")
        # the message of an impossible problem already names the reason
        if self.success or self.impossible:
            return ''
        if self.restarts == 0 or self.exit_flag in (ExitFlag.TIME_LIMIT, ExitFlag.CANCELLED):
            return 'a longer timeout, or restarts if they were off'
        return ''


FIELDS = tuple(each.name for each in fields(IKSolution) if each.init)
