"""What the constraints and costs of a problem come to in a configuration."""

from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import Array, Configuration, Constraint, IKProblem, LeastSquares

SLACK = 1e-6   # so far outside its bounds, what may give way still counts as inside


class ConstraintReport(NamedTuple):
    """A constraint or cost in a configuration: the fields of a ConstraintState."""

    name: str
    kind: str
    soft: bool
    holds: bool
    violation: float
    cost: float
    labels: list[str]
    value: list[float]
    lower: list[float]
    upper: list[float]


def constraint_reports(problem: IKProblem, q: Array) -> list[ConstraintReport]:
    """Look at each constraint and cost of a problem at q (nq,), hard ones first."""
    if not (problem.constraints or problem.costs):
        return []
    at = Configuration(problem.robot, q)
    return [*(_hard(constraint, at) for constraint in problem.constraints),
            *(_soft(cost, at) for cost in problem.costs if isinstance(cost, LeastSquares))]


def _hard(constraint: Constraint, at: Configuration) -> ConstraintReport:
    return _report(constraint, constraint.function.value(at), constraint.tolerance)


def _soft(cost: LeastSquares, at: Configuration) -> ConstraintReport:
    f = cost.function.value(at)
    r = cost.factor @ cost.residual(f)
    return _report(cost, f, SLACK)._replace(soft=True, cost=0.5 * float(r @ r))


def _report(item: Any, f: Array, slack: float) -> ConstraintReport:
    outside = np.maximum(item.lower - f, f - item.upper)
    return ConstraintReport(
        item.name, item.function.spec.kind, False, bool((outside <= slack).all()),
        max(0.0, float(outside.max(initial=0.0))), 0.0, list(item.function.labels),
        f.tolist(), item.lower.tolist(), item.upper.tolist())
