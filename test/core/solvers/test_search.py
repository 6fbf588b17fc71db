"""Restarts, the budget, cancelling."""

import threading

import numpy as np
import pytest
from search_questions import FAR, problem, same, TIP
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Configuration,
    ExitFlag,
    IKProblem,
    PoseTarget,
    Robot,
    Search,
    solve,
    Solver,
    Status,
)


def test_random_state_makes_it_repeatable(robot):
    hard = [problem(robot, i) for i in range(10)]
    one, two = ([solve(p, timeout=5.0, random_state=7) for p in hard] for _ in range(2))
    for a, b in zip(one, two, strict=True):
        same(a, b)
    other = [solve(p, timeout=5.0, random_state=8) for p in hard]
    assert any(list(a.best_q) != list(b.best_q) for a, b in zip(one, other, strict=True))
    assert any(a.restarts for a in one)


def test_without_restarts_only_the_seeds(robot):
    solution = solve(problem(robot, T=FAR), allow_restarts=False)
    assert solution.restarts == 0 and solution.status is Status.NO_IK_SOLUTION
    assert '1 attempt' in solution.message
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solution = solve(problem(robot, T=FAR), seeds, allow_restarts=False)
    assert solution.restarts == 0 and '3 attempts' in solution.message


def test_seeds_come_first_and_in_order(robot, starts):
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solve(problem(robot, T=FAR), seeds, solver='mine', max_iterations=10)
    np.testing.assert_array_equal(starts[:3], seeds)
    assert len(starts) == 10
    starts.clear()
    solve(problem(robot, T=FAR, start=seeds[0]), solver='mine', max_iterations=1)
    np.testing.assert_array_equal(starts, seeds[:1])        # the start, where there is no seed


def test_seeds_may_be_partial_and_outside_the_limits(robot, starts):
    start = robot.random_q(np.random.default_rng(0))
    solve(problem(robot, T=FAR, start=start, locked=['s1']), [{'elbow': 9.0, 's1': 1.0}, {}],
          solver='mine', max_iterations=2)
    expected = start.copy()
    expected[3] = 0.0     # the elbow's upper limit; s1 is locked at the start's value
    np.testing.assert_array_equal(starts, [expected, start])


def test_seed_that_will_do_where_no_descent_arrives(robot, register):
    class Lost(Solver):
        def attempt(self, start, budget):
            return Attempt(start - 0.1, 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Lost)
    start = robot.random_q(np.random.default_rng(0))
    there = Configuration(robot, start).transform(TIP)
    solution = solve(problem(robot, T=there, start=start), solver='mine', max_iterations=3)
    assert solution.success
    np.testing.assert_array_equal(solution.q, start)


def test_restarts_are_uniform_within_the_limits(robot, starts):
    solve(problem(robot, T=FAR, start={'w2': 0.123}, locked=['w2']), [{'w2': 0.7}],
          solver='mine', max_iterations=2000, timeout=10.0, random_state=0)
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
    solve(asked, solver='mine', max_iterations=1000, timeout=10.0, random_state=0)
    drawn = np.array(starts[1:])
    assert drawn[:, 0].min() == pytest.approx(50 - np.pi, abs=0.05)
    assert drawn[:, 0].max() == pytest.approx(50 + np.pi, abs=0.05)
    assert np.abs(drawn[:, 1:]).max() <= np.pi


def test_huge_limits_are_no_trap():
    """Limits of 1e16 mean none; a restart there would be lost."""
    text = SMALL['zero_links'].replace(repr(np.pi), '1e16')
    robot = Robot.from_urdf(text)
    for seed in range(4):
        q = robot.random_q(np.random.default_rng(seed)) % 6
        q = np.clip(q, robot.lower, robot.upper)
        T = Configuration(robot, q).transform(TIP)
        assert solve(IKProblem(robot, [PoseTarget(TIP, T)]), random_state=0).success


@pytest.mark.parametrize('iterations', [1, 41, 200])
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
