"""Which answer is given, and several of them."""

from judge import check, TreeJudge
import numpy as np
import pytest
from search_questions import ARM, FAR, problem, reachable, TIP
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Configuration,
    ExitFlag,
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidStateError,
    PoseTarget,
    register_solver,
    Search,
    solve,
    solve_pose,
    Solver,
    UnknownJointError,
)
from ros2_ik.core.solvers import solver as registry


@pytest.fixture
def robot(small):
    return small(ARM)


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
