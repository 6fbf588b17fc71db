"""Restarts, the budget, cancelling."""

import threading
import time

from judge import check, TreeJudge
import numpy as np
import pytest
from search_questions import ARM, FAR, problem, reachable, same, TIP
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Configuration,
    ExitFlag,
    IKProblem,
    InvalidOptionError,
    PoseTarget,
    register_solver,
    Robot,
    Search,
    solve,
    Solver,
    Status,
)
from ros2_ik.core.solvers import solver as registry


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


def test_seed_that_will_do_where_no_descent_arrives(robot, monkeypatch):
    class Lost(Solver):
        def attempt(self, start, budget):
            return Attempt(start - 0.1, 1.0, 1, ExitFlag.ITERATION_LIMIT)
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    register_solver('lost')(Lost)
    start = robot.random_q(np.random.default_rng(0))
    there = Configuration(robot, start).transform(TIP)
    solution = solve(problem(robot, T=there, start=start), solver='lost', max_iterations=3)
    assert solution.success
    np.testing.assert_array_equal(solution.q, start)


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


@pytest.mark.parametrize('solver', ['lm', 'clik'])
@pytest.mark.parametrize('timeout', [0.05, 0.2, 1.0])
def test_unreachable_uses_up_the_time_and_no_more(robot, ticking, solver, timeout):
    for seed in range(5):
        before = ticking.looks
        solution = solve(problem(robot, T=FAR), solver=solver, timeout=timeout, random_state=seed)
        most = max(timeout, 0.1)      # the first descent, which clik takes long for
        assert timeout <= (ticking.looks - before) * 1e-3 < most + 0.01
        assert not solution.success and solution.q is None
        assert solution.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()
        assert timeout <= solution.seconds < most + 0.01


def test_tiny_timeouts_are_honest(robot):
    judge = TreeJudge(SMALL[ARM])
    for i, timeout in enumerate([1e-12, 1e-9, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3] * 5):
        T = reachable(robot, i)
        solution = solve(problem(robot, T=T), timeout=timeout, random_state=0)
        if solution.success:
            check(judge, solution, [(TIP, T)])
        else:
            assert solution.status in (Status.TIMED_OUT, Status.NO_IK_SOLUTION)
            assert (robot.lower <= solution.best_q).all()


def test_time_that_was_up_before_it_began(robot):
    search = Search(problem(robot, T=FAR))
    search.budget.deadline = time.monotonic() - 1
    assert search.run() is True
    assert search.attempts == 1 and search.solution().status is Status.NO_IK_SOLUTION
    there = robot.random_q(np.random.default_rng(0))
    T = Configuration(robot, there).transform(TIP)
    search = Search(problem(robot, T=T, start=there))
    search.budget.deadline = 0.0
    search.run()
    assert search.solution().success      # one descent is always made


@pytest.mark.parametrize('iterations', [1, 2, 7, 40, 41, 200])
def test_iterations_of_all_attempts_together(robot, iterations):
    solution = solve(problem(robot, T=FAR), max_iterations=iterations, timeout=5.0, random_state=0)
    assert solution.iterations == iterations
    assert solution.status is Status.NO_IK_SOLUTION


def test_best_q_is_the_least_bad_seen(robot):
    search = Search(problem(robot, T=FAR), max_iterations=300, timeout=5.0, random_state=0)
    errors = []
    while not search.run(1e-9):
        errors.append(search.solution().pose_error_norm)
    assert errors == sorted(errors, reverse=True)
    solution = search.solution()
    T = Configuration(robot, solution.best_q).transform(TIP)
    assert solution.errors[0].position == pytest.approx(np.linalg.norm(T[:3, 3] - [3, 0, 0]))
    assert solution.errors[0].position == pytest.approx(3 - 0.75, abs=0.05)


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


@pytest.mark.parametrize(('solver', 'most'), [('lm', 20 * 16 * 40), ('clik', 21)])
def test_cancel_ends_a_search_after_the_iteration_or_batch_of_starts(robot, solver, most):
    looks = []

    def cancel():
        looks.append(0)
        return len(looks) > 20
    solution = solve(problem(robot, T=FAR), timeout=30.0, cancel=cancel, solver=solver)
    assert solution.status is Status.PREEMPTED
    assert solution.iterations <= most


def test_cancelled_after_an_answer_was_found(robot):
    """The answer stands: it is one."""
    looks = []
    solution = solve(problem(robot, 1), solutions=1000, timeout=30.0, random_state=0,
                     cancel=lambda: looks.append(0) or len(looks) > 60)
    assert solution.success and solution.alternatives


def test_message_does_not_change_after_the_search(robot):
    event = threading.Event()
    solution = solve(problem(robot, T=FAR), max_iterations=50, cancel=event)
    event.set()     # before the message is worked out
    assert solution.status is Status.NO_IK_SOLUTION and 'cancelled' not in solution.message
