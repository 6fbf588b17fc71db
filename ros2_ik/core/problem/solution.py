"""The one result type of everything that solves."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TYPE_CHECKING

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem.acceptance import error_norm, TargetError, Violation
from ros2_ik.core.problem.joint_change import JointChange
from ros2_ik.core.status import ExitFlag, Status

if TYPE_CHECKING:
    from ros2_ik.core.collision import Contact


# two are equal if they are one: arrays do not compare; in slots, what is missing can be late
@dataclass(frozen=True, eq=False, slots=True)
class IKSolution:
    """
    The answer to a question.

    `q` (nq,) and `joints` (by name, all joints of the robot, mimic ones, too) are the answer and
    None without success, or an approximate one where that was asked for; `best_q` and
    `best_joints` are the least bad values seen, always. `errors`, `violations` and `costs` are
    those of best_q, which is q in case of success. `pose_error_norm` is the length of all counted
    error rows together, metres and radians mixed as in MATLAB. `alternatives` are other answers
    when several were asked for, best first. `impossible` means that there is no answer: that was
    shown, where other failures have only found none. `not_checked` says what acceptance could not
    look at: links without geometry, pairs of links left out without an SRDF, collisions switched
    off.
    `at_limits` names, without success, the moving joints that stand at one of their limits.
    `travel` is the largest change of a joint from the first seed to best_q. A solution is true if
    it is a success.
    """

    status: Status
    message: str
    best_q: Array = field(repr=False)
    best_joints: dict[str, float | Array]
    errors: tuple[TargetError, ...] = ()
    violations: tuple[Violation, ...] = ()
    costs: tuple[tuple[str, float], ...] = ()    # name and value of each cost, at best_q
    contacts: 'tuple[Contact, ...]' = ()
    iterations: int = 0
    restarts: int = 0
    seconds: float = 0.0
    solver: str = ''
    solver_reason: str = ''
    exit_flag: ExitFlag = ExitFlag.NOT_RUN
    at_limits: tuple[str, ...] = ()
    alternatives: tuple['IKSolution', ...] = field(default=(), repr=False)
    impossible: bool = False
    travel: JointChange | None = None    # the largest, of the joints that may move
    not_checked: tuple[str, ...] = ()

    _work_out: Callable[[str], object] | None = field(init=False, repr=False, default=None)

    @classmethod
    def late(cls, work_out: Callable[[str], object], **fields: Any) -> 'IKSolution':
        """
        Return a solution of some fields; the others are worked out, by name, when they are read.

        Those who ask in a loop read few.
        """
        solution = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(solution, name, value)
        object.__setattr__(solution, '_work_out', work_out)
        return solution

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_') or name not in FIELDS or self._work_out is None:
            raise AttributeError(f"an IKSolution has no '{name}'")
        value = self._work_out(name)
        object.__setattr__(self, name, value)
        return value

    def __reduce__(self) -> tuple[object, ...]:
        return IKSolution, tuple(getattr(self, name) for name in FIELDS)

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """True if acceptance agreed: status is SUCCESS."""
        return self.status is Status.SUCCESS

    @property
    def q(self) -> Array | None:
        """The answer (nq,), or None; one that is APPROXIMATE was asked for."""
        return self.best_q if self._answered else None

    @property
    def joints(self) -> dict[str, float | Array] | None:
        """The answer by joint name, or None."""
        return self.best_joints if self._answered else None

    @property
    def _answered(self) -> bool:
        return self.status in (Status.SUCCESS, Status.APPROXIMATE)

    @property
    def cost(self) -> float:
        """Sum of all costs, at best_q."""
        return sum(value for _, value in self.costs)

    @property
    def pose_error_norm(self) -> float:
        """Length of all counted error rows, as MATLAB's PoseErrorNorm."""
        return error_norm(self.errors)

    def explain(self) -> str:
        """Return a text: satisfied and violated constraints, amounts, and advice."""
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
        if self.violations and self.at_limits:
            lines.append(f'  joints at a limit: {", ".join(self.at_limits)}')
        if advice := self._advice():
            lines.append(f'  try: {advice}')
        lines.append(f'  {self.solver}: {self.iterations} iterations, {self.restarts} restarts, '
                     f'{self.seconds * 1e3:.2f} ms ({self.solver_reason})')
        return '\n'.join(lines)

    def _advice(self) -> str:
        if self.contacts and not self.violations:
            return ('another target, or removing the obstacle; links whose model touches in every '
                    'state can be allowed to (SRDF, Scene.allow)')
        if self.success or self.impossible:     # the message says why
            return ''
        if self.restarts == 0 or self.exit_flag in (ExitFlag.TIME_LIMIT, ExitFlag.CANCELLED):
            return 'a longer timeout, or restarts if they were off'
        return ''


FIELDS = tuple(each.name for each in fields(IKSolution) if each.init)
