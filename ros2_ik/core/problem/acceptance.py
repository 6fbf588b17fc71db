"""
The only judge: a search says SUCCESS of what `accept` accepted, and of nothing else.

It knows a robot, a question and joint values, nothing of how they were found: forward kinematics
runs anew, in a configuration of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import are_finite, floats
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.kernels.comparisons import are_held, are_within
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.robot import Configuration, Robot


class TargetError(NamedTuple):
    """Distance of a tip from its target: position [m], orientation [rad], without free axes."""

    tip: str
    position: float
    orientation: float


def error_norm(errors: Iterable[TargetError]) -> float:
    """Return the length of all counted error rows together, metres and radians alike."""
    return math.sqrt(sum(error.position**2 + error.orientation**2 for error in errors))


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
        """Distance from the bounds."""
        return max(self.lower - self.value, self.value - self.upper, 0.0)

    def __str__(self) -> str:
        return (f'{self.name}: {self.value:.4g} {self.unit}, '
                f'allowed [{self.lower:.4g}, {self.upper:.4g}]')


class AcceptanceReport(NamedTuple):
    """Errors, violations and contacts found by acceptance."""

    accepted: bool
    errors: tuple[TargetError, ...]
    violations: tuple[Violation, ...]
    costs: tuple[float, ...] = ()    # of each cost of the problem
    touches: bool = False            # whether something is in contact; looked at if all else holds


def accept(problem: IKProblem, q: Array) -> AcceptanceReport:
    """
    Judge joint values (nq,) as an answer to a problem.

    Checked: numbers finite, every target within its tolerances, every constraint within its
    bounds, every joint that may move within its limits and the bound on its change, every other
    joint exactly where it was, and, where the problem has a checker, that nothing touches.
    """
    robot, active = problem.robot, problem.active
    q = _values(robot, q)
    in_limits = are_held.run(q, active.indices, active.limits, active.at_rest, problem.start)
    if not in_limits and not are_finite(q):
        lost = Violation('joint values', float('nan'), -np.inf, np.inf, '(not finite)')
        return AcceptanceReport(False, (), (lost,))
    # the bound on a base's path and turn is no range of q
    is_sure = in_limits and not (problem.change_bound is not None and active.others)
    violations = [] if is_sure else _joint_violations(problem, q)
    # a user's function may use what the robot's functions share
    data = robot.model.createData() if problem.runs_user_code else robot.scratch_data()
    unit = robot.to_q(q) if robot.has_floating_joints else q    # quaternions are normalised
    if problem.constraints or problem.costs:
        at = Configuration.of_checked(robot, unit, data)
    else:
        pin.forwardKinematics(robot.model, data, unit)
    errors, costs = _target_errors(problem, data, violations), tuple[float, ...]()
    if problem.constraints or problem.costs:
        for constraint in problem.constraints:
            violations += _constraint_violations(constraint, at)
        costs = tuple([cost.value(at) for cost in problem.costs])
    touches = not violations and problem.checker is not None and problem.checker.collides(q)
    return AcceptanceReport(not (violations or touches), tuple(errors), tuple(violations), costs,
                            touches)


def _values(robot: Robot, q: Any) -> Array:
    values: Array = q
    if not (type(q) is np.ndarray and q.dtype == np.float64 and q.flags.carray):
        values = floats(q, 'q', f'{robot.nq} numbers', InvalidStateError)
    if values.shape != (robot.nq,):
        raise InvalidStateError(f'q has shape ({robot.nq},), not {values.shape}')
    return values


def _target_errors(problem: IKProblem, data: pin.Data, violations: list[Violation]
                   ) -> list[TargetError]:
    """Return the target errors at the joints of `data`; too large ones go to `violations`."""
    model, frame_id, errors = problem.robot.model, problem.robot.frame_id, []
    for target in problem.targets:
        placed = pin.updateFramePlacement(model, data, frame_id(target.tip))
        if target.relative_to is not None:
            placed = pin.updateFramePlacement(
                model, data, frame_id(target.relative_to)).actInv(placed)
        error = TargetError(target.tip, *target.errors(placed))
        errors.append(error)
        for off, tolerance, what, unit in (
                (error.position, target.position_tolerance, 'position', 'm'),
                (error.orientation, target.orientation_tolerance, 'orientation', 'rad')):
            if not off <= tolerance:    # NaN fails, too
                violations.append(Violation(f"{what} error of '{target.tip}'", off, 0.0,
                                            tolerance, unit, 'target'))
    return errors


def _joint_violations(problem: IKProblem, q: Array) -> list[Violation]:
    """Return joints that moved though locked, changed too much, or are outside their limits."""
    found, bound = list[Violation](), problem.change_bound
    lower, upper = problem.lower, problem.upper
    for joint in problem.robot.joints:
        part, unit = slice(joint.index, joint.index + joint.size), 'rad' if joint.rotary else 'm'
        is_locked = problem.active.is_locked[joint.index]
        wrong = (q[part] != problem.start[part] if is_locked
                 else (q[part] < lower[part]) | (q[part] > upper[part]))
        i = joint.index + int(np.argmax(wrong))
        value, start = float(q[i]), float(problem.start[i])
        change = None if is_locked or bound is None else bound.exceeded(joint, q)
        if change is not None and bound is not None:
            found.append(Violation(f"change of joint '{joint.name}'", change.change, 0.0,
                                   bound.most[joint.name], change.unit))
        elif wrong.any() and is_locked:
            found.append(Violation(f"locked joint '{joint.name}'", value, start, start, unit))
        elif wrong.any():
            found.append(Violation(f"joint '{joint.name}'", value, joint.lower, joint.upper, unit))
    return found


def _constraint_violations(constraint: Constraint, at: Configuration) -> list[Violation]:
    """Rows outside their bounds; one that is no number is outside, too."""
    f, lower, upper = constraint.function.value(at), constraint.lower, constraint.upper
    if are_within.run(f, lower, upper, constraint.tolerance):
        return []
    held = (f >= lower - constraint.tolerance) & (f <= upper + constraint.tolerance)
    found = []
    for i in np.flatnonzero(~held):
        label, _, unit = constraint.labels[i].partition(' [')
        found.append(Violation(f'{constraint.name}: {label}', float(f[i]), float(lower[i]),
                               float(upper[i]), unit.rstrip(']'), 'constraint'))
    return found
