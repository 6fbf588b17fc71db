"""Restarts, selection, several solutions, slices, cancelling."""

import pickle
import threading
import time

from judge import check, pose, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Budget,
    Configuration,
    ExitFlag,
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidStateError,
    PoseTarget,
    register_solver,
    Robot,
    Search,
    solve,
    solve_pose,
    Solver,
    Status,
    UnknownJointError,
)
from ros2_ik.core.solvers import solver as registry

ARM, TIP = 'zero_links', 'tip'


@pytest.fixture
def robot(small):
    return small(ARM)


def reachable(robot, seed=0):
    """Give a reachable pose."""
    q = robot.random_q(np.random.default_rng(seed))
    return TreeJudge(SMALL[ARM]).transform(robot.to_joints(q), TIP)


def problem(robot, seed=0, T=None, **arguments):
    """Ask for a reachable pose, or for T."""
    return IKProblem(robot, [PoseTarget(TIP, reachable(robot, seed) if T is None else T)],
                     **arguments)


FAR = pose((3, 0, 0))


def same(a, b):
    """Whether two solutions are the same but for the time they took."""
    assert (a.status, a.iterations, a.restarts, a.errors) == (b.status, b.iterations, b.restarts,
                                                              b.errors)
    np.testing.assert_array_equal(a.best_q, b.best_q)
    assert [list(x.q) for x in a.alternatives] == [list(x.q) for x in b.alternatives]


# -- restarts and random_state ----------------------------------------------------------------

def test_random_state_makes_it_repeatable(robot):
    hard = [problem(robot, i) for i in range(20)]
    one, two = ([solve(p, timeout=5.0, random_state=7) for p in hard] for _ in range(2))
    for a, b in zip(one, two, strict=True):
        same(a, b)
    other = [solve(p, timeout=5.0, random_state=8) for p in hard]
    assert any(list(a.best_q) != list(b.best_q) for a, b in zip(one, other, strict=True))
    assert any(a.restarts for a in one)


def test_random_state_may_be_a_generator(robot):
    a, b = (solve(problem(robot, 3), timeout=5.0, random_state=np.random.default_rng(7),
                  solutions=4) for _ in range(2))
    same(a, b)
    same(a, solve(problem(robot, 3), timeout=5.0, random_state=7, solutions=4))


@pytest.mark.parametrize('wrong', ['abc', -1, 1.5, [[]], object()])
def test_random_states_that_are_none(robot, wrong):
    """Refused at once, not at the first restart."""
    with pytest.raises(InvalidOptionError, match='random_state'):
        Search(problem(robot), random_state=wrong)


def test_without_restarts_only_the_seeds(robot):
    solution = solve(problem(robot, T=FAR), allow_restarts=False)
    assert solution.restarts == 0 and solution.status is Status.NO_IK_SOLUTION
    assert '1 attempt' in solution.message
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solution = solve(problem(robot, T=FAR), seeds, allow_restarts=False)
    assert solution.restarts == 0 and '3 attempts' in solution.message


@pytest.fixture
def starts(monkeypatch):
    """Record where descents start; none of them gets anywhere."""
    seen = []

    class Recorder(Solver):
        def attempt(self, start, budget):
            seen.append(start.copy())
            return Attempt(start.copy(), 1.0, 1, ExitFlag.ITERATION_LIMIT)
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    register_solver('recorder')(Recorder)
    return seen


def test_seeds_come_first_and_in_order(robot, starts):
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solve(problem(robot, T=FAR), seeds, solver='recorder', max_iterations=10)
    np.testing.assert_array_equal(starts[:3], seeds)
    assert len(starts) == 10


def test_seeds_may_be_partial_and_outside_the_limits(robot, starts):
    start = robot.random_q(np.random.default_rng(0))
    solve(problem(robot, T=FAR, start=start, locked=['s1']), [{'elbow': 9.0, 's1': 1.0}, {}],
          solver='recorder', max_iterations=2)
    expected = start.copy()
    expected[3] = 0.0     # the elbow's upper limit; s1 is locked at the start's value
    np.testing.assert_array_equal(starts, [expected, start])


def test_default_seed_is_the_start(robot, starts):
    start = robot.random_q(np.random.default_rng(0))
    solve(problem(robot, T=FAR, start=start), solver='recorder', max_iterations=1)
    np.testing.assert_array_equal(starts, [start])


def test_restarts_are_uniform_within_the_limits(robot, starts):
    solve(problem(robot, T=FAR, start={'w2': 0.123}, locked=['w2']), [{'w2': 0.7}],
          solver='recorder', max_iterations=2000, timeout=10.0, random_state=0)
    drawn = np.array(starts[1:])
    assert (drawn[:, 5] == 0.123).all()
    free = [0, 1, 2, 3, 4, 6]
    span = robot.upper - robot.lower
    np.testing.assert_allclose(drawn.min(0)[free], robot.lower[free], atol=0.01 * span.max())
    np.testing.assert_allclose(drawn.max(0)[free], robot.upper[free], atol=0.01 * span.max())
    quarters = (drawn < robot.lower + span / 4).mean(0)[free]
    np.testing.assert_allclose(quarters, 0.25, atol=0.04)


def test_restarts_of_joints_without_limits_are_round_the_seed(small, starts):
    robot = small('no_limits')
    asked = IKProblem(robot, [PoseTarget('tip', FAR)], start={'yaw': 50.0})
    solve(asked, solver='recorder', max_iterations=1000, timeout=10.0, random_state=0)
    drawn = np.array(starts[1:])
    assert drawn[:, 0].min() == pytest.approx(50 - np.pi, abs=0.05)
    assert drawn[:, 0].max() == pytest.approx(50 + np.pi, abs=0.05)
    assert np.abs(drawn[:, 1:]).max() <= np.pi


def test_restarts_of_a_free_base(small, starts):
    robot = small('scara', 'freeflyer')
    start = {'root_joint': [5, 6, 7, 0, 0, 0, 1]}
    asked = IKProblem(robot, [PoseTarget('tip', FAR)], start=start)
    solve(asked, solver='recorder', max_iterations=500, timeout=10.0, random_state=0)
    drawn = np.array(starts[1:])
    np.testing.assert_allclose(np.linalg.norm(drawn[:, 3:7], axis=1), 1.0)
    assert np.abs(drawn[:, :3] - [5, 6, 7]).max() <= 1.0
    assert drawn[:, 3:7].std(0).min() > 0.3


def test_huge_limits_are_no_trap():
    """Limits of 1e16 mean none; a restart there would be lost."""
    text = SMALL['zero_links'].replace(repr(np.pi), '1e16')
    robot = Robot.from_urdf(text)
    for seed in range(10):
        q = robot.random_q(np.random.default_rng(seed)) % 6
        q = np.clip(q, robot.lower, robot.upper)
        T = Configuration(robot, q).transform(TIP)
        assert solve(IKProblem(robot, [PoseTarget(TIP, T)]), random_state=0).success


# -- selection and several solutions -----------------------------------------------------------

def test_several_solutions_are_distinct_and_all_hold(robot):
    judge = TreeJudge(SMALL[ARM])
    for seed in range(5):
        T = reachable(robot, seed)
        solution = solve(problem(robot, T=T), solutions=6, timeout=2.0, random_state=0)
        assert len(solution.alternatives) == 5
        every = [solution, *solution.alternatives]
        for one in every:
            check(judge, one, [(TIP, T)])
        for i, one in enumerate(every):
            for other in every[i + 1:]:
                assert np.abs(one.q - other.q).max() >= 1e-2
        seed_q = robot.neutral
        distances = [np.linalg.norm(s.q - seed_q) for s in solution.alternatives]
        assert distances == sorted(distances)


def test_fewer_solutions_than_asked_for(small):
    """Two elbows: no third answer exists, and the time is kept."""
    robot = small('planar_2r')
    T = Configuration(robot, [0.3, 1.0]).transform('tip')
    solution = solve_pose(robot, 'tip', T, solutions=5, weights=(1, 1, 1, 0, 0, 0), timeout=0.2,
                          random_state=0)
    assert solution.seconds >= 0.2
    assert solution.success and len(solution.alternatives) == 1
    elbows = sorted(s.q[1] for s in (solution, *solution.alternatives))
    assert elbows == pytest.approx([-1.0, 1.0], abs=1e-3)


def test_nearest_is_the_nearest_of_all_that_were_found(robot):
    for i in range(3):
        seed_q = robot.random_q(np.random.default_rng(100 + i))
        asked = problem(robot, i, start=seed_q)
        enough = {'timeout': 30.0, 'max_iterations': 1500, 'random_state': 0}
        solution = solve(asked, select='nearest', solutions=1000, **enough)
        assert solution.success and len(solution.alternatives) > 5
        distances = [np.linalg.norm(s.q - seed_q) for s in (solution, *solution.alternatives)]
        assert distances == sorted(distances)
        one, first = solve(asked, select='nearest', **enough), solve(asked, **enough)
        assert one.alternatives == () and list(one.q) == list(solution.q)
        assert list(first.q) in [list(s.q) for s in (solution, *solution.alternatives)]


def test_nearest_of_two_elbows(small):
    """A robot with exactly two answers: the one on the seed's side, from any seed."""
    robot, weights = small('planar_2r'), (1, 1, 1, 0, 0, 0)
    T = Configuration(robot, [0.3, 1.0]).transform('tip')
    solution = solve_pose(robot, 'tip', T, [0.3, 1.0], weights=weights, solutions=2, timeout=30.0,
                          random_state=0)
    both = [solution.q, solution.alternatives[0].q]
    generator = np.random.default_rng(0)
    for _ in range(10):
        seed_q = robot.random_q(generator)
        nearest = solve_pose(robot, 'tip', T, seed_q, weights=weights, select='nearest',
                             max_iterations=200, timeout=30.0, random_state=0)
        expected = min(both, key=lambda q: np.linalg.norm(q - seed_q))
        np.testing.assert_allclose(nearest.q, expected, atol=1e-3)


def test_of_two_answers_that_are_one_the_nearer_is_kept(robot, monkeypatch):
    """Answers within a hundredth are the same; the one nearest the seed stands for all."""
    answer = robot.random_q(np.random.default_rng(0)) * 0.5
    offsets = iter([0.004, 0.002, 0.006, 0.001, 0.003])

    class Nearby(Solver):
        def attempt(self, start, budget):
            q = answer + next(offsets)
            return Attempt(q, 0.0, 1, ExitFlag.CONVERGED)
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    register_solver('nearby')(Nearby)
    T = Configuration(robot, answer).transform(TIP)
    asked = IKProblem(robot, [PoseTarget(TIP, T, None, (1,) * 6, 0.1, 0.1)], start=answer)
    solution = solve(asked, solver='nearby', select='nearest', solutions=9, max_iterations=5,
                     timeout=5.0)
    assert solution.alternatives == ()
    np.testing.assert_array_equal(solution.q, answer + 0.001)


@pytest.mark.parametrize('arguments, word', [
    ({'select': 'best'}, 'nearest'), ({'select': None}, 'first'), ({'select': []}, 'first'),
    ({'select': np.array(['first', 'nearest'])}, 'first'), ({'solutions': 0}, 'solutions'),
    ({'solutions': -1}, 'solutions'), ({'solutions': 1.5}, 'solutions'),
    ({'solutions': '2'}, 'solutions'), ({'solutions': None}, 'solutions'),
    ({'allow_restarts': 'maybe'}, 'allow_restarts'), ({'budget': 5}, 'udget')])
def test_options_that_are_none(robot, arguments, word):
    with pytest.raises(InvalidOptionError, match=word):
        Search(problem(robot), **arguments)


@pytest.mark.parametrize('seeds, error', [
    ([[0.0]], InvalidStateError), ([[np.nan] * 7], InvalidStateError),
    ([{'ghost': 1}], UnknownJointError), (5, IKError), ([5], InvalidStateError),
    ('abc', IKError), ([None, 'a'], InvalidStateError)])
def test_seeds_that_are_none(robot, seeds, error):
    with pytest.raises(error):
        Search(problem(robot), seeds)


@pytest.mark.parametrize('wrap', [lambda q: q, lambda q: [q], lambda q: q[None],
                                  lambda q: [q.tolist()], lambda q: (q,)])
def test_one_seed_in_many_dresses(robot, starts, wrap):
    """One array is one seed, or refused in words; never something else in silence."""
    q = robot.random_q(np.random.default_rng(0))
    try:
        solve(problem(robot, T=FAR), wrap(q), solver='recorder', max_iterations=1)
    except IKError:
        assert wrap(q) is q
    else:
        np.testing.assert_array_equal(starts, [q])


# -- the budget ------------------------------------------------------------------------------

@pytest.mark.parametrize('solver', ['lm', 'clik'])
@pytest.mark.parametrize('timeout', [0.005, 0.02, 0.1])
def test_unreachable_uses_up_the_time_and_no_more(robot, solver, timeout):
    """A few ms more at most, as this thread's own clock has it: others may use the machine."""
    for seed in range(5):
        before, own = time.monotonic(), time.thread_time()
        solution = solve(problem(robot, T=FAR), solver=solver, timeout=timeout, random_state=seed)
        took, own = time.monotonic() - before, time.thread_time() - own
        assert own < timeout + 0.004
        assert not solution.success and solution.q is None
        assert solution.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()
        assert timeout <= solution.seconds <= took


def test_tiny_timeouts_are_honest(robot):
    judge = TreeJudge(SMALL[ARM])
    statuses = set()
    for i, timeout in enumerate([1e-12, 1e-9, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3] * 5):
        T = reachable(robot, i)
        solution = solve(problem(robot, T=T), timeout=timeout, random_state=0)
        statuses.add(solution.status)
        if solution.success:
            check(judge, solution, [(TIP, T)])
        else:
            assert solution.status in (Status.TIMED_OUT, Status.NO_IK_SOLUTION)
            assert (robot.lower <= solution.best_q).all()
    assert Status.TIMED_OUT in statuses


def test_time_that_was_up_before_it_began(robot):
    search = Search(problem(robot), budget=Budget(deadline=time.monotonic() - 1))
    assert search.run() is True
    assert search.solution().status is Status.TIMED_OUT
    there = robot.random_q(np.random.default_rng(0))
    T = Configuration(robot, there).transform(TIP)
    search = Search(problem(robot, T=T, start=there), budget=Budget(deadline=0.0))
    search.run()
    assert search.solution().success      # one look is always taken


@pytest.mark.parametrize('iterations', [1, 2, 7, 40, 41, 200])
def test_iterations_of_all_attempts_together(robot, iterations):
    solution = solve(problem(robot, T=FAR), max_iterations=iterations, timeout=5.0, random_state=0)
    assert solution.iterations == iterations
    assert solution.status is Status.NO_IK_SOLUTION


def test_best_q_is_the_least_bad_seen(robot):
    errors = []
    solution = solve(problem(robot, T=FAR), max_iterations=300, timeout=5.0, random_state=0,
                     progress=lambda error, attempts: errors.append((error, attempts)))
    assert [attempts for _, attempts in errors] == list(range(1, len(errors) + 1))
    values = [error for error, _ in errors]
    assert values == sorted(values, reverse=True)
    assert len(errors) == solution.restarts + 1
    T = Configuration(robot, solution.best_q).transform(TIP)
    assert solution.errors[0].position == pytest.approx(np.linalg.norm(T[:3, 3] - [3, 0, 0]))
    assert solution.errors[0].position == pytest.approx(3 - 0.75, abs=0.05)


# -- cancelling --------------------------------------------------------------------------------

def test_cancelled_before_it_began(robot):
    event = threading.Event()
    event.set()
    seed = np.full(7, 9.0)
    solution = solve(problem(robot, start=seed), cancel=event)
    assert solution.status is Status.PREEMPTED and solution.iterations == 0
    assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()


def test_cancelled_while_it_runs(robot):
    event = threading.Event()
    timer = threading.Timer(0.05, event.set)
    timer.start()
    solution = solve(problem(robot, T=FAR), timeout=30.0, cancel=event)
    timer.join()
    assert solution.status is Status.PREEMPTED
    assert solution.seconds < 5.0 and solution.restarts > 0
    assert np.isfinite(solution.best_q).all() and solution.errors


@pytest.mark.parametrize('solver', ['lm', 'clik'])
def test_the_flag_is_looked_at_in_every_iteration(robot, solver):
    looks = []

    def cancel():
        looks.append(0)
        return len(looks) > 20
    solution = solve(problem(robot, T=FAR), timeout=30.0, cancel=cancel, solver=solver)
    assert solution.status is Status.PREEMPTED
    assert solution.iterations <= 21


def test_cancelled_after_an_answer_was_found(robot):
    """The answer stands: it is one."""
    found = []
    solution = solve(problem(robot, 1), solutions=1000, timeout=30.0, random_state=0,
                     cancel=lambda: len(found) > 30,
                     progress=lambda error, attempts: found.append(error))
    assert solution.success and solution.alternatives


# -- slices --------------------------------------------------------------------------------------

@pytest.mark.parametrize('arguments', [
    {}, {'solutions': 5}, {'select': 'nearest'},
    {'solver': 'clik', 'options': {'it_max': 60, 'dt': 0.5}}])
def test_slices_give_the_same_answer(robot, arguments):
    for seed in range(8):
        def search(seed=seed):
            return Search(problem(robot, seed), random_state=3, budget=Budget.of(30.0, 400),
                          **arguments)
        whole, sliced = search(), search()
        assert whole.run() is True and whole.finished
        slices = 1
        while not sliced.run(1e-9):      # one attempt a slice
            slices += 1
            assert not sliced.finished and slices < 500
        same(whole.solution(), sliced.solution())
        assert whole.attempts == sliced.attempts == slices


def test_a_slice_is_no_longer_than_it_may_be(robot):
    search = Search(problem(robot, T=FAR), budget=Budget.of(30.0))
    walls = []
    for _ in range(20):
        before, own = time.monotonic(), time.thread_time()
        assert search.run(0.002) is False
        assert time.thread_time() - own < 0.005
        walls.append(time.monotonic() - before)
    assert 0.002 <= min(walls) < 0.004


def test_the_answer_so_far(robot):
    search = Search(problem(robot, T=FAR), budget=Budget.of(30.0))
    early = search.solution()
    assert early.status is Status.TIMED_OUT and not early.success
    search.run(1e-9)
    assert search.solution().status is Status.TIMED_OUT
    search.budget.cancel = lambda: True
    assert search.run() is True
    assert search.solution().status is Status.PREEMPTED


def test_run_after_the_end_changes_nothing(robot):
    search = Search(problem(robot), random_state=0, budget=Budget.of(5.0))
    assert search.run()
    before = search.solution()
    assert search.run() and search.run(0.001)
    same(before, search.solution())
    assert before.seconds == search.solution().seconds


@pytest.mark.parametrize('arguments', [
    {}, {'solutions': 5}, {'select': 'nearest'},
    {'solver': 'clik', 'options': {'it_max': 60, 'dt': 0.5}}])
@pytest.mark.parametrize('slices', [0, 1, 3])
def test_resumed_after_a_pickle(robot, slices, arguments):
    """What another process goes on with ends where the first would have ended."""
    other_robot = pickle.loads(pickle.dumps(robot))
    for seed in range(5):
        def search(seed=seed):
            return Search(problem(robot, seed, start={'s1': 0.2}, locked=['s3']), random_state=3,
                          budget=Budget.of(30.0, 300), **arguments)
        whole, first = search(), search()
        whole.run()
        for _ in range(slices):
            first.run(1e-9)
        data = pickle.dumps(first.state())
        assert len(data) < 20000 and b'<robot' not in data
        second = Search.resume(other_robot, pickle.loads(data))
        assert second.problem.joint_names == first.problem.joint_names
        second.run()
        same(whole.solution(), second.solution())


def test_resumed_keeps_what_was_asked(small):
    robot = small('two_arms')
    T = Configuration(robot, {'left_1': 0.3, 'right_2': 0.5}).transform('left_hand', 'right_hand')
    asked = IKProblem(robot, [PoseTarget('left_hand', T, 'right_hand', (1, 1, 1, 1, 0, 1), 1e-4,
                                         1e-3)], None, {'torso': 0.4})
    budget = Budget.of(7.0, 50, cancel=threading.Event(), progress=print)
    state = pickle.loads(pickle.dumps(Search(asked, [{'left_2': 0.1}], budget=budget).state()))
    second = Search.resume(robot, state)
    target = second.problem.targets[0]
    assert (target.relative_to, list(target.weights)) == ('right_hand', [1, 1, 1, 1, 0, 1])
    assert (target.position_tolerance, target.orientation_tolerance) == (1e-4, 1e-3)
    assert second.problem.start[0] == 0.4
    assert (second.budget.deadline, second.budget.iterations) == (budget.deadline, 50)
    assert second.budget.cancel is None and second.budget.progress is None
    second.run()
    assert second.solution().success


def test_a_state_taken_twice_is_two_searches(robot):
    """Going on with one leaves the other alone, even in one process."""
    search = Search(problem(robot, 4), random_state=3, solutions=6, budget=Budget.of(30.0, 2000))
    for _ in range(3):
        search.run(1e-9)
    state = search.state()
    one, two = Search.resume(robot, state), Search.resume(robot, state)
    one.run()
    two.run()
    search.run()
    same(one.solution(), two.solution())
    same(one.solution(), search.solution())


def test_the_deadline_is_one_for_all_processes(robot):
    search = Search(problem(robot, T=FAR), budget=Budget.of(0.05))
    search.run(0.005)
    second = Search.resume(robot, pickle.loads(pickle.dumps(search.state())))
    second.run()
    assert 0.05 <= second.solution().seconds < 0.5


def test_resumed_then_cancelled(robot):
    search = Search.resume(robot, Search(problem(robot, T=FAR), budget=Budget.of(30.0)).state())
    event = threading.Event()
    search.budget.cancel = event
    assert search.run(1e-9) is False
    event.set()
    assert search.run() is True
    assert search.solution().status is Status.PREEMPTED
