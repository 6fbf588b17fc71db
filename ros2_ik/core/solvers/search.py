"""The search: attempts from numbered starts until an answer is accepted or the budget is over."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
import math
from numbers import Real
from operator import attrgetter
import time
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import FINEST, listed
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.functions import Manipulability
from ros2_ik.core.kernels import compile_for_search
from ros2_ik.core.kernels.pose_search import CLOSE
from ros2_ik.core.problem import (
    accept,
    AcceptanceReport,
    conflict,
    error_norm,
    IKProblem,
    IKSolution,
    joint_distance,
    JointChange,
    JointChangeBound,
    largest_change,
    out_of_reach,
)
from ros2_ik.core.problem.active_joints import TURN
from ros2_ik.core.problem.constraint import TOLERANCE
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.clearance import Clearance, lasting_contacts, SAME, tip_contacts
from ros2_ik.core.solvers.options import SolveOptions
from ros2_ik.core.solvers.report import failure_status, solution_field
from ros2_ik.core.solvers.serialization import pack, unpack
from ros2_ik.core.solvers.solver import Attempt, make_solver, Solver
from ros2_ik.core.solvers.starts import (
    chosen_turns,
    generator_state,
    N_NEAR,
    near_seed,
    OWN_STATE,
    Starts,
)
from ros2_ik.core.solvers.too_few_joints import lacks_joints, MANY_ATTEMPTS
from ros2_ik.core.status import ExitFlag, Status

DOUBT = 2       # colliding answers after which contacts of the tip itself are looked for
ENOUGH = 100    # colliding answers in a row that were known: hardly another is left
SAME_COST = 1e-9    # costs that differ by less, relatively or in all, are equal
PATIENCE = 0.1  # the first descent always gets this time [s]
KEPT = 8        # colliding answers that are kept for the message
NAMED = 'asked for by name'


class Candidate(NamedTuple):
    """Where an attempt ended, judged."""

    attempt: Attempt
    verdict: AcceptanceReport
    rank: float = 0.0       # what the selected answer has least of

    @property
    def order(self) -> tuple[bool, float]:
        """Attempts that reached what must hold come first, of these the cheapest."""
        reached = self.attempt.reached
        return not reached, self.attempt.cost if reached else self.attempt.error


_rank_of = attrgetter('rank')


class Search:
    """
    A search for answers to a problem, that can be run in slices.

    Starts are numbered, see `Starts`: the seeds come first, then starts near the first one, if the
    targets are close to it, then random ones. Each attempt tries a batch of them; `following` is
    the number of the first start not yet tried. With 'auto' and loose tolerances (above ten times
    the usual ones) attempts alternate: one aims at the targets exactly, the next one only within
    their tolerances. For the options see `SolveOptions`. Raises UnknownSolverError or
    InvalidOptionError.
    """

    # how far it has come
    attempts = iterations = following = 0
    accepted: Sequence[Candidate] = ()
    best: Candidate | None = None
    near_enough: Candidate | None = None
    touching: Sequence[Array] = ()
    tip_contacts: tuple[Contact, ...] = ()
    lasting_contacts: tuple[Contact, ...] = ()
    conflict: str | None = None
    ended: float | None = None
    _clearance: Clearance | None = None

    def __init__(self, problem: IKProblem, seeds: Sequence[JointValues] | None = None, *,
                 options: SolveOptions | None = None, prepared: Solver | None = None,
                 **named: Any) -> None:
        self.options = chosen = options or SolveOptions.of(named)
        _check(problem, chosen.select)
        self.solver, self.reason = chosen_solver(chosen.solver, problem)
        self.seeds = [problem.start] if seeds is None else seeds_of(problem, seeds)
        if chosen.max_joint_change is not None:
            problem = problem.bounded(JointChangeBound.of(problem.robot, self.seeds[0],
                                                          chosen.max_joint_change))
        self.problem = problem
        self._state, self._first_state = OWN_STATE, None
        if chosen.random_state is not None:
            self._state = generator_state(chosen.random_state)
            self._first_state = int(self._state[0])
        self._loosened_next = chosen.select in ('nearest', 'cost')    # whether the next attempt is
        compile_for_search(problem.checker is not None)
        self._is_loose = self.reason != NAMED and any(
            target.loose or chosen.approximate is not None for target in problem.targets)
        self._solver = prepared if prepared and not self._is_loose else make_solver(
            self.solver, problem, dict(chosen.solver_options))
        now = time.monotonic()     # after all is compiled and bound
        self.budget = Budget(now + chosen.timeout, chosen.max_iterations or math.inf,
                             chosen.cancel, now)

    def question(self) -> bytes:
        """
        Return problem, seeds, options and deadline for `of_question` in another process.

        User functions must be picklable; `cancel` does not travel.
        """
        options = replace(self.options, cancel=None, random_state=self._first_state)
        return pack((self.problem.question(), self.seeds, options, self.budget.deadline,
                     self.budget.started), self.problem.robot)

    @classmethod
    def of_question(cls, robot: Robot, data: bytes) -> 'Search':
        """
        Begin the search of another process anew, with its deadline.

        Raises InvalidOptionError for bytes that are not from `question`.
        """
        try:
            question, seeds, options, deadline, started = unpack(data, robot)
            search = cls(IKProblem(robot, **question), seeds, options=options)
        except Exception as error:    # whatever bytes may do that are none of a question
            raise InvalidOptionError(f'data is not the question of a search: {error}') from error
        search.budget.deadline, search.budget.started = deadline, started
        return search

    # -- how long -------------------------------------------------------------------------

    def run(self, seconds: float = math.inf) -> bool:
        """
        Make attempts until the search is finished, or `seconds` are used up.

        At least one attempt is made. Returns whether the search is finished.
        """
        end = time.monotonic() + seconds
        while not self.finished:
            self._attempt()
            if seconds < math.inf and time.monotonic() >= end:
                return self.finished
        return True

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        if self.ended is None and self._is_over():
            is_wanted = self.options.select in ('first', 'cost') or not self.accepted
            if self.attempts and is_wanted and not self._is_cheaper_than_seeds():
                self._take_a_seed()
            self.ended = time.monotonic()
        return self.ended is not None

    def _is_over(self) -> bool:
        options = self.options
        if options.select == 'first' and len(self.accepted) >= options.solutions \
                and self._is_cheaper_than_seeds():
            return True
        if self.attempts == 0:      # best_q needs one attempt, however late it is
            return self.budget.cancel is not None and self.budget.cancelled()
        if self.attempts >= len(self.seeds) and (
                self.is_hopeless or self.all_touch or self._lacks_joints
                or not options.allow_restarts and not self._is_seed_left()):
            return True
        return self.budget.over()

    def _is_cheaper_than_seeds(self) -> bool:
        """Return whether some answer costs no more than the seeds, as far as these will do."""
        if not self.problem.costs and self.accepted:
            return True
        if self.attempts == len(self.seeds) == len(self.accepted) and not (
                self._is_loose or self.touching) and all(
                one.tolerance <= TOLERANCE for one in self.problem.constraints):
            return True     # the descent from a seed that will do lowers the costs
        of_seeds = min((sum(costs) for _, costs in self._accepted_seeds), default=math.inf)
        return self._least_cost() <= of_seeds * (1 + SAME_COST) + SAME_COST

    def _least_cost(self) -> float:
        return min((sum(one.verdict.costs) for one in self.accepted), default=math.inf)

    @cached_property
    def _accepted_seeds(self) -> list[tuple[Array, tuple[float, ...]]]:
        """The seeds that acceptance takes as they are, within limits, with their costs."""
        seeds = [self.problem.within_limits(seed) for seed in self.seeds]
        verdicts = [accept(self.problem, q) for q in seeds]
        return [(q, verdict.costs) for q, verdict in zip(seeds, verdicts, strict=True)
                if verdict.accepted]

    def _is_seed_left(self) -> bool:
        """Return whether without restarts the seed is to be tried with loose tolerances, too."""
        return self._is_loose and self.attempts <= len(self.seeds) and not self.accepted

    @property
    def is_hopeless(self) -> bool:
        """Whether what was found shows that further attempts find nothing."""
        return bool(self.conflict or self.tip_contacts or self.lasting_contacts
                    or not self.problem.joint_names and self.attempts > 0)

    @property
    def _lacks_joints(self) -> bool:
        """Whether no answer was found where there are so few joints that one would have been."""
        return (self.attempts >= MANY_ATTEMPTS and lacks_joints(self.problem)
                and not (self._is_loose or self.accepted or self.touching))

    @property
    def is_impossible(self) -> bool:
        """Whether it was shown that there is no answer."""
        return bool(self.is_hopeless or self.out_of_reach)

    @cached_property
    def out_of_reach(self) -> list[str]:
        """What shows that targets are too far away."""
        return out_of_reach(self.problem)

    @property
    def all_touch(self) -> int:
        """How many answers there seem to be, all of which touch; 0 where more may be found."""
        known = self._clearance
        if known is None or known.repeats < ENOUGH or self.accepted \
                or self.options.approximate is not None:
            return 0
        return known.known

    @property
    def seconds(self) -> float:
        """Time used so far [s]."""
        return (self.ended or time.monotonic()) - self.budget.started

    # -- attempts -------------------------------------------------------------------------

    def _attempt(self) -> None:
        """Make one attempt, judge where it ended, and move it out of contact."""
        is_first = self.attempts == 0
        if is_first and self._is_loose and not self.problem.costs and self._take_a_seed():
            self.attempts = 1
            return
        problem, solver = self._question_in_turn()
        attempt = self._descend(problem, solver)
        if problem is not self.problem and not attempt.reached:
            # errors are compared, not what exceeds tolerances
            attempt = attempt._replace(error=self._solver.attempt(
                attempt.q, Budget(iterations=0)).error)
        if self._deserves_judging(attempt):
            candidate = self._judge(attempt, is_turned=solver.finds_starts
                                    and len(self.seeds) == 1)
            if candidate.verdict.touches:
                self._clear(candidate)
        if is_first and not self.accepted and self.options.approximate is None:
            self.conflict = conflict(self.problem)

    def _question_in_turn(self) -> tuple[IKProblem, Solver]:
        """Return the problem, or every other time the one whose constraints are tolerances."""
        tolerances, self._loosened_next = self._loosened_next, not self._loosened_next
        return self._loosened if self._is_loose and tolerances else (self.problem, self._solver)

    @cached_property
    def _loosened(self) -> tuple[IKProblem, Solver]:
        near = self.options.approximate
        problem = self.problem.loosened() if near is None else self.problem.approximated(*near)
        return problem, make_solver(chosen_solver('auto', problem)[0], problem, {})

    def _descend(self, problem: IKProblem, solver: Solver) -> Attempt:
        """Descend from the next starts, until one reaches what must hold."""
        starts, budget = self._next_starts(problem, solver), self.budget
        if self.attempts == 0 and not solver.finds_starts:
            budget = replace(budget, deadline=max(budget.deadline, time.monotonic() + PATIENCE))
        attempt, used, self.following = solver.find(problem, starts, budget)
        self.attempts += used
        self.iterations += attempt.iterations
        # one that cannot begin counts as an iteration, so that max_iterations ends a search
        self.budget.iterations -= attempt.iterations or (not attempt.reached)
        return attempt

    @cached_property
    def _expects_near_answer(self) -> bool:
        """True where tips are near their targets at the seed, and no cost ranks the answers."""
        problem = self.problem
        if not problem.targets or problem.costs or problem.runs_user_code:
            return False
        errors = accept(problem, problem.within_limits(self.seeds[0])).errors
        return all(error.position <= CLOSE[0] and error.orientation <= CLOSE[1]
                   for error in errors)

    def _next_starts(self, problem: IKProblem, solver: Solver) -> Starts:
        """Return the next seed, alone where others follow; then starts near the first, random."""
        seeds, number, options, finds = (self.seeds, self.attempts, self.options,
                                         solver.finds_starts)
        # every end is looked at for the least error
        batch = 1 if options.approximate is not None else solver.batch_size
        if number < len(seeds):
            alone = (not finds or len(seeds) > 1 or not options.allow_restarts or batch == 1
                     or time.monotonic() >= self.budget.deadline)
            return Starts(seeds[number], 0, 0 if alone else N_NEAR + batch, self._state)
        if not options.allow_restarts:
            return Starts(seeds[0], 0, 0, self._state)
        first = max(self.following, 1)
        if not finds:     # those that do pass over starts near the seed by themselves
            is_near = not problem.targets or self._expects_near_answer
            first = max(first, 2 if is_near else N_NEAR + 1)     # 1 is the seed once more
        last = max(first - 1, N_NEAR if batch > 1 and finds else 0) + batch
        return Starts(seeds[0], first, last, self._state)

    def _deserves_judging(self, attempt: Attempt) -> bool:
        if self.best is None:
            return True
        if attempt.reached and self._clearance is not None and self._clearance.knows(attempt.q):
            return False
        return (attempt.reached or self.options.approximate is not None
                or (not attempt.reached, attempt.error) < self.best.order)

    def _judge(self, attempt: Attempt, is_turned: bool = False) -> Candidate:
        """
        Judge where an attempt ended, and keep it if it is accepted or the best so far.

        Unless it `is_turned` already, the turns of its joints are chosen first.
        """
        if self.problem.turnable.size and not is_turned:
            attempt = attempt._replace(q=chosen_turns(self.problem, attempt.q, self.seeds[0]))
        verdict = accept(self.problem, attempt.q)
        is_ranked = self.options.select != 'first' or self.options.solutions > 1
        rank = self._rank(attempt.q, verdict) if is_ranked else 0.0
        candidate = Candidate(attempt, verdict, rank)
        if self.best is None or self._is_better(candidate, self.best):
            self.best = candidate
        if verdict.accepted:
            self._enter(candidate)
        elif self.options.approximate is not None and self._is_near_enough(candidate):
            checker = self.problem.checker
            if checker is not None and checker.collides(attempt.q):
                return candidate._replace(verdict=verdict._replace(touches=True))
            self.near_enough = min(self.near_enough or candidate, candidate,
                                   key=self._squared_error)
        return candidate

    def _is_better(self, candidate: Candidate, best: Candidate) -> bool:
        if candidate.verdict.accepted != best.verdict.accepted:
            return candidate.verdict.accepted
        if not (best.attempt.reached or candidate.attempt.reached) \
                and self.problem.kinds == {'targets'}:
            # a solver's measure of what is missed need not be that of the errors people are told
            return error_norm(candidate.verdict.errors) < error_norm(best.verdict.errors)
        return candidate.order < best.order

    def _enter(self, candidate: Candidate) -> None:
        """Enter an answer, of those of one posture the one of lowest rank."""
        twins, others = list[Candidate](), list[Candidate]()
        for one in self.accepted:
            (twins if self._same(one.attempt.q, candidate.attempt.q) else others).append(one)
        if all(candidate.rank < twin.rank for twin in twins):
            self.accepted = [*others, candidate]

    def _same(self, a: Array, b: Array) -> bool:
        """Return whether two answers are one posture, also where a joint is a turn apart."""
        problem, a = self.problem, a.copy()
        angles = problem.angles
        a[angles] += TURN * np.round((b[angles] - a[angles]) / TURN)
        v = pin.difference(problem.robot.model, a, b)[problem.active.column]
        return float(np.abs(v).max(initial=0.0)) < SAME

    def _rank(self, q: Array, verdict: AcceptanceReport) -> float:
        problem, select = self.problem, self.options.select
        if select == 'cost':
            return sum(verdict.costs)
        if select == 'manipulability':
            at = Configuration(problem.robot, q)
            return -math.prod(float(Manipulability(target.tip, target.relative_to).value(at)[0])
                              for target in problem.targets)
        return joint_distance(problem.robot, problem.active, self.seeds[0], q)

    def _clear(self, touching: Candidate) -> None:
        """Move an answer that touches along its self-motion, or push it out of contact."""
        options, checker = self.options, self.problem.checker
        assert checker is not None
        self._find_lasting_contacts(touching.attempt.q, checker)
        if self.tip_contacts or self.lasting_contacts \
                or options.select == 'first' and self.budget.over():
            return
        if 0 < self.following <= N_NEAR + 1 and options.approximate is None \
                and self._expects_near_answer:
            freed = self._near_clearance.escape_collision(touching.attempt, self.budget)
        else:
            if self._clearance is None:
                self._clearance = Clearance(self._loosened[0] if self._is_loose else self.problem,
                                            checker, options.allow_restarts)
            freed = self._clearance.escape_collision(touching.attempt, self.budget)
        if freed is not None:
            self.iterations += freed.iterations
            self._judge(freed)

    @cached_property
    def _near_clearance(self) -> Clearance:
        assert self.problem.checker is not None
        return Clearance(near_seed(self.problem, self.seeds[0]), self.problem.checker,
                         restarts=False)

    def _find_lasting_contacts(self, q: Array, checker: CollisionChecker) -> None:
        """Look for contacts that no answer avoids, once something touches at q (nq,)."""
        if len(self.touching) < KEPT:
            self.touching = [*self.touching, q]
        # beside a blocked target there may be a free approximate answer
        if self.options.approximate is None and len(self.touching) == (
                DOUBT if self.options.allow_restarts else 1):
            self.tip_contacts = tip_contacts(self.problem, checker)
        if len(self.touching) == 1:
            self.lasting_contacts = lasting_contacts(self.problem, checker, q)

    def _is_near_enough(self, candidate: Candidate) -> bool:
        """
        Return whether errors are within what was asked for as an approximate answer.

        The errors of each target are compared with what was asked, not what exceeds tolerances.
        """
        most = dict(zip(('m', 'rad'), self.options.approximate.tolist(), strict=True))
        return all(
            one.kind != 'joint' and (one.value if one.kind == 'target' else one.amount)
            <= most.get(one.unit, 0.0) for one in candidate.verdict.violations)

    def _squared_error(self, candidate: Candidate) -> float:
        """Return the squared error of all targets, in units of what may be approximate."""
        m, rad = (max(float(most), FINEST) for most in self.options.approximate)
        return sum((error.position / m)**2 + (error.orientation / rad)**2
                   for error in candidate.verdict.errors)

    def _take_a_seed(self) -> bool:
        """
        Take the first seed that will do as it is and costs less than all that was found.

        Costs may lead all descents from it into contact; and targets that contradict each other
        by less than their tolerances have none that ends within all.
        """
        for q, costs in self._accepted_seeds:
            if sum(costs) < self._least_cost():
                if self.options.select == 'first' and self.options.solutions == 1:
                    self.accepted = []      # these are not ranked
                self._judge(Attempt(q, 0.0, 0, ExitFlag.CONVERGED, sum(costs)))
                return True
        return False

    # -- the answer -----------------------------------------------------------------------

    def solution(self) -> IKSolution:
        """Return the answer as it stands; before the end that is the best so far."""
        if not self.accepted:
            return self._solution(self.near_enough or self.best or self._unjudged_seed(),
                                  failure_status(self))
        if len(self.accepted) > 1:
            self.accepted = sorted(self.accepted, key=_rank_of)
        return self._solution(self.accepted[0], Status.SUCCESS, tuple(
            self._solution(one, Status.SUCCESS)
            for one in self.accepted[1:self.options.solutions]))

    def _unjudged_seed(self) -> Candidate:
        q = self.problem.within_limits(self.seeds[0])
        return Candidate(Attempt(q, math.inf, 0, ExitFlag.NOT_RUN), accept(self.problem, q))

    def _solution(self, candidate: Candidate, status: Status,
                  alternatives: tuple[IKSolution, ...] = ()) -> IKSolution:
        solution = IKSolution.late(partial(solution_field, self, candidate, status), status=status,
                                   best_q=candidate.attempt.q, alternatives=alternatives)
        if self.ended is None:    # the search goes on: this is how it stands now
            solution.__reduce__()
        return solution

    def travel(self, q: Array) -> JointChange | None:
        """Return the largest joint change from the first seed."""
        return largest_change(self.problem.active, self.seeds[0], q)


def _check(problem: Any, select: str) -> None:
    if not isinstance(problem, IKProblem):
        raise InvalidOptionError(f'problem must be an IKProblem, not {problem!r}')
    if select == 'cost' and not problem.costs:
        raise InvalidOptionError("select is 'cost', but the problem has no costs")
    if select == 'manipulability' and not problem.targets:
        raise InvalidOptionError("select is 'manipulability', but the problem has no targets, "
                                 'whose tips it is measured at')


def chosen_solver(solver: Any, problem: IKProblem) -> tuple[Any, str]:
    """Choose a solver by the problem's shape, unless one is named; and say why."""
    if not (isinstance(solver, str) and solver == 'auto'):
        return solver, NAMED
    if problem.kinds <= {'targets'}:
        return 'lm', 'auto: only poses of frames are asked for'
    return 'sqp', f'auto: the problem has {" and ".join(sorted(problem.kinds))}'


def seeds_of(problem: IKProblem, seeds: Any) -> list[Array]:
    """Return seeds as they may be given, each (nq,); raises InvalidStateError."""
    found = listed(seeds)
    if not found:
        raise InvalidStateError(f'seeds must be a list of joint values, not {seeds!r}')
    if isinstance(seeds, Mapping) or isinstance(found[0], Real):
        found = [seeds]         # one seed, not in a list
    return [problem.robot.to_q(seed, problem.start, 'seed') for seed in found]
