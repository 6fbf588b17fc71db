"""Levenberg-Marquardt with the joint limits inside the step."""

from dataclasses import dataclass, replace
from functools import cached_property
import math
from typing import Any

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import flag, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.functions import FramePose, KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.descents import MANY
from ros2_ik.core.kernels.pose_search import find_poses
from ros2_ik.core.kernels.source import formula
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.robot.tree import se3_to_array
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.parts import Parts
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.solvers.starts import Starts
from ros2_ik.core.status import ExitFlag

GIVE_UP_AFTER = 6      # iterations in a row without a drop; a fast failure beats a long search
DROP = 0.8
BIAS = 1e-10
FLAGS = {int(flag): flag for flag in ExitFlag}


@register_solver('lm')
class LevenbergMarquardt(Solver):
    """
    Damped Gauss-Newton on the pose errors: (J'J + lambda I) dq = J'e.

    lambda = `damping` |e|^2 + `damping_bias`, so it vanishes at the target (Sugihara,
    "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO
    2011); without `use_error_damping` it is the bias alone. A joint on a limit that the step
    would push outward is held and the step solved again without it.

    A descent takes at most `attempt_iterations`. MATLAB's parameters, None for the rules of this
    library: it ends where the gradient that the limits leave is below `gradient_tolerance` (times
    |e| where that is below 1), the step below `step_tolerance` [rad, m], the change of |e| below
    `error_change_tolerance` (None: six iterations in a row without a drop of |e|^2 by a fifth),
    or |e| below `solution_tolerance` (None: half the targets' tolerances); the largest weight in
    e is 1. MATLAB has 5e-9, 1e-12, 1e-12, 1e-6, a `damping` of 0.5 and a bias of 0.0025.
    """

    finds_starts, batch_size = True, 16     # a millisecond of an arm

    def __init__(self, problem: IKProblem, damping: float = 1e-2, attempt_iterations: int = 40,
                 use_error_damping: bool = True, damping_bias: float = BIAS,
                 gradient_tolerance: float | None = None, step_tolerance: float | None = None,
                 error_change_tolerance: float | None = None,
                 solution_tolerance: float | None = None) -> None:
        super().__init__(problem)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        scales = flag(use_error_damping, 'use_error_damping', InvalidOptionError)
        solution, gradient, step, change = (
            0.0 if value is None else positive(value, name, InvalidOptionError)
            for name, value in {
                'solution_tolerance': solution_tolerance, 'gradient_tolerance': gradient_tolerance,
                'step_tolerance': step_tolerance,
                'error_change_tolerance': error_change_tolerance}.items())
        self.options = np.array([
            positive(damping, 'damping', InvalidOptionError) * scales,
            positive(damping_bias, 'damping_bias', InvalidOptionError),
            math.inf if change else GIVE_UP_AFTER, DROP, solution, gradient, step, change])
        self._find = find_poses.run
        _parts(problem)      # bound and compiled before the clock of a search starts

    @cached_property
    def rows(self) -> ProblemRows:
        """The rows of the targets; `find` takes the poses directly."""
        return ProblemRows(self.problem, screw_to)

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """Descend in one compiled call."""
        active, targets = problem.active, problem.targets
        q, arrays = problem.start.copy(), _parts(problem).arrays
        poses = targets[0].transform[None] if len(targets) == 1 else np.array(
            [target.transform for target in targets])
        error, flag, iterations, used, following = self._find(
            *arrays, poses, starts.seed, active.ranges, active.indices, active.active_angles,
            self.options, self.attempt_iterations, starts.first, starts.last,
            int(min(budget.iterations, MANY)), starts.state, q)
        return Attempt(q, error, iterations, FLAGS[flag]), used, following

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,); if the budget is over, only evaluate it."""
        stop = budget.interrupted()
        starts = Starts(start, 0, 0, np.zeros(1, dtype=np.int64))
        attempt = self.find(self.problem, starts,
                            replace(budget, iterations=0) if stop else budget)[0]
        return attempt._replace(exit_flag=stop) if stop and not attempt.reached else attempt


@dataclass(frozen=True, eq=False)
class Screw(RelativeFunction):
    """
    The screw motion from a reference pose to a frame, in the frame's axes, (6,).

        f = -log6(T^-1 T*)     with T = T_relative_frame; [m] and [rad]

    The rows of `W` make the frame's body Jacobian, exact at the reference only: a step with it
    follows the screw, a straighter way from afar than position and rotation separately.
    """

    frame: str
    reference: Any
    relative_to: str | None = None
    kind, labels = 'screw', FramePose.labels

    @cached_property
    def parameters(self) -> Array:
        return se3_to_array(self.reference)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        turned = v.log3(v.product_back(B, v.product(A, v.rotation(given, 0))))
        p = v.origin(B)
        shifted = v.log6(turned, v.to_local(B, v.point(A, v.vector(given, 9))))
        for i in range(3):
            axis = v.column(B, i)
            f[i], f[3 + i] = -shifted[i], -turned[i]
            v.force(W, i, p, axis)
            v.moment(W, 3 + i, axis)


def _parts(problem: IKProblem) -> Parts:
    """Return the parts of a problem, bound once for all of its structure."""
    kept = problem.structure.solvers
    places, values, parts = kept.get('lm', (None, b'', None))
    if places is None or len(places) and problem.start[places].tobytes() != values:
        parts = Parts.of(problem, screw_to)
        places = parts.locked_q_indices
        kept['lm'] = places, problem.start[places].tobytes(), parts
    found: Parts = parts
    return found


def screw_to(target: PoseTarget) -> KinematicFunction:
    """Return the screw to a target; with weights, position and rotation stay apart."""
    if not target.whole:
        return target.function
    return Screw(target.tip, target.function.reference, target.relative_to)
