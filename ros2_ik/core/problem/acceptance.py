"""
The acceptance check: a solution has the status SUCCESS only if `accept` accepted it.

The check depends on robot, problem and joint values alone. It computes its own forward kinematics
(a product of exponentials, or Pinocchio's), and shares with the solvers only the functions of
constraints and costs, and the collision checker.
"""

from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, FLOAT
from ros2_ik.core.checks import are_finite, floats
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.kernels.acceptance import check_targets, OUT_OF_LIMITS, WITHIN_TOLERANCE
from ros2_ik.core.kernels.comparisons import are_within
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration, Robot


class TargetError(NamedTuple):
    """Position error [m] and orientation error [rad] of a tip; axes of weight 0 do not count."""

    tip: str
    position: float
    orientation: float


def error_norm(errors: Iterable[TargetError]) -> float:
    """Return the norm of all errors as one vector, metres and radians mixed."""
    return math.sqrt(sum(error.position**2 + error.orientation**2 for error in errors))


@dataclass(frozen=True)
class Violation:
    """
    A value that is `amount` outside its bounds [lower, upper], all in `unit`.

    `kind` is the kind of the violated condition: 'target', 'constraint' or 'joint'.
    """

    name: str
    value: float
    lower: float
    upper: float
    unit: str
    kind: str = 'joint'

    @property
    def amount(self) -> float:
        """Distance of `value` from the bounds, 0 inside."""
        return max(self.lower - self.value, self.value - self.upper, 0.0)

    def __str__(self) -> str:
        # append the distance from the bound if rounding makes value and bound look equal
        nearest = self.lower if self.value < self.lower else self.upper
        by = f' (by {self.amount:.2g})' if f'{self.value:.4g}' == f'{nearest:.4g}' else ''
        return (f'{self.name}: {self.value:.4g} {self.unit}, '
                f'allowed [{self.lower:.4g}, {self.upper:.4g}]{by}')


class AcceptanceReport(NamedTuple):
    """Result of the acceptance check of one configuration."""

    accepted: bool
    tips: tuple[str, ...]       # the tip of each target
    pose_errors: Array          # (t, 2): position error [m] and orientation error [rad] per target
    violations: tuple[Violation, ...]
    costs: tuple[float, ...] = ()   # the value of each cost of the problem
    touches: bool = False       # True if q has a contact; checked only if there are no violations

    @property
    def errors(self) -> tuple[TargetError, ...]:
        """The errors of all targets; empty if q is not finite."""
        return tuple(TargetError(tip, *error) for tip, error in zip(
            self.tips, self.pose_errors.tolist(), strict=False))


def accept(problem: IKProblem, q: Array) -> AcceptanceReport:
    """
    Check whether joint values q (nq,) solve a problem.

    q is accepted if it is finite, every target is within its tolerances, every constraint within
    its bounds and tolerance, every active joint within its limits and change bound, every other
    joint exactly at its start value, and, if the problem has a checker, q has no contact.
    """
    active, structure = problem.active, problem.structure
    q, errors = _values(problem.robot, q), np.empty((len(problem.poses), 2))
    # one compiled check of joints and targets; other checks only if it fails or is not sufficient
    result = check_targets.run(q, problem.start, active.indices, active.limits,
                               active.inactive_q_indices, structure.chains, problem.poses, errors)
    costs: tuple[float, ...] = ()
    violations: list[Violation] = []
    if result == OUT_OF_LIMITS:
        if not are_finite(q):
            return AcceptanceReport(False, structure.tips, np.empty((0, 2)), (Violation(
                'joint values', math.nan, -np.inf, np.inf, '(not finite)'),))
        violations = _joint_violations(problem, q)
    if result != WITHIN_TOLERANCE or not structure.compiled_check_suffices:
        costs = _check_terms(problem, q, errors, violations)
    # the collision check is the slowest part, so it comes last
    touches = not violations and problem.checker is not None and problem.checker.collides(q)
    return AcceptanceReport(not (violations or touches), structure.tips, errors,
                            tuple(violations), costs, touches)


def _check_terms(problem: IKProblem, q: Array, errors: Array,
                 violations: list[Violation]) -> tuple[float, ...]:
    """Fill the target errors (t, 2), extend `violations`, and return the cost values."""
    robot = problem.robot
    # new data if a user's function runs: the function may overwrite the shared scratch data
    data = robot.model.createData() if problem.structure.runs_user_code else robot.scratch_data()
    # `to_q` normalizes quaternions
    at = Configuration.of_checked(robot, robot.to_q(q) if robot.floating_joints else q, data)
    for k, target in enumerate(problem.targets):
        errors[k] = _target_errors(target, at, violations)
    for constraint in problem.constraints:
        violations += _constraint_violations(constraint, at)
    return tuple([cost.value(at) for cost in problem.costs])


def _values(robot: Robot, q: Any) -> Array:
    values: Array = q
    if not (type(q) is np.ndarray and q.dtype is FLOAT and q.flags.carray):
        values = floats(q, 'q', f'{robot.nq} numbers', InvalidStateError)
    if values.shape != (robot.nq,):
        raise InvalidStateError(f'q must be of shape ({robot.nq},), not {values.shape}')
    return values


def _target_errors(target: PoseTarget, at: Configuration,
                   violations: list[Violation]) -> tuple[float, float]:
    """Return the position and orientation error of a target; extend `violations`."""
    placed = at.placement(target.tip)
    if target.relative_to is not None:
        placed = at.placement(target.relative_to).actInv(placed)
    errors = target.errors(placed)
    for off, tolerance, what, unit in zip(
            errors, (target.position_tolerance, target.orientation_tolerance),
            ('position', 'orientation'), ('m', 'rad'), strict=True):
        # written as `not ...` to count NaN as a violation
        if not off <= tolerance:
            violations.append(Violation(f"{what} error of '{target.tip}'", off, 0.0, tolerance,
                                        unit, 'target'))
    return errors


def _joint_violations(problem: IKProblem, q: Array) -> list[Violation]:
    """Return violations of limits and change bounds, and changes of joints that must not move."""
    found, lower, upper = list[Violation](), problem.lower.copy(), problem.upper.copy()
    inactive = problem.active.inactive_q_indices
    lower[inactive] = upper[inactive] = problem.start[inactive]
    for joint in problem.robot.joints:
        part = slice(joint.index, joint.index + joint.size)
        wrong = (q[part] < lower[part]) | (q[part] > upper[part])
        if wrong.any():
            # only the first wrong value of a joint is reported
            k = int(np.argmax(wrong))
            i, is_angle = joint.index + k, joint.rotary or (joint.kind, k) == ('planar', 2)
            kind = 'joint' if joint.name in problem.joint_names else 'locked joint'
            found.append(Violation(f"{kind} '{joint.name}'", float(q[i]), float(lower[i]),
                                   float(upper[i]), 'rad' if is_angle else 'm'))
    return found


def _constraint_violations(constraint: Constraint, at: Configuration) -> list[Violation]:
    """Return a violation for each row outside its bounds; NaN counts as outside."""
    f, lower, upper = constraint.function.value(at), constraint.lower, constraint.upper
    if are_within.run(f, lower, upper, constraint.tolerance):
        return []
    # written as `~held` below to count NaN as a violation
    held = (f >= lower - constraint.tolerance) & (f <= upper + constraint.tolerance)
    found = []
    for i in np.flatnonzero(~held):
        label, _, unit = constraint.labels[i].partition(' [')
        found.append(Violation(f'{constraint.name}: {label}', float(f[i]), float(lower[i]),
                               float(upper[i]), unit.rstrip(']'), 'constraint'))
    return found
