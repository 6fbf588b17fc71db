"""The solver `lm`: Levenberg-Marquardt steps that respect the joint limits."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import flag, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.functions import FramePose, KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.pose_search import find_poses
from ros2_ik.core.kernels.source import formula
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.problem.structure import as_slice
from ros2_ik.core.robot.tree import se3_to_array
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Budget, register_solver, Solver
from ros2_ik.core.solvers.starts import Starts
from ros2_ik.core.status import ExitFlag

# consecutive iterations without progress after which a descent ends; a restart is then faster
MAX_STALLED_ITERATIONS = 6
# an iteration makes progress if |e|^2 falls below this fraction of its lowest value so far
PROGRESS_RATIO = 0.8
# default `damping_bias`
BIAS = 1e-10
# a dict is faster than the constructor of ExitFlag
FLAGS = {int(flag): flag for flag in ExitFlag}


@register_solver('lm')
class LevenbergMarquardt(Solver):
    """
    Damped Gauss-Newton steps on the pose errors e: (J'J + lambda I) dq = J'e.

    lambda = `damping` min(|e|^2, 100) + `damping_bias`, which nearly vanishes at the target
    (Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE
    T-RO 2011). Without `use_error_damping`, lambda = `damping_bias`. If a step would move a joint
    at its limit beyond the limit, the joint is held and the step is solved for the other joints.
    If full turns of a joint do not change e and its limits are at least 2 pi apart, descents from
    random starts ignore these limits; full turns then bring the joint back between them.

    A descent has at most `attempt_iterations` iterations. It ends earlier if six in a row do not
    bring |e|^2 below 0.8 times its lowest value so far, or if one of MATLAB's two tolerances is
    met (the weights in e are scaled so that the largest is 1):

    - `step_tolerance` [rad, m]: a descent ends if no joint moves more in a step (None: unused);
    - `solution_tolerance`: bound on |e| for success (None: half the tolerances of the targets).

    MATLAB's defaults: 1e-12 (step), 1e-6 (solution), `damping` 0.5, `damping_bias` 0.0025.
    """

    # a batch of 16 starts takes about 1 ms for an arm
    finds_starts, batch_size = True, 16

    def __init__(self, problem: IKProblem, damping: float = 1e-2, attempt_iterations: int = 40,
                 use_error_damping: bool = True, damping_bias: float = BIAS,
                 step_tolerance: float | None = None,
                 solution_tolerance: float | None = None) -> None:
        super().__init__(problem)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        scales = flag(use_error_damping, 'use_error_damping', InvalidOptionError)
        solution, step = (
            0.0 if value is None else positive(value, name, InvalidOptionError)
            for name, value in {'solution_tolerance': solution_tolerance,
                                'step_tolerance': step_tolerance}.items())
        # in the order in which `descend_from` reads them; a tolerance of 0 is unused, and the last
        # 0 selects Levenberg-Marquardt steps
        self.options = np.array([
            positive(damping, 'damping', InvalidOptionError) * scales,
            positive(damping_bias, 'damping_bias', InvalidOptionError),
            MAX_STALLED_ITERATIONS, PROGRESS_RATIO, solution, step, 0.0])
        self._find = find_poses.run
        # bind and compile now, before the clock of a search starts
        _groups(problem)

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """Descend from `starts` in one compiled call for each `TargetGroup`; see `Solver.find`."""
        groups, left = _groups(problem), budget.iterations
        # active joints that belong to no group stay at the seed, clamped to their limits
        q = problem.start.copy() if len(groups) == 1 else problem.within_limits(starts.seed)
        error, flag, iterations, used, next_start = 0.0, ExitFlag.CONVERGED, 0, 0, starts.first
        for group in groups:
            poses, ranges = problem.poses, problem.active.ranges
            if group.targets is not None:
                poses, ranges = poses[group.targets], ranges[:, group.values]
            group_error, end, done, count, after = self._find(
                group.arrays, poses, tuple(starts), ranges, self.options, self.attempt_iterations,
                left - iterations, q)
            error, iterations, used = error + group_error, iterations + done, max(used, count)
            next_start = max(next_start, after)
            if end != ExitFlag.CONVERGED:
                flag = FLAGS[end]
        return Attempt(q, error, iterations, flag), used, next_start


@dataclass(frozen=True, eq=False)
class ScrewError(RelativeFunction):
    """
    The screw motion from a reference pose T* to a frame, in the axes of the frame, (6,).

        f = -log6(T^-1 T*)     with T = T_relative_frame; [m] and [rad]

    The rows `W` are the body Jacobian of the frame, which equals the derivative of f only at the
    reference. Steps with the body Jacobian follow the screw motion, which is a more direct path
    from far away than separate steps of position and rotation.
    """

    frame: str
    reference: Any
    relative_to: str | None = None
    kind, labels = 'screw', FramePose.labels

    @cached_property
    def parameters(self) -> Array:
        return se3_to_array(self.reference)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # log of T^-1 T* in the axes of the frame: rotation vector, then translation
        turned = v.log3(v.relative_rotation(B, v.product(A, v.rotation(parameters, 0))))
        p = v.origin(B)
        shifted = v.log6(turned, v.to_local(B, v.point(A, v.vector(parameters, 9))))
        # body Jacobian: linear velocity along, and angular velocity about, each axis of the frame
        for i in range(3):
            axis = v.column(B, i)
            f[i], f[3 + i] = -shifted[i], -turned[i]
            v.force(W, i, p, axis)
            v.moment(W, 3 + i, axis)


class TargetGroup(NamedTuple):
    """
    Input of one compiled search: targets that share active joints, and these joints.

    Targets of two arms on a fixed torso form two groups: each arm restarts alone, as a random
    start that suits one arm rarely suits the other.
    """

    # argument `group` of `find_poses`
    arrays: tuple[Array | Indices, ...]
    # indices of the group's joint values among the active values
    values: Indices | slice
    # indices of the group's targets (None: all)
    targets: Indices | slice | None


def _groups(problem: IKProblem) -> list[TargetGroup]:
    """Return the groups of a problem, cached for the last values of the locked joints."""
    cache = problem.structure.solvers
    indices, values, groups = cache.get('groups', (None, b'', []))
    if indices is None or len(indices) and problem.start[indices].tobytes() != values:
        rows = _rows_by_group(problem)
        groups = []
        for numbers, one in rows:
            active, (floats, layout, _, addresses) = one.problem.active, one.hard.arrays
            angles = np.searchsorted(active.indices, active.angles)
            values = np.searchsorted(problem.active.indices, active.indices)
            arrays = (floats, layout, addresses, one.rows, one.bounds, active.indices, angles,
                      active.floating_starts)
            groups.append(TargetGroup(arrays, as_slice(values), None if numbers is None
                                      else as_slice(np.array(numbers))))
        indices = np.unique(np.concatenate([one.hard.locked_q_indices for _, one in rows]))
        cache['groups'] = indices, problem.start[indices].tobytes(), groups
    found: list[TargetGroup] = groups
    return found


def _rows_by_group(problem: IKProblem) -> list[tuple[list[int] | None, ProblemRows]]:
    """Return, for each group of a problem, its target indices (None: all) and its rows."""
    groups, robot = _target_groups(problem), problem.robot
    if len(groups) == 1:
        return [(None, ProblemRows(problem, screw_to))]
    return [(numbers, ProblemRows(problem.replaced(
        targets=[problem.targets[t] for t in numbers], collisions=False, checker=None,
        locked=set(robot.joint_names) - names), screw_to)) for numbers, names in groups]


def _target_groups(problem: IKProblem) -> list[tuple[list[int], set[str]]]:
    """Return groups of targets that share active joints: target indices and joint names."""
    active = set(problem.active.names)
    groups: list[tuple[list[int], set[str]]] = []
    for t, target in enumerate(problem.targets):
        numbers = [t]
        names = active & problem.robot.moving_joints(target.tip, target.relative_to)
        # joints that move both tip and reference frame are active, although the error ignores them
        if target.relative_to is not None:
            names |= active & problem.robot.moving_joints(target.relative_to)
        # merge with the groups that share a joint
        for group in [group for group in groups if group[1] & names]:
            groups.remove(group)
            numbers, names = group[0] + numbers, group[1] | names
        # ascending: a group's functions and its poses must have the same order
        groups.append((sorted(numbers), names))
    # a problem with an active floating base is not split: usually all targets depend on the base
    is_split = len(groups) > 1 and not len(problem.active.floating_starts)
    return groups if is_split else [(list(range(len(problem.targets))), active)]


def screw_to(target: PoseTarget) -> KinematicFunction:
    """
    Return the error function of a target for `lm` and `clik`.

    If a weight is not 1, the function is FramePose, whose rows of position and rotation are
    independent: a free axis does not change the other rows.
    """
    if not target.has_unit_weights:
        return target.function
    return ScrewError(target.tip, target.function.reference, target.relative_to)
