"""Attempts from seeds and random starts until an answer is accepted or the budget is over."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
import math
from numbers import Real
import time
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import listed, vector, whole
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, nearest
from ros2_ik.core.functions import Manipulability
from ros2_ik.core.problem import (
    accept,
    AcceptanceReport,
    conflict,
    error_norm,
    IKProblem,
    IKSolution,
    JointChange,
    JointChangeBound,
    out_of_reach,
    travel,
)
from ros2_ik.core.problem.active_joints import TURN
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene import CollisionChecker, Contact
from ros2_ik.core.scene.contacts import deepest
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.clearance import Clearance, SAME, tip_contacts
from ros2_ik.core.solvers.report import (
    failure_status,
    is_impossible,
    is_near_enough,
    joints_at_limits,
    message,
    named_costs,
)
from ros2_ik.core.solvers.restarts import (
    chosen_turns,
    is_close,
    NEAR,
    Nearby,
    Starts,
    within_limits,
)
from ros2_ik.core.solvers.serialization import pack, unpack
from ros2_ik.core.solvers.solver import Attempt, make_solver, Solver
from ros2_ik.core.status import ExitFlag, Status

SELECTIONS = ('first', 'nearest', 'cost', 'manipulability')
WINDINGS = ('seed', 'lower')
DOUBT = 2      # so many answers that touch make one ask whether all must, which takes longer
CHANGES = (0.1, 0.3, 0.6)    # of the seed [rad, m], tried before random starts
EXTRA, SHARE = 48, 0.2       # attempts and part of the time for a nearer answer than a far one
BEYOND = 4     # attempts that leave the bound on changes, to tell what lies there
ENOUGH = 100   # answers in a row that are known to touch: hardly one is left that is not
NAMED = 'asked for by name'


class Candidate(NamedTuple):
    """Where an attempt ended, judged."""

    attempt: Attempt
    verdict: AcceptanceReport
    distance: float     # to the seed, in the tangent space of the moving joints
    travel: JointChange | None      # the largest from the seed, None without moving joints
    manipulability: float = 0.0

    @property
    def cost(self) -> float:
        """Sum of the problem's costs."""
        return sum(self.verdict.costs)

    @property
    def is_near(self) -> bool:
        """Whether no joint is far from the seed."""
        return self.travel is None or self.travel.change <= NEAR


class Begun(NamedTuple):
    """
    What was tried before a search goes on with it, as that would have tried it.

    Of each attempt where it ended, how many starts were used, and the last of these; starts that
    were drawn and not used (k, nq); how often some were drawn, and what draws them.
    """

    attempts: list[tuple[Attempt, int, Array]]
    drawn: Array
    draws: int
    generator: Any


class Search:
    """
    A search for answers to a problem, that can be run in slices.

    The seeds come first, then starts close to the first one, then uniform random ones. With
    'auto', targets with loose tolerances (above ten times the usual ones) are also tried with
    these as constraints, from the first seed and from random starts; an arm that meets them is at
    its goal, if there are no costs. `select`:
    'first' stops at the first `solutions` different accepted answers and gives the nearest of
    them; where that is far from the seed though the target is close, it goes on for a part of the
    time. 'nearest' goes on until the budget is over and keeps those nearest the first seed,
    'cost' those of the lowest cost, 'manipulability' those whose tips are farthest from singular
    (Yoshikawa; the product over the tips). `winding`: of all turns of a joint the one nearest the
    'seed' or the 'lower' limit. `approximate` (position [m], orientation [rad]) asks for the best
    answer within these when none holds: status APPROXIMATE. `max_joint_change` [rad, m] bounds
    the change of each joint from the first seed, turns counted: one number, numbers by joint
    name, or one for each joint of the robot.
    The same `random_state` gives the same starts. `options` are the solver's.

    Raises UnknownSolverError or InvalidOptionError.
    """

    def __init__(self, problem: IKProblem, seeds: Sequence[JointValues] | None = None, *,
                 solver: str = 'auto', select: str = 'first', solutions: int = 1,
                 allow_restarts: bool = True, winding: str = 'seed',
                 approximate: Sequence[float] | None = None,
                 max_joint_change: Any = None,
                 random_state: int | np.random.Generator | None = None,
                 budget: Budget | None = None, options: Mapping[str, Any] | None = None,
                 begun: Begun | None = None) -> None:
        if not isinstance(problem, IKProblem):
            raise InvalidOptionError(f'problem must be an IKProblem, not {problem!r}')
        _check_choice('select', select, SELECTIONS)
        _check_choice('winding', winding, WINDINGS)
        if select == 'manipulability' and not problem.targets:
            raise InvalidOptionError("select is 'manipulability', but the problem has no targets, "
                                     'whose tips it is measured at')
        if not isinstance(allow_restarts, (bool, np.bool_)):
            raise InvalidOptionError(f'allow_restarts is True or False, not {allow_restarts!r}')
        if not isinstance(budget, (Budget, type(None))):
            raise InvalidOptionError(f'budget must be a Budget, not {budget!r}')
        solutions = whole(solutions, 'solutions', InvalidOptionError)
        if not isinstance(random_state, (np.random.Generator, type(None))):
            random_state = whole(random_state, 'random_state', InvalidOptionError, 0, math.inf)
        if select == 'cost' and not problem.costs:
            raise InvalidOptionError("select is 'cost', but the problem has no costs")
        self.budget = budget or Budget()
        self.select, self.solutions, self.allow_restarts = select, solutions, allow_restarts
        self.winding, self.approximate = winding, None
        if approximate is not None:
            self.approximate = vector(approximate, 'approximate', 2, InvalidOptionError)
            if (self.approximate < 0).any():
                raise InvalidOptionError(f'approximate must not be negative: {approximate!r}')
        self._seed_was_tried = False    # with loose tolerances as constraints
        self.conflict: str | None = None
        self.tip_contacts: tuple[Contact, ...] = ()
        self.touching: list[Array] = []     # the first answers that touch something
        self.solver, self.reason = chosen_solver(solver, problem)
        self.options = dict(options or {})
        self._loose = self.reason != NAMED and any(target.loose for target in problem.targets)
        self._seeds = seeds_of(problem, seeds)
        if max_joint_change is not None:
            problem = problem.bounded(JointChangeBound.of(problem.robot, self._seeds[0],
                                                          max_joint_change))
        self.problem = problem
        self._random: Any = random_state
        self._drawn: Array = np.empty((0, problem.robot.nq))   # starts not used so far
        self._near: Array | None = None     # starts close to the first seed not used so far
        self._draws = 0
        self.beyond: JointChange | None = None    # what an answer needs that the bound forbids
        self._looked_beyond = problem.change_bound is None
        self._found_at = 0                  # attempts until an answer was found
        self.attempts = self.iterations = 0
        self.accepted: list[Candidate] = []
        self.best: Candidate | None = None
        self.near_enough: Candidate | None = None    # for an approximate answer
        self.still_shrank = False    # the best attempt was cut off by the clock on its way
        self.last_flag = ExitFlag.NOT_RUN
        self._ended: float | None = None
        self._prepare()
        self.budget.begin()
        if begun is not None:
            self._go_on_with(begun)

    def _prepare(self) -> None:
        self._solver = make_solver(self.solver, self.problem, self.options)
        self._starts: Starts | None = None
        self._clearance: Clearance | None = None
        self._nearby: Nearby | None = None
        self._loosened: tuple[IKProblem, Solver] | None = None
        self._answer: IKSolution | None = None

    def state(self) -> bytes:
        """
        Return all of the search but the robot, for `resume` in another process.

        Pickled, so that two searches of one state stay apart. User functions must be picklable.
        """
        left_out = ('problem', '_solver', '_starts', '_clearance', '_nearby', '_loosened',
                    '_answer')
        fields = {key: value for key, value in self.__dict__.items() if key not in left_out}
        fields['budget'] = replace(self.budget, cancel=None, progress=None)
        return pack((self.problem.question(), fields), self.problem.robot)

    @classmethod
    def resume(cls, robot: Robot, state: bytes) -> 'Search':
        """
        Go on with a search of another process; cancel and progress do not travel.

        Raises InvalidOptionError for bytes that are not from `state`.
        """
        try:
            question, fields = unpack(state, robot)
            search = cls.__new__(cls)
            search.problem = IKProblem(robot, **question)
            search.__dict__.update(fields)
        except Exception as error:    # whatever bytes may do that are none of a search
            raise InvalidOptionError(f'state is not that of a search: {error}') from error
        search._prepare()
        return search

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        if self._ended is None and self._is_over():
            wanted = self.problem.costs and self.select in ('first', 'cost')
            if wanted or self.attempts and not self.accepted:
                self._take_a_seed()
            self._ended = time.monotonic()
        return self._ended is not None

    def _take_a_seed(self) -> None:
        """
        Take the first seed that will do as it is and costs less than all that was found.

        Costs may lead all descents from it into contact; and targets that contradict each other
        by less than their tolerances have none that ends within all.
        """
        for seed in self._seeds:
            q = within_limits(self.problem, seed)
            verdict = accept(self.problem, q)
            if verdict.accepted and sum(verdict.costs) < min(
                    (candidate.cost for candidate in self.accepted), default=math.inf):
                self._judge(Attempt(q, 0.0, 0, ExitFlag.CONVERGED), better=True)
                return

    def _is_over(self) -> bool:
        if (self.select == 'first' and len(self.accepted) >= self.solutions
                and not self._looks_nearer()):
            return True
        if self.attempts == 0 and not self.budget.cancelled():
            return False                     # best_q needs one look, however late it is
        if self.attempts >= len(self._seeds) and (
                self.hopeless or self.all_touch or not (self.allow_restarts or self._seed_left)):
            return True
        return self.budget.over()

    @property
    def _seed_left(self) -> bool:
        """Whether the first seed, without restarts, is to be tried with the tolerances, too."""
        return (self._loose and not self._seed_was_tried and not self.allow_restarts
                and not self.accepted)

    def _looks_nearer(self) -> bool:
        """Return whether to go on for a nearer answer than those that were found."""
        if any(candidate.is_near for candidate in self.accepted):
            return False
        if self.winding != 'seed' or not (self.allow_restarts and self.close):
            return False
        return self._near is None or len(self._near) > 0 or (
            self.attempts < self._found_at + EXTRA and self.budget.used() < SHARE)

    @cached_property
    def close(self) -> bool:
        """Whether an answer near the first seed is expected."""
        return is_close(self.problem, within_limits(self.problem, self._seeds[0]))

    @cached_property
    def out_of_reach(self) -> list[str]:
        """What shows that targets are too far away: said in each answer, worked out once."""
        return out_of_reach(self.problem)

    @property
    def all_touch(self) -> int:
        """How many answers there seem to be, all of which touch; 0 where more may be found."""
        if self._clearance is None or self._clearance.repeats < ENOUGH or self.accepted \
                or self.approximate is not None:
            return 0
        return self._clearance.known

    @property
    def hopeless(self) -> bool:
        """Whether what was found shows that further attempts find nothing."""
        return (bool(self.conflict or self.tip_contacts)
                or (not self.problem.joint_names and self.attempts > 0))

    def run(self, seconds: float | None = None) -> bool:
        """
        Make attempts until the search is finished, or `seconds` are used up.

        At least one attempt is made. Gives whether the search is finished.
        """
        end = math.inf if seconds is None else time.monotonic() + seconds
        while not self.finished:
            self._attempt()
            if time.monotonic() >= end:
                break
        return self.finished

    def _meets_tolerances(self) -> bool:
        """Return whether the first seed will do as it is; then it is an answer."""
        if not self._loose or self.attempts or self.problem.costs:
            return False
        q = within_limits(self.problem, self._seeds[0])
        if accept(self.problem, q).accepted:
            self.attempts = 1
            self._judge(Attempt(q, 0.0, 0, ExitFlag.CONVERGED), better=True)
        return bool(self.accepted)

    def _attempt(self) -> None:
        if self._meets_tolerances():
            return
        solver, starts = self._next_starts()
        first = self.attempts == 0
        attempt, used = solver.attempt_in_turn(
            starts, self.budget.for_whole_descent() if first else self.budget)
        self._forget(used)
        self._take(solver, attempt, used, starts[used - 1])

    def _go_on_with(self, begun: Begun) -> None:
        """Take attempts that were made before."""
        for attempt, used, start in begun.attempts:
            self._take(self._solver, attempt, used, start)
        if begun.draws:
            self._starts = Starts(self.problem, self._seeds[0])
            self._drawn, self._near = begun.drawn, begun.drawn[:0]
            self._draws, self._random = begun.draws, begun.generator

    def _take(self, solver: Solver, attempt: Attempt, used: int, start: Array) -> None:
        """Judge an attempt that is worth it; `start` is the last of those it `used`."""
        first = self.attempts == 0
        self.attempts += used
        self._count(attempt)
        if self._loosened and solver is self._loosened[1] and not attempt.reached:
            solver = self._solver    # errors are compared, not what exceeds tolerances
            attempt = attempt._replace(error=_error(solver, attempt.q))
        self.last_flag = attempt.exit_flag
        better = self.best is None or _order(attempt) < _order(self.best.attempt)
        touches = (self._clearance is not None and attempt.reached
                   and self._clearance.knows(attempt.q))
        if (better or attempt.reached or self.approximate is not None) and not touches \
                and self._judge(attempt, better):
            self.still_shrank = _was_cut_off(attempt, solver, start)
        if first and not self.accepted and self.approximate is None:
            self.conflict = conflict(self.problem)
        if self.budget.progress and self.best:
            self.budget.progress(math.sqrt(self.best.attempt.error), self.attempts)

    def _count(self, attempt: Attempt) -> None:
        self.iterations += attempt.iterations
        # one that cannot begin counts, too: else a bound on iterations would bound nothing
        self.budget.iterations -= attempt.iterations or (not attempt.reached)

    def _next_starts(self) -> tuple[Solver, Array]:
        """Return the next seed, or some starts (k, nq), and who descends from there."""
        if self.attempts < len(self._seeds):
            best = self._loose and self.select in ('nearest', 'cost')
            self._seed_was_tried = best
            solver = self._with_tolerances()[1] if best else self._solver
            return solver, within_limits(self.problem, self._seeds[self.attempts])[None]
        if self._seed_left:
            self._seed_was_tried = True
            return self._with_tolerances()[1], within_limits(self.problem, self._seeds[0])[None]
        if self._starts is None:
            self._starts = Starts(self.problem, self._seeds[0])
            self._random = np.random.default_rng(self._random)
        if self._near is None:
            self._near = (self._near_problem().starts(self._random) if self.close
                          else self._drawn)
        if not self._looked_beyond and not len(self._near):
            self._looked_beyond = True
            self._look_beyond()
        one_by_one = self.budget.progress or self.approximate is not None   # each is looked at
        if len(self._near):
            solver = self._near_problem().solver
            return solver, self._near[:1 if one_by_one else solver.at_once]
        count = 1 if one_by_one else self._solver.at_once
        if not len(self._drawn):
            self._drawn = (self._starts.near(self._random, CHANGES) if self._stays_near()
                           else self._starts.random(self._random, count))
        if self._loose and self._draws % 2 == (self.select == 'nearest'):
            if not self._seed_was_tried:
                self._seed_was_tried = True
                self._drawn = np.vstack([within_limits(self.problem, self._seeds[0]), self._drawn])
            return self._with_tolerances()[1], self._drawn[:1]
        return self._solver, self._drawn[:count]

    def _stays_near(self) -> bool:
        """
        Return whether the next starts are close to the seed.

        Every other time where the nearest answer counts; first of all where no target tells how
        near the seed is. A tip that is far from its target gets there sooner from random ones.
        """
        self._draws += 1
        if self.select == 'nearest' or self.accepted:
            return self._draws % 2 == 1
        return self._draws == 1 and not self.problem.targets

    def _forget(self, used: int) -> None:
        """Drop the starts that were used."""
        if self._near is not None and len(self._near):
            self._near = self._near[used:]
        else:
            self._drawn = self._drawn[used:]

    def _with_tolerances(self) -> tuple[IKProblem, Solver]:
        """Return the problem whose constraints are the tolerances, and who solves it."""
        if self._loosened is None:
            problem = self.problem.loosened()
            self._loosened = problem, make_solver(chosen_solver('auto', problem)[0], problem, {})
        return self._loosened

    def _near_problem(self) -> Nearby:
        if self._nearby is None:
            self._nearby = Nearby(self.problem, self._seeds[0], self.solver, self.options)
        return self._nearby

    def _look_beyond(self) -> None:
        """Find out what an answer would need that the bound on the changes of joints forbids."""
        bound, problem = self.problem.change_bound, self.problem.bounded(None)
        assert bound is not None
        solver, seed = make_solver(self.solver, problem, self.options), self._seeds[0]
        starts = np.vstack([within_limits(problem, seed),
                            Starts(problem, seed).random(self._random, BEYOND - 1)])
        while len(starts) and not self.budget.over():
            attempt, used = solver.attempt_in_turn(starts, self.budget)
            self._count(attempt)
            starts = starts[used:]
            if not attempt.reached:
                continue
            q = chosen_turns(problem, attempt.q, seed, self.winding)
            if not accept(problem, q).accepted:
                continue
            found = [change for joint in problem.active.joints
                     if (change := bound.exceeded(joint, q))]
            self.beyond = max(found, key=lambda change: change.change, default=None)
            return

    def _judge(self, attempt: Attempt, better: bool) -> bool:
        """Judge where an attempt ended; gives whether that is the best, as it seems `better`."""
        q = chosen_turns(self.problem, attempt.q, self._seeds[0], self.winding)
        if q is not attempt.q:
            attempt = attempt._replace(q=q)
        candidate = Candidate(
            attempt, accept(self.problem, q),
            *travel(self.problem.robot, self.problem.active, self._seeds[0], q),
            self._manipulability(q))
        better = better and not self._has_larger_errors(candidate)
        if better:
            self.best = candidate
        if candidate.verdict.touches:
            self._look_for_clearance(attempt)
        if candidate.verdict.accepted:
            self._enter(candidate)
        elif self.approximate is not None and is_near_enough(self, candidate):
            found = self.near_enough
            if found is None or _order(attempt) < _order(found.attempt):
                self.near_enough = candidate
        return better

    def _has_larger_errors(self, candidate: Candidate) -> bool:
        """
        Return whether its targets are missed by more than those of the best so far.

        A solver's measure of what is not reached need not be that of the errors people are told.
        """
        best = self.best
        return (best is not None and not (best.attempt.reached or candidate.attempt.reached)
                and self.problem.kinds == {'targets'}
                and error_norm(candidate.verdict.errors) > error_norm(best.verdict.errors))

    def _look_for_clearance(self, touching: Attempt) -> None:
        """Find an answer near one that touches; or that none can be free."""
        checker = self.problem.checker
        assert checker is not None
        if len(self.touching) < 8:
            self.touching.append(touching.q)
        # that the target is in contact says nothing of what is near it
        if self.approximate is None and len(self.touching) == (
                DOUBT if self.allow_restarts else 1):
            self.tip_contacts = tip_contacts(self.problem, checker)
        if self.tip_contacts or (self.select == 'first' and self.budget.over()):
            return
        if (freed := self._freed(touching, checker)) is not None:
            self.iterations += freed.iterations
            self._judge(freed, self.best is None or self.best.verdict.touches)

    def _freed(self, touching: Attempt, checker: CollisionChecker) -> Attempt | None:
        if self._near is not None and len(self._near):
            return self._near_problem().freed(touching, self.budget)
        if self._clearance is None:
            problem = self._with_tolerances()[0] if self._loose else self.problem
            self._clearance = Clearance(problem, checker, self.allow_restarts)
        return self._clearance.freed(touching, self.budget)

    def _enter(self, candidate: Candidate) -> None:
        q = candidate.attempt.q
        self._found_at = self._found_at or self.attempts
        twins, others = list[Candidate](), list[Candidate]()
        for other in self.accepted:
            (twins if self._same(other.attempt.q, q) else others).append(other)
        if all(self._rank(candidate) < self._rank(twin) for twin in twins):
            self.accepted = [*others, candidate]

    def _difference(self, a: Array, b: Array) -> Array:
        v: Array = pin.difference(self.problem.robot.model, a, b)[self.problem.active.column]
        return v

    def _manipulability(self, q: Array) -> float:
        if self.select != 'manipulability':
            return 0.0
        at = Configuration(self.problem.robot, q)
        return math.prod(float(Manipulability(t.tip, t.relative_to).value(at)[0])
                         for t in self.problem.targets)

    def _same(self, a: Array, b: Array) -> bool:
        """Return whether two answers are one posture, also where a joint is a turn apart."""
        angles = self.problem.angles
        if angles.size:
            a = a.copy()
            a[angles] += TURN * np.round((b[angles] - a[angles]) / TURN)
        return float(np.abs(self._difference(a, b)).max(initial=0.0)) < SAME

    # -- the answer -----------------------------------------------------------------------

    def solution(self) -> IKSolution:
        """Return the answer as it stands; before the end that is the best so far."""
        if self._answer is not None:
            return self._answer
        answer = self._answer_so_far()
        if self._ended is not None:
            self._answer = answer
        return answer

    def _answer_so_far(self) -> IKSolution:
        found = self._ranked()
        if not found:
            return self._solution(failure_status(self), self.near_enough or self.best, ())
        alternatives = tuple(self._solution(Status.SUCCESS, c, ()) for c in found[1:])
        return self._solution(Status.SUCCESS, found[0], alternatives)

    def _contacts(self, q: Array) -> tuple[Contact, ...]:
        checker = self.problem.checker
        assert checker is not None
        return deepest((*self.tip_contacts, *checker.in_collision(q, at_once=True)))

    def _ranked(self) -> list[Candidate]:
        return sorted(self.accepted, key=self._rank)[:self.solutions]

    def _rank(self, candidate: Candidate) -> float:
        """Return what the chosen answer has least of."""
        if self.select == 'cost':
            return candidate.cost
        return -candidate.manipulability if self.select == 'manipulability' else candidate.distance

    def _solution(self, status: Status, candidate: Candidate | None,
                  alternatives: tuple[IKSolution, ...]) -> IKSolution:
        robot = self.problem.robot
        q = (within_limits(self.problem, self._seeds[0]) if candidate is None
             else candidate.attempt.q)
        verdict = accept(self.problem, q) if candidate is None else candidate.verdict
        seconds = (self._ended or time.monotonic()) - self.budget.started
        largest = (travel(robot, self.problem.active, self._seeds[0], q)[1] if candidate is None
                   else candidate.travel)
        looks = status is not Status.SUCCESS and self.problem.checker is not None
        began = time.monotonic() if looks else 0.0
        text = message(self, status, verdict, seconds, largest)
        contacts = self._contacts(q) if looks else ()
        if looks:
            seconds += time.monotonic() - began
        return IKSolution(
            status, text, q, robot.to_joints(q, include_mimic=True),
            verdict.errors, verdict.violations, named_costs(self.problem, verdict),
            contacts=contacts, iterations=self.iterations,
            restarts=max(0, self.attempts - len(self._seeds)), seconds=seconds,
            solver=self.solver, solver_reason=self.reason,
            exit_flag=candidate.attempt.exit_flag if candidate else self.last_flag,
            at_limits=() if status is Status.SUCCESS else joints_at_limits(self.problem, q),
            alternatives=alternatives,
            impossible=status is not Status.SUCCESS and is_impossible(self), travel=largest,
            not_checked=self.problem.not_checked, geometry_notes=self.problem.geometry_notes)


def _check_choice(name: str, value: Any, valid: tuple[str, ...]) -> None:
    if not (isinstance(value, str) and value in valid):
        raise InvalidOptionError(f"{name} is '{value}'; {nearest(value, valid)} valid: "
                                 f"{', '.join(valid)}".replace('  ', ' '))


def chosen_solver(solver: Any, problem: IKProblem) -> tuple[Any, str]:
    """Choose a solver by the problem's shape, unless one is named; and say why."""
    if not (isinstance(solver, str) and solver == 'auto'):
        return solver, NAMED
    if problem.kinds <= {'targets'}:
        return 'lm', 'auto: only poses of frames are asked for'
    return 'sqp', f'auto: the problem has {" and ".join(sorted(problem.kinds))}'


def _order(attempt: Attempt) -> tuple[bool, float]:
    """Put attempts that reached what must hold first, the cheapest first of all."""
    return not attempt.reached, attempt.cost if attempt.reached else attempt.error


def _was_cut_off(attempt: Attempt, solver: Solver, start: Array) -> bool:
    """Return whether the clock ended a descent whose error had become smaller."""
    if attempt.exit_flag is not ExitFlag.TIME_LIMIT or not attempt.iterations:
        return False
    return attempt.error < _error(solver, start)


def _error(solver: Solver, q: Array) -> float:
    return solver.attempt(q, Budget(iterations=0)).error


def seeds_of(problem: IKProblem, seeds: Any) -> list[Array]:
    """Return seeds as they may be given, each (nq,); raises InvalidStateError."""
    if seeds is None:
        return [problem.start]
    found = listed(seeds)
    if not found:
        raise InvalidStateError(f'seeds must be a list of joint values, not {seeds!r}')
    if isinstance(seeds, Mapping) or isinstance(found[0], Real):
        found = [seeds]         # one seed, not in a list
    return [problem.robot.to_q(seed, problem.start) for seed in found]
