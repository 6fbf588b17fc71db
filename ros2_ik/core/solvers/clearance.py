"""Moving colliding solutions out of contact; detecting contacts that all solutions share."""

from collections import deque
from functools import cached_property

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.functions import MinimumDistance
from ros2_ik.core.kernels.self_motion import step_along
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.solvers.lm import LevenbergMarquardt, screw_to
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Budget
from ros2_ik.core.solvers.sqp import SequentialQuadratic
from ros2_ik.core.status import ExitFlag

# minimum distance of each pair of bodies in `Clearance.repair_solver` [m]
GAP = 2e-3
# `Clearance.repair_solver` ignores pairs farther apart than this [m]
INFLUENCE_DISTANCE = 0.15
# a tip's contact is unavoidable if motions within the tolerances leave more than this depth [m]
UNAVOIDABLE_DEPTH = 1e-4
# With restarts and without costs, `Clearance` repairs every eighth colliding solution. Repairing
# all solutions doubles the time of searches for blocked targets of a UR5. Repairing none doubles
# the time of searches for targets near obstacles, and makes more solutions end far from the seed.
REPAIR_INTERVAL = 8
# norm of one step of a self-motion, over all joints [rad, m]
STEP_LENGTH = 0.5
# maximum number of steps of a self-motion, in both directions together
MAX_STEPS = 30
# maximum number of iterations that correct the target errors after a step
CORRECTION_ITERATIONS = 6
# no self-motion starts within this distance, in each joint, of a visited solution [rad, m]
VISITED_DISTANCE = 0.1


class Clearance:
    """
    Moves colliding solutions of one problem out of contact.

    `SelfMotion` moves the solutions of problems without constraints, costs or active floating
    joints, and with fewer target rows than active degrees of freedom. Solutions of other problems
    are repaired: `sqp` descends from the solution, with minimum distances as constraints. With
    `restarts` and without costs, only every eighth colliding solution is repaired.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, restarts: bool) -> None:
        self._problem, self._checker = problem, checker
        self._interval = REPAIR_INTERVAL if restarts and not problem.costs else 1
        self._n_calls = 0
        self._motion: SelfMotion | None = None
        if problem.kinds <= {'targets'} and (motion := SelfMotion(problem, checker)).is_possible:
            self._motion = motion

    def escape_collision(self, colliding: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt without contact that meets the hard rows, or None."""
        if self._motion is not None:
            return self._motion.escape_collision(colliding, budget)
        self._n_calls += 1
        if self._n_calls % self._interval:
            return None
        attempt = self.repair_solver.attempt(colliding.q, budget)
        budget.iterations -= attempt.iterations
        # distances refer to convex parts, which are larger than the meshes: q may be free of
        # contact although the distance constraint fails
        reached = attempt.reached or not accept(self._problem, attempt.q).violations
        return attempt if reached and not self._checker.collides(attempt.q) else None

    @cached_property
    def repair_solver(self) -> SequentialQuadratic:
        """The solver of the problem with minimum distances as constraints."""
        apart = Constraint(MinimumDistance(self._checker, INFLUENCE_DISTANCE), lower=GAP)
        problem = self._problem.replaced(constraints=[*self._problem.constraints, apart])
        return SequentialQuadratic(problem, attempt_iterations=15)


class SelfMotion:
    """
    Searches the solutions of a redundant robot for one without contact.

    If the targets have fewer rows than the robot has active joints, each solution lies on a curve
    (or surface) of solutions. Two walks follow the curve, one in each direction, until a solution
    without contact, MAX_STEPS or the end of the budget is reached. Each walk also ends if a step
    finds no solution or hardly moves joints (at limits). No walk starts near a visited solution.

    Measured for a Panda among boxes, where the descent from a near seed ends in contact: a third
    of the solutions are far from the seed without self-motion, and 10 % with self-motion, which
    also makes the search four times as fast.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker) -> None:
        self._checker, self._q_slice = checker, problem.active.q_slice
        self._rows = rows = ProblemRows(problem, screw_to)
        self.is_possible = (not problem.active.floating_starts.size
                            and len(problem.active.columns) > len(rows.rows))
        self._step = step_along.run
        self._loop_arguments = rows.limits, rows.hard_rows, LevenbergMarquardt(problem).options
        # first direction: arbitrary, but reproducible and not along a single joint
        self._direction = np.sin(np.arange(1.0, 1.0 + len(problem.active.columns)))
        self._visited = np.empty((0, len(problem.active.indices)))

    def escape_collision(self, colliding: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt without contact that meets the targets, or None."""
        x, q, iterations = colliding.q[self._q_slice], colliding.q.copy(), 0
        if (np.abs(self._visited - x).max(axis=1, initial=0.0) < VISITED_DISTANCE).any():
            return None
        # a walk in each direction: active values and step direction, both updated by each step
        walks, visited = deque([(x.copy(), self._direction.copy()),
                                (x.copy(), -self._direction)]), [x]
        for _ in range(MAX_STEPS):
            if not walks or budget.over():
                break
            walk = walks.popleft()
            has_moved, done = self._rows.hard.run(
                self._step, None, *walk, *self._loop_arguments, STEP_LENGTH, CORRECTION_ITERATIONS)
            iterations += done
            budget.iterations -= done
            if has_moved:
                q[self._q_slice] = walk[0]
                if not self._checker.collides(q):
                    return Attempt(q, 0.0, iterations, ExitFlag.CONVERGED)
                visited.append(walk[0].copy())
                walks.append(walk)
        self._visited = np.vstack([self._visited, *visited])
        return None


def unavoidable_contacts(problem: IKProblem, checker: CollisionChecker, q: Array,
                         at_targets: bool) -> tuple[Contact, ...]:
    """
    Return the contacts at q (nq,) that no values of the active joints avoid.

    These are contacts between bodies that no active joint can separate. `at_targets` states that q
    and all solutions are within the tolerances of the targets. In this case, deep contacts of
    bodies fixed to the world with bodies fixed to a tip (a gripper, an attached object) are
    unavoidable, too, if the tip's target is in the root frame and has no free axis.
    """
    robot, active, found = problem.robot, set(problem.joint_names), list[Contact]()

    def is_lasting(pair: tuple[str, str]) -> bool:
        links = [checker.scene.link_of(name) or robot.root_frame for name in pair]
        return active.isdisjoint(robot.moving_joints(*links))
    # first a check without depths, which is faster than `in_collision`
    if any(map(is_lasting, checker.touching(q))):
        found += [contact for contact in checker.in_collision(q)
                  if is_lasting((contact.first, contact.second))]
    for target in problem.targets if at_targets else ():
        if target.counted.all() and target.relative_to is None:
            # the tip poses of two solutions differ by at most twice the tolerances
            shift = 2 * target.position_tolerance + UNAVOIDABLE_DEPTH
            found += checker.rigid_contacts(robot, target.tip, q, problem.joint_names, shift,
                                            2 * target.orientation_tolerance)
    return tuple(found)
