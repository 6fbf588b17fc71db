"""The search: attempts from numbered starts until there are enough solutions or a limit is hit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
import math
from numbers import Real
import time
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import as_list
from ros2_ik.core.collision import Contact
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.functions import Manipulability
from ros2_ik.core.kernels import compile_for_search
from ros2_ik.core.kernels.pose_search import CLOSE
from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.problem import (
    accept,
    AcceptanceReport,
    conflict,
    error_norm,
    IKProblem,
    IKSolution,
    JointChangeBound,
    out_of_reach,
)
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.clearance import Clearance, unavoidable_contacts
from ros2_ik.core.solvers.options import SolveOptions
from ros2_ik.core.solvers.report import failure_status, redundancy, solution_field
from ros2_ik.core.solvers.solver import Attempt, Budget, make_solver, Solver, UNLIMITED
from ros2_ik.core.solvers.starts import generator_state, N_NEAR, nearest_turns, OWN_STATE, Starts
from ros2_ik.core.status import ExitFlag, Status

# attempts after which the search ends for an arm with fewer joints than target rows; such an arm
# finds reachable poses within tens of attempts, and 1000 attempts take 10 ms
MAX_FAILED_ATTEMPTS = 1000
# solutions closer than this in every joint count as one solution [rad, m]
SAME_SOLUTION = 1e-2
# relative and absolute difference below which two costs are equal
SAME_COST = 1e-9
# time that the first descent may take even if the timeout is shorter [s]
FIRST_DESCENT_TIME = 0.1
# value of `solver_reason` if the options name the solver
REASON_NAMED = 'named in the options'


class Candidate(NamedTuple):
    """An attempt with its acceptance report."""

    attempt: Attempt
    report: AcceptanceReport
    # the measure that `select` names, negated for manipulability; the lowest rank is returned
    rank: float = 0.0

    @property
    def order(self) -> tuple[bool, bool, float]:
        """Sort key: accepted, then hard rows met (lowest cost first), then smallest violation."""
        report, reached = self.report, self.attempt.reached
        missed = error_norm(report.errors) + sum(
            one.amount for one in report.violations if one.kind != 'target')
        return not report.accepted, not reached, self.attempt.cost if reached else missed


class Search:
    """
    A search for solutions of a problem, which can be run in slices of time.

    Descents begin at the seeds, then at starts near the first seed (if all tips at that seed are
    close to their targets; exceptions: `_first_restart`), then at random starts (see `Starts`).
    One call of the solver tries the starts of a batch in order until a descent succeeds. If a
    target is `loose`, or the options have `approximate`, the calls alternate between two problems,
    one with the exact targets and one with the tolerances as constraints. If the options name the
    solver, however, all calls have the exact targets. If an attempt at a problem with costs ends
    in contact, the next call adds minimum distances as constraints. For the options see
    `SolveOptions`. Pickling omits the progress and `cancel`; see `serialization`. Raises
    UnknownNameError or InvalidOptionError.
    """

    attempts = 0        # starts tried
    iterations = 0
    next_start = 0      # number of the next start
    n_colliding = 0     # attempts that ended in contact
    accepted: Sequence[Candidate] = ()
    best: Candidate | None = None
    best_approximate: Candidate | None = None   # best result within `approximate`
    # contacts that all solutions share
    unavoidable: tuple[Contact, ...] = ()
    conflict: str | None = None     # sentence on two bounds that exclude each other
    ended: float | None = None      # time of the end on the monotonic clock [s]
    _clearance: Clearance | None = None
    _last_collided = False    # the last attempt ended in contact

    def __init__(self, problem: IKProblem, seeds: Sequence[JointValues] | None = None, *,
                 options: SolveOptions | None = None, **named: Any) -> None:
        self.options = chosen = SolveOptions.of(named) if options is None else options
        _check(problem, chosen)
        self.solver, self.solver_reason = chosen_solver(chosen.solver, problem)
        self.seeds = [problem.start] if seeds is None else seeds_of(problem, seeds)
        if chosen.max_joint_change is not None:
            problem = problem.bounded(JointChangeBound.of(problem.robot, self.seeds[0],
                                                          chosen.max_joint_change))
        self.problem = problem
        self._state, self._first_state = OWN_STATE, None
        if chosen.random_state is not None:
            self._first_state = generator_state(chosen.random_state)
            self._state = np.array([self._first_state])
        # True if the next attempt uses the problem with tolerances as constraints
        self._relaxed_next = chosen.select in ('nearest', 'cost')
        self._widened = (None if chosen.approximate is None
                         else problem.widened(*chosen.approximate))
        self._is_loose = self.solver_reason != REASON_NAMED and (
            problem.structure.is_loose or self._widened is not None)
        compile_for_search(problem.checker is not None, self._is_loose)
        shared = {} if chosen.solver_options else problem.structure.solvers
        solver = shared.get(str(self.solver))
        if solver is None:
            solver = make_solver(self.solver, problem, chosen.solver_options)
            # problems of one structure share it: they differ only in poses, start and limits
            if solver.finds_starts:
                shared[str(self.solver)] = solver.without_problem()
        self._solver: Solver = solver
        # the clock starts after compiling and binding
        now = time.monotonic()
        self.budget = Budget(now + chosen.timeout, chosen.max_iterations or UNLIMITED,
                             chosen.cancel, now)

    def __reduce__(self) -> tuple[object, ...]:
        # pickled without progress: another process starts over, with the same deadline
        options = replace(self.options, cancel=None, random_state=self._first_state)
        budget = replace(self.budget, cancel=None, iterations=options.max_iterations or UNLIMITED)
        return partial(Search, self.problem, self.seeds, options=options), (), {'budget': budget}

    # -- running and ending ---------------------------------------------------------------

    def run(self, seconds: float = math.inf) -> bool:
        """
        Make attempts until the search is finished or `seconds` have passed.

        Makes at least one attempt, unless already finished. Returns `finished`.
        """
        end = time.monotonic() + seconds
        while not self.finished:
            self._attempt()
            if seconds < math.inf and time.monotonic() >= end:
                return self.finished
        return True

    @property
    def finished(self) -> bool:
        """True if no further attempt is needed or allowed; the first True sets `ended`."""
        if self.ended is None and self._is_over():
            if self.attempts and (self.options.select == 'cost' or not self.accepted):
                self._add_acceptable_seeds()
            self.ended = time.monotonic()
        return self.ended is not None

    def _is_over(self) -> bool:
        options = self.options
        if options.select == 'first' and len(self.accepted) >= options.solutions:
            return True
        # `best_q` needs one attempt, even after the deadline
        if self.attempts == 0:
            return self.budget.cancel is not None and self.budget.cancelled()
        # with loose tolerances, each seed is tried with both problems, even without restarts
        is_seed_left = (self._is_loose and self.attempts < 2 * len(self.seeds)
                        and not self.accepted)
        # an arm with too few joints for its target has failed in many attempts
        is_exhausted = (self.attempts >= MAX_FAILED_ATTEMPTS and redundancy(self.problem) < 0
                        and not (self.accepted or self._is_loose or self.n_colliding))
        if self.attempts >= len(self.seeds) and (
                self.is_infeasible or is_exhausted
                or not options.allow_restarts and not is_seed_left):
            return True
        return self.budget.over()

    @cached_property
    def _acceptable_seeds(self) -> list[Attempt]:
        """The seeds, clamped to the limits, that are accepted without a descent."""
        seeds = [self.problem.within_limits(seed) for seed in self.seeds]
        reports = [accept(self.problem, q) for q in seeds]
        return [Attempt(q, 0.0, 0, ExitFlag.CONVERGED, sum(report.costs))
                for q, report in zip(seeds, reports, strict=True) if report.accepted]

    def _add_acceptable_seeds(self) -> None:
        """
        Add the seeds that are solutions themselves.

        Descents can miss them: costs can lead all descents into contact, and no descent converges
        to targets that contradict each other by less than their tolerances.
        """
        for attempt in self._acceptable_seeds:
            self._evaluate(attempt)

    def _costs_more_than_a_seed(self, cost: float) -> bool:
        """
        Return whether a solution of this cost is worse than a seed that is a solution itself.

        Always False if `select` is not 'first', or if its descent is known to begin at a seed.
        """
        # a descent from an acceptable seed only lowers the cost
        began_at_seed = self.attempts <= len(self.seeds) and not (self._is_loose
                                                                  or self.n_colliding)
        return self.options.select == 'first' and not began_at_seed and any(
            seed.cost + SAME_COST * (1 + abs(seed.cost)) < cost
            for seed in self._acceptable_seeds)

    @property
    def is_infeasible(self) -> bool:
        """True if it is proved that further attempts find no solution."""
        return bool(self.conflict or self.unavoidable
                    or not self.problem.joint_names and self.attempts > 0)

    @cached_property
    def out_of_reach(self) -> list[str]:
        """Sentences about targets beyond the maximum reach."""
        return out_of_reach(self.problem)

    @property
    def seconds(self) -> float:
        """Time from the start of the search until its end, or until now [s]."""
        return (self.ended or time.monotonic()) - self.budget.started

    # -- attempts -------------------------------------------------------------------------

    def _attempt(self) -> None:
        """Make one attempt, check its result for acceptance, and try to escape a contact."""
        is_first = self.attempts == 0
        # with loose tolerances and without costs, a seed that is a solution needs no descent
        if is_first and self._is_loose and not self.problem.costs:
            self._add_acceptable_seeds()
            if self.accepted:
                self.attempts = 1
                return
        problem, solver = self.problem, self._solver
        if self._is_loose and self._relaxed_next:
            problem, solver = self._relaxed
        # add minimum distances, because the costs may lead all descents into contact
        if self._last_collided and self._clearance and problem.costs:
            solver = self._clearance.repair_solver
            problem = solver.problem
        attempt = self._descend(problem, solver)
        # without restarts, try all seeds with one of the two problems, then with the other problem
        if self.options.allow_restarts or self.attempts % len(self.seeds) == 0:
            self._relaxed_next = not self._relaxed_next
        candidate = self._evaluate(attempt, has_turns=solver.finds_starts and len(self.seeds) == 1)
        self._last_collided = candidate.report.touches
        if self._last_collided:
            self._escape_collision(candidate)
        # look for contradictory bounds only after a failed attempt: most problems have none
        if is_first and not self.accepted and self.options.approximate is None:
            self.conflict = conflict(self.problem)

    @cached_property
    def _relaxed(self) -> tuple[IKProblem, Solver]:
        """The problem with the tolerances as constraints, and its solver."""
        problem = (self.problem.relaxed() if self._widened is None
                   else self._widened.approximated())
        return problem, make_solver(chosen_solver('auto', problem)[0], problem, {})

    def _descend(self, problem: IKProblem, solver: Solver) -> Attempt:
        """Descend from the next starts until a descent meets the hard rows."""
        starts, budget = self._next_starts(problem, solver), self.budget
        # the first descent gets its minimum time, even if the timeout is shorter
        if self.attempts == 0 and not solver.finds_starts:
            budget = replace(budget, deadline=max(budget.deadline,
                                                  time.monotonic() + FIRST_DESCENT_TIME))
        attempt, used, self.next_start = solver.find(problem, starts, budget)
        self.attempts += used
        self.iterations += attempt.iterations
        # count a failed descent of 0 iterations as 1, so that `max_iterations` ends any search
        self.budget.iterations -= attempt.iterations or int(not attempt.reached)
        return attempt

    def _next_starts(self, problem: IKProblem, solver: Solver) -> Starts:
        """Return the range of starts for the next attempt."""
        seeds, number, options, finds = (self.seeds, self.attempts, self.options,
                                         solver.finds_starts)
        # with `approximate`, check the end of each descent: any of them may be the best result
        batch = 1 if options.approximate is not None else solver.batch_size
        # descend from a seed; near and random starts may follow a single seed in the same call
        if number < len(seeds) or not options.allow_restarts:
            alone = (not finds or len(seeds) > 1 or not options.allow_restarts or batch == 1
                     or time.monotonic() >= self.budget.deadline)
            return Starts(seeds[number % len(seeds)], 0, 0 if alone else N_NEAR + batch,
                          self._state)
        first = max(self.next_start, 1 if finds else self._first_restart)
        last = max(first - 1, N_NEAR if batch > 1 and finds else 0) + batch
        return Starts(seeds[0], first, last, self._state)

    @cached_property
    def _first_restart(self) -> int:
        """The number of the first start after the seeds, for solvers without `finds_starts`."""
        # without targets, distances to solutions are unknown: use only the last three near starts
        if not self.problem.targets:
            return N_NEAR - 2
        # with costs or a far tip, skip the near starts: random starts reach a far target sooner
        is_far = any(error.position > CLOSE[0] or error.orientation > CLOSE[1]
                     for error in accept(self.problem, self.seeds[0]).errors)
        if self.options.select != 'nearest' and (is_far or self.problem.costs):
            return N_NEAR + 1
        # start 1 is the seed again, but with joint limits close to it, which only solvers with
        # `finds_starts` apply; other solvers would repeat the first descent
        return 2

    def _evaluate(self, attempt: Attempt, has_turns: bool = False) -> Candidate:
        """
        Check an attempt for acceptance; store accepted attempts and the best attempt.

        `has_turns` is True if the solver has already chosen the full turns nearest to the seed.
        """
        if not has_turns and self.problem.structure.full_turn_indices.size:
            attempt = attempt._replace(q=nearest_turns(self.problem, attempt.q, self.seeds[0]))
        report, near = accept(self.problem, attempt.q), None
        if self._widened is not None and not report.accepted:
            near = accept(self._widened, attempt.q)
            # `accept` does not check contacts if there are violations
            report = report._replace(touches=report.touches or near.touches)
        is_ranked = self.options.select != 'first' or self.options.solutions > 1
        rank = self._rank(attempt.q, report) if is_ranked else 0.0
        candidate = Candidate(attempt, report, rank)
        if self.best is None or candidate.order < self.best.order:
            self.best = candidate
        if report.accepted:
            if not (report.costs and self._costs_more_than_a_seed(sum(report.costs))):
                self._add_solution(candidate)
        elif near is not None and near.accepted:
            self.best_approximate = min(self.best_approximate or candidate, candidate,
                                        key=self._squared_error)
        return candidate

    def _add_solution(self, candidate: Candidate) -> None:
        """Add a solution; of equal solutions, keep only the one of lowest rank."""
        others = []
        for one in self.accepted:
            if not self._is_same_solution(one.attempt.q, candidate.attempt.q):
                others.append(one)
            elif one.rank <= candidate.rank:
                return
        self.accepted = [*others, candidate]

    def _is_same_solution(self, a: Array, b: Array) -> bool:
        """Return whether a and b (nq,) are closer than SAME_SOLUTION, apart from full turns."""
        a, angles = a.copy(), self.problem.structure.angles
        a[angles] += TURN * np.round((b[angles] - a[angles]) / TURN)
        return float(np.abs(self._difference(a, b)).max(initial=0.0)) < SAME_SOLUTION

    def _difference(self, a: Array, b: Array) -> Array:
        """Return the displacement of the active columns from a to b in the tangent space."""
        v: Array = pin.difference(self.problem.robot.model, a, b)[self.problem.active.v_slice]
        return v

    def _rank(self, q: Array, report: AcceptanceReport) -> float:
        problem, select = self.problem, self.options.select
        if select == 'cost':
            return sum(report.costs)
        if select == 'manipulability':
            at = Configuration(problem.robot, q)
            return -math.prod(float(Manipulability(target.tip, target.relative_to).value(at)[0])
                              for target in problem.targets)
        return float(np.linalg.norm(self._difference(self.seeds[0], q)))

    def _escape_collision(self, colliding: Candidate) -> None:
        """Try to move a colliding solution out of contact, and check the result."""
        options, checker = self.options, self.problem.checker
        assert checker is not None
        self.n_colliding += 1
        if not (self.unavoidable or options.select == 'first' and self.budget.over()):
            if self._clearance is None:
                self._clearance = Clearance(self._relaxed[0] if self._is_loose else self.problem,
                                            checker, options.allow_restarts)
            collision_free = self._clearance.escape_collision(colliding.attempt, self.budget)
            if collision_free is not None:
                self.iterations += collision_free.iterations
                self._evaluate(collision_free)
        # With restarts, test only after the second collision whether all solutions have contacts.
        # With `approximate`, the test ignores the targets: near a blocked target, an approximate
        # solution may have no contact.
        if self.n_colliding == 1 + options.allow_restarts and not self.accepted:
            self.unavoidable = unavoidable_contacts(self.problem, checker, colliding.attempt.q,
                                                    at_targets=options.approximate is None)

    def _squared_error(self, candidate: Candidate) -> float:
        """Return the sum of squared target errors in units of the widened tolerances."""
        assert self._widened is not None
        return sum((error.position / target.position_tolerance)**2
                   + (error.orientation / target.orientation_tolerance)**2
                   for error, target in zip(candidate.report.errors, self._widened.targets,
                                            strict=True))

    # -- the solution ---------------------------------------------------------------------

    def solution(self) -> IKSolution:
        """Return the accepted solution of lowest rank, or the best attempt with its status."""
        if not self.accepted:
            best = self.best_approximate or self.best or self._seed_candidate()
            # a solution that costs more than an acceptable seed did not end the search, but is
            # still a solution
            is_solution = best is self.best and best.report.accepted
            return self._solution(best, Status.SUCCESS if is_solution else failure_status(self))
        if len(self.accepted) > 1:
            self.accepted = sorted(self.accepted, key=lambda one: one.rank)
        return self._solution(self.accepted[0], Status.SUCCESS, tuple(
            [self._solution(one, Status.SUCCESS)
             for one in self.accepted[1:self.options.solutions]]))

    def _seed_candidate(self) -> Candidate:
        q = self.problem.within_limits(self.seeds[0])
        return Candidate(Attempt(q, math.inf, 0, ExitFlag.NOT_RUN), accept(self.problem, q))

    def _solution(self, candidate: Candidate, status: Status,
                  alternatives: tuple[IKSolution, ...] = ()) -> IKSolution:
        solution = IKSolution.lazy(partial(solution_field, self, candidate), status,
                                   candidate.attempt.q, alternatives)
        # lazy fields read this search; if it may continue, compute them all now, as pickling does
        if self.ended is None:
            solution.__reduce__()
        return solution


def _check(problem: object, options: object) -> None:
    if not isinstance(problem, IKProblem):
        raise InvalidOptionError(f'problem must be an IKProblem, not {problem!r}')
    if not isinstance(options, SolveOptions):
        raise InvalidOptionError(f'options must be SolveOptions, not {options!r}')
    select = options.select
    if options.approximate is not None and not problem.targets:
        raise InvalidOptionError('approximate applies to targets, but the problem has none')
    if select == 'cost' and not problem.costs:
        raise InvalidOptionError("select is 'cost', but the problem has no costs")
    if select == 'manipulability' and not problem.targets:
        raise InvalidOptionError("select is 'manipulability', but the problem has no targets; the "
                                 'manipulability is that of their tips')


def chosen_solver(solver: str, problem: IKProblem) -> tuple[str, str]:
    """Return the name of the solver for a problem, and the reason for the choice."""
    if not (isinstance(solver, str) and solver == 'auto'):
        return solver, REASON_NAMED
    if problem.kinds <= {'targets'}:
        return 'lm', 'auto: the problem has only target poses'
    return 'sqp', f'auto: the problem has {" and ".join(sorted(problem.kinds))}'


def seeds_of(problem: IKProblem, seeds: object) -> list[Array]:
    """Convert one or several sets of joint values to seeds (nq,); raises InvalidStateError."""
    found = as_list(seeds)
    if not found:
        raise InvalidStateError(f'seeds must be a list of joint values, not {seeds!r}')
    # one seed instead of a list
    if isinstance(seeds, Mapping) or isinstance(found[0], Real):
        found = [seeds]
    return [problem.robot.to_q(seed, problem.start, 'seed') for seed in found]
