"""
The only place that may say SUCCESS.

It knows a robot, a question and joint values, nothing of how they were found: forward kinematics
runs anew, in a configuration of its own.
"""

from dataclasses import dataclass
import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.joint_change import JointChange
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration


@dataclass(frozen=True)
class TargetError:
    """How far a tip is from its target: position [m], orientation [rad], freed axes left out."""

    tip: str
    position: float
    orientation: float


@dataclass(frozen=True)
class Violation:
    """
    Something that does not hold: value is `amount` outside lower..upper, in `unit`.

    `kind` is what it belongs to: 'target', 'constraint' or 'joint'.
    """

    name: str
    value: float
    lower: float
    upper: float
    unit: str
    kind: str = 'joint'

    @property
    def amount(self) -> float:
        """How far outside."""
        return max(self.lower - self.value, self.value - self.upper, 0.0)

    def __str__(self) -> str:
        return (f'{self.name}: {self.value:.4g} {self.unit}, '
                f'allowed [{self.lower:.4g}, {self.upper:.4g}]')


@dataclass(frozen=True)
class Verdict:
    """What acceptance found."""

    accepted: bool
    errors: tuple[TargetError, ...]
    violations: tuple[Violation, ...]
    costs: tuple[float, ...] = ()    # of each cost of the problem
    touches: bool = False            # whether something is in contact; looked at if all else holds


def accept(problem: IKProblem, q: Array) -> Verdict:
    """
    Judge joint values (nq,) as an answer to a problem.

    Checked: numbers finite, every target within its tolerances, every constraint within its
    bounds, every joint that may move within its limits and the bound on its change, every other
    joint exactly where it was, and, where the problem has a checker, that nothing touches.
    """
    q = floats(q, 'q', f'{problem.robot.nq} numbers', InvalidStateError)
    if q.shape != (problem.robot.nq,):
        raise InvalidStateError(f'q has shape ({problem.robot.nq},), not {q.shape}')
    if not math.isfinite(q @ q):
        lost = Violation('joint values', float('nan'), -np.inf, np.inf, '(not finite)')
        return Verdict(False, (), (lost,))
    # a user's function may use what the robot's functions share
    at = Configuration(problem.robot, q,
                       None if problem.runs_user_code else problem.robot.scratch_data())
    errors, violations = [], _joint_violations(problem, q) + _turned_too_far(problem, q)
    for target in problem.targets:
        position, orientation = target.errors(at)
        errors.append(TargetError(target.tip, position, orientation))
        violations += _target_violations(target, position, orientation)
    for constraint in problem.constraints:
        violations += _constraint_violations(constraint, at)
    costs = tuple(cost.value(at) for cost in problem.costs)
    touches = not violations and problem.checker is not None and problem.checker.collides(q)
    return Verdict(not (violations or touches), tuple(errors), tuple(violations), costs, touches)


def _joint_violations(problem: IKProblem, q: Array) -> list[Violation]:
    locked = problem.free.is_locked
    wrong = np.where(locked, q != problem.start, (q < problem.lower) | (q > problem.upper))
    if not wrong.any():
        return []
    return [_joint_violation(problem, q, int(i), bool(locked[i])) for i in np.flatnonzero(wrong)]


def _turned_too_far(problem: IKProblem, q: Array) -> list[Violation]:
    """Floating joints that moved or turned by more than allowed: their bound is no range of q."""
    bound = problem.change_bound
    if bound is None or problem.free.vector_space:
        return []
    found = (bound.exceeded(joint, q) for joint in problem.free.joints if joint.kind == 'floating')
    return [_change_violation(change, bound.most[change.joint]) for change in found if change]


def _change_violation(change: JointChange, most: float) -> Violation:
    return Violation(f"change of joint '{change.joint}'", change.change, 0.0, most, change.unit)


def _joint_violation(problem: IKProblem, q: Array, index: int, moved: bool) -> Violation:
    joint = next(j for j in problem.robot.joints if j.index <= index < j.index + j.size)
    unit, value = 'rad' if joint.rotary else 'm', float(q[index])
    if moved:
        was = float(problem.start[index])
        return Violation(f"locked joint '{joint.name}'", value, was, was, unit)
    bound = problem.change_bound
    if bound is not None and (change := bound.exceeded(joint, q)):
        return _change_violation(change, bound.most[joint.name])
    return Violation(f"joint '{joint.name}'", value, joint.lower, joint.upper, unit)


def _target_violations(target: PoseTarget, position: float,
                       orientation: float) -> list[Violation]:
    rows = ((position, target.position_tolerance, 'position', 'm'),
            (orientation, target.orientation_tolerance, 'orientation', 'rad'))
    return [Violation(f"{what} error of '{target.tip}'", error, 0.0, tolerance, unit, 'target')
            for error, tolerance, what, unit in rows if not error <= tolerance]


def _constraint_violations(constraint: Constraint, at: Configuration) -> list[Violation]:
    """Rows outside their bounds; one that is no number is outside, too."""
    f, lower, upper = constraint.function.value(at), constraint.lower, constraint.upper
    held = (f >= lower - constraint.tolerance) & (f <= upper + constraint.tolerance)
    found = []
    for i in np.flatnonzero(~held):
        label, _, unit = constraint.labels[i].partition(' [')
        found.append(Violation(f'{constraint.name}: {label}', float(f[i]), float(lower[i]),
                               float(upper[i]), unit.rstrip(']'), 'constraint'))
    return found
