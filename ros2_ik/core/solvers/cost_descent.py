"""The second part of `sqp`: down the costs, along the hard rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import JointCoupling, JointPositions
from ros2_ik.core.problem import ExitFlag, IKProblem, LeastSquares, ScalarCost
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.quadratic_program import QuadraticProgram
from ros2_ik.core.solvers.solver import Attempt

FIRM = 1e-8           # softness of hard rows, so that a step always exists
PENALTY = 1.0         # of the violation in the merit, at least
GAIN = 1e-8           # of the cost, relative, below which a step is not worth making
LEAST_STEP = 1e-9


def learns(problem: IKProblem) -> bool:
    """
    Whether BFGS should learn the curvature that Gauss-Newton leaves out.

    That of scalar costs, and that of constraints where the costs have none of their own; beside
    costs that are curved themselves it does harm.
    """
    return any(isinstance(cost, ScalarCost) for cost in problem.costs) or all(
        isinstance(cost.function, (JointPositions, JointCoupling))
        for cost in problem.costs if isinstance(cost, LeastSquares))


@dataclass
class Point:
    """A configuration with all that a step from it needs; cost and derivatives are scaled."""

    q: Array
    f: Array
    J: Array
    cost: float
    gradient: Array
    H: Array            # Gauss-Newton
    violation: float    # sum over the hard rows


class CostDescent:
    """Down from a point where the hard rows hold; `sqp` is the solver it works for."""

    def __init__(self, sqp: Any) -> None:
        self._sqp, self._rows = sqp, sqp.rows
        n, m = len(sqp.problem.free.columns), len(sqp.rows.lower)
        self._n = n
        self._program = QuadraticProgram(n, m, FIRM)
        self._scale, self._penalty = 1.0, PENALTY
        self._bent = np.zeros((n, n))    # what Gauss-Newton leaves out of the curvature
        self._learns = learns(sqp.problem)

    def descend(self, begin: Attempt, budget: Budget) -> Attempt:
        """Lower the cost from where an attempt ended."""
        point = self._first(begin.q)
        damping, iterations, flag, fresh = 1e-2, begin.iterations, ExitFlag.CONVERGED, True
        best, last = point, begin.iterations + self._sqp.cost_iterations
        while True:
            if interrupted := budget.interrupted():
                flag = interrupted
                break
            if iterations >= min(last, budget.iterations):
                flag = ExitFlag.ITERATION_LIMIT
                break
            found = self._step(point, damping)
            if found is None:
                break
            step, multipliers = found
            # a merit that charges less than the rows are worth has its least off them
            worth = float(np.abs(multipliers[self._n:]).max(initial=0.0))
            self._penalty = max(PENALTY, 1.5 * worth)
            predicted = self._predicted(point, step)
            if (predicted <= GAIN * (1.0 + abs(point.cost)) or damping > 1e8
                    or np.abs(step).max() < LEAST_STEP):
                if fresh:
                    break
                # what was learnt may mislead: it is a minimum if it is one without, too
                self._bent, damping, fresh = np.zeros_like(point.H), 1e-2, True
                continue
            iterations += 1
            after = self._point(self._sqp.moved(point.q, step))
            ratio = (self._merit(point) - self._merit(after)) / predicted
            if ratio < 0.5 and self._penalty * after.violation > 0.1 * predicted:
                after = self._bent_back(point, after)
                ratio = (self._merit(point) - self._merit(after)) / predicted
            accepted = ratio > 1e-4
            if self._learns:
                self._learn(point, after, multipliers, after.H if accepted else point.H)
            if accepted:
                point, fresh = after, False
                if self._holds(point) and point.cost < best.cost:
                    best = point
            if ratio < 0.25:
                damping *= 4.0
            elif ratio > 0.75:
                damping *= 0.3
        return self._ended(point, best, iterations, flag, budget)

    def _ended(self, point: Point, best: Point, iterations: int, flag: ExitFlag,
               budget: Budget) -> Attempt:
        """Bring the last point back onto the hard rows, if it has left them a little."""
        if not self._holds(point) and point.cost < best.cost:
            back = self._sqp.feasible(point.q, budget)
            if back.reached:
                point = self._point(back.q)
        if self._holds(point) and point.cost < best.cost:
            best = point
        away = self._rows.outside(best.f)
        return Attempt(best.q, float(away @ away), iterations, flag,
                       best.cost * self._scale, holds=True)

    def _first(self, q: Array) -> Point:
        """Choose the unit of the cost so that its curvature is about one."""
        point = self._point(q)
        curvature = float(np.trace(point.H)) / max(1, self._n)
        slope = float(np.abs(point.gradient).max(initial=0.0))
        self._scale = max(curvature, 1e-3 * slope, 1e-12)
        return self._point(q)

    def _point(self, q: Array) -> Point:
        f, J, r, J_r = self._rows.evaluate(q)
        cost, gradient = 0.5 * float(r @ r), r @ J_r
        if self._rows.scalar_costs:
            value, slope = self._rows.scalar(q)
            cost, gradient = cost + value, gradient + slope
        s = 1.0 / self._scale
        violation = float(np.abs(self._rows.outside(f)).sum())
        return Point(q, f, J, s * cost, s * gradient, s * (J_r.T @ J_r), violation)

    def _step(self, point: Point, damping: float) -> tuple[Array, Array] | None:
        rows = self._rows
        low, high = self._sqp.box(point.q)
        H = self._curvature(point, damping)
        return self._program.solve(H, point.gradient, point.J,
                                   np.concatenate([low, rows.lower - point.f]),
                                   np.concatenate([high, rows.upper - point.f]))

    def _curvature(self, point: Point, damping: float) -> Array:
        H: Array = point.H + self._bent
        H.reshape(-1)[::self._n + 1] += damping
        if self._learns and dpotrf(H)[1]:      # not positive definite: begin to learn anew
            self._bent = np.zeros_like(H)
            return self._curvature(point, damping)
        return H

    def _predicted(self, point: Point, step: Array) -> float:
        """How much the merit should fall by a step."""
        model = point.gradient @ step + 0.5 * step @ (point.H + self._bent) @ step
        left = float(np.abs(self._rows.outside(point.f + point.J @ step)).sum())
        return float(-model) + self._penalty * (point.violation - left)

    def _merit(self, point: Point) -> float:
        return point.cost + self._penalty * point.violation

    def _bent_back(self, point: Point, after: Point) -> Point:
        """Where the rows' curvature ate the gain of a step, lead it back onto them."""
        low, high = self._sqp.box(after.q)
        rows = self._rows
        back = self._program.solve(np.eye(self._n), np.zeros(self._n), point.J,
                                   np.concatenate([low, rows.lower - after.f]),
                                   np.concatenate([high, rows.upper - after.f]))
        if back is None:
            return after
        bent = self._point(self._sqp.moved(after.q, back[0]))
        return bent if self._merit(bent) < self._merit(after) else after

    def _learn(self, before: Point, after: Point, multipliers: Array, H: Array) -> None:
        """Powell-damped BFGS of the Lagrangian's curvature that Gauss-Newton leaves out."""
        s = self._sqp.difference(before.q, after.q)
        of_rows = multipliers[self._n:]
        y = (after.gradient + of_rows @ after.J) - (before.gradient + of_rows @ before.J)
        A = H + self._bent
        A.reshape(-1)[::self._n + 1] += 1e-8
        As = A @ s
        sAs, sy = float(s @ As), float(s @ y)
        if not sAs > 1e-16:
            return
        if sy < 0.2 * sAs:
            share = 0.8 * sAs / (sAs - sy)
            y = share * y + (1.0 - share) * As
            sy = float(s @ y)
        updated = A - np.outer(As, As) / sAs + np.outer(y, y) / sy
        self._bent = updated - H

    def _holds(self, point: Point) -> bool:
        away = self._rows.outside(point.f)
        return bool((np.abs(away) <= self._rows.tolerance).all())
