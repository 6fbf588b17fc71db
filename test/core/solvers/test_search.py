"""Search: restarts, budgets, slices, serialization, and selection of solutions."""

from itertools import combinations
import pickle

from judge import check, check_if_success, numeric_jacobian, pose, TreeJudge
import numpy as np
import pytest
from search_problems import ARM, assert_same_solution, FAR, reachable, TIP, tip_problem
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    InverseKinematics,
    JointPositions,
    LeastSquares,
    PoseTarget,
    Robot,
    solve,
    Solver,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.internals import Search
from ros2_ik.core.solvers.serialization import pack, unpack


def test_search_without_restarts_starts_at_the_seeds_only(robot):
    solution = solve(tip_problem(robot, T=FAR), allow_restarts=False)
    assert solution.restarts == 0 and solution.status is Status.NO_IK_SOLUTION
    assert '1 attempt' in solution.message
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solution = solve(tip_problem(robot, T=FAR), seeds, allow_restarts=False)
    assert solution.restarts == 0 and '3 attempts' in solution.message
    # each seed once with the exact target, and once with the tolerances as constraints
    loose = IKProblem(robot, [PoseTarget(TIP, FAR, position_tolerance=0.05)])
    assert '6 attempts' in solve(loose, seeds, allow_restarts=False).message


def test_seeds_are_tried_first_and_in_order(robot, recorded_starts):
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(3)]
    solve(tip_problem(robot, T=FAR), seeds, solver='mine', max_iterations=10)
    np.testing.assert_array_equal(recorded_starts[:3], seeds)
    assert len(recorded_starts) == 10
    recorded_starts.clear()
    solve(tip_problem(robot, T=FAR, start=seeds[0]), solver='mine', max_iterations=1)
    np.testing.assert_array_equal(recorded_starts, seeds[:1])   # without seeds: start


def test_partial_seeds_are_completed_and_clamped_to_the_limits(robot, recorded_starts):
    start = robot.random_q(np.random.default_rng(0))
    solve(tip_problem(robot, T=FAR, start=start, locked=['s1']), [{'elbow': 9.0, 's1': 1.0}, {}],
          solver='mine', max_iterations=2)
    expected = start.copy()
    expected[3] = 0.0     # the upper limit of the elbow; s1 is locked at its start
    np.testing.assert_array_equal(recorded_starts, [expected, start])


def test_seed_that_is_a_solution_is_returned_if_no_descent_converges(robot, register):
    class NeverConverging(Solver):
        def attempt(self, start, budget):
            return Attempt(start - 0.1, 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(NeverConverging)
    start = robot.random_q(np.random.default_rng(0))
    T = Configuration(robot, start).transform(TIP)
    solution = solve(tip_problem(robot, T=T, start=start), solver='mine', max_iterations=3)
    assert solution.success
    np.testing.assert_array_equal(solution.q, start)


def test_solution_that_costs_more_than_a_valid_seed_does_not_end_the_search(small, register):
    """The descents end outside the limits, at a higher, and at a lower cost than the seed's."""
    ends = iter([9.0, 1.0, 0.2])

    class Scripted(Solver):
        kinds = frozenset({'costs'})

        def attempt(self, start, budget):
            return Attempt(np.array([next(ends)]), 0.0, 1, ExitFlag.CONVERGED)
    register(Scripted)
    problem = IKProblem(small('one_joint'), costs=[LeastSquares(JointPositions())], start=[0.5])
    assert solve(problem, solver='mine', timeout=30.0).q == 0.2


def test_restarts_are_uniform_within_the_limits(robot, recorded_starts):
    solve(tip_problem(robot, T=FAR, start={'w2': 0.123}, locked=['w2']), [{'w2': 0.7}],
          solver='mine', max_iterations=2000, timeout=10.0, random_state=0)
    drawn = np.array(recorded_starts[1:])
    assert (drawn[:, 5] == 0.123).all()
    free = [0, 1, 2, 3, 4, 6]
    span = robot.upper - robot.lower
    np.testing.assert_allclose(drawn.min(0)[free], robot.lower[free], atol=0.01 * span.max())
    np.testing.assert_allclose(drawn.max(0)[free], robot.upper[free], atol=0.01 * span.max())
    quarters = (drawn < robot.lower + span / 4).mean(0)[free]
    np.testing.assert_allclose(quarters, 0.25, atol=0.04)


def test_search_cancelled_after_a_solution_succeeds(robot):
    calls = []
    solution = solve(tip_problem(robot, 1), solutions=1000, timeout=30.0, random_state=0,
                     cancel=lambda: calls.append(0) or len(calls) > 60)
    assert solution.success and solution.alternatives


@pytest.mark.parametrize('arguments', [
    {}, {'solutions': 5}, {'select': 'nearest'},
    {'solver': 'clik', 'solver_options': {'it_max': 60, 'dt': 0.5}}])
def test_search_in_slices_gives_the_same_solution(robot, arguments):
    for seed in range(4):
        def search(seed=seed):
            return Search(tip_problem(robot, seed), random_state=3, timeout=30.0,
                          max_iterations=400, **arguments)
        whole, sliced = search(), search()
        assert whole.run() is True and whole.finished
        slices = 1
        while not sliced.run(1e-9):      # one attempt a slice
            slices += 1
            assert not sliced.finished and slices < 500
        assert_same_solution(whole.solution(), sliced.solution())
        assert whole.attempts == sliced.attempts >= slices


def test_unfinished_search_reports_no_success(robot):
    search = Search(tip_problem(robot, T=FAR), timeout=30.0)
    early = search.solution()
    assert early.status is Status.TIMED_OUT and not early.success
    search.run(1e-9)
    assert search.solution().status is Status.TIMED_OUT
    assert search.solution().message.startswith(('not finished after', 'not finished in'))
    search.budget.cancel = lambda: True
    assert search.run() is True
    assert search.solution().status is Status.PREEMPTED


@pytest.mark.parametrize('arguments', [
    {'solutions': 5}, {'solver': 'clik', 'solver_options': {'it_max': 60, 'dt': 0.5}}])
@pytest.mark.parametrize('slices', [0, 3])
def test_serialized_search_continues_to_the_same_solution(robot, slices, arguments):
    """After any number of slices before the serialization."""
    other_robot = pickle.loads(pickle.dumps(robot))
    for seed in range(3):
        def search(seed=seed):
            return Search(tip_problem(robot, seed, start={'s1': 0.2}, locked=['s3']),
                          random_state=3, timeout=30.0, max_iterations=300, **arguments)
        uninterrupted, interrupted = search(), search()
        uninterrupted.run()
        for _ in range(slices):
            interrupted.run(1e-9)
        message = pack(interrupted, robot)
        assert len(message) < 20000 and b'<robot' not in message
        restored = unpack(message, other_robot)
        assert restored.problem.joint_names == interrupted.problem.joint_names
        restored.run()
        assert_same_solution(uninterrupted.solution(), restored.solution())


def test_earlier_requests_do_not_change_a_solution():
    """Past defect: cached state contained the start of the first request."""
    tip, generator = 'panda_hand_tcp', np.random.default_rng(3)

    def answer(*earlier):
        panda = Robot.load('panda')
        for start in earlier:
            solve(IKProblem(panda, [PoseTarget(tip, pose((0.4, 0.2, 0.5)))], start=start))
        target = Configuration(panda, panda.random_q(np.random.default_rng(7))).transform(tip)
        return solve(IKProblem(panda, [PoseTarget(tip, target)]), random_state=5)
    for _ in range(3):
        assert_same_solution(answer(Robot.load('panda').random_q(generator)), answer())


# -- selection of solutions ---------------------------------------------------------------------

DETERMINISTIC = {'timeout': 60.0, 'random_state': 0}     # iterations limit the search


def test_alternative_solutions_are_distinct_valid_and_sorted_by_distance(robot):
    judge = TreeJudge(SMALL[ARM])
    for seed in range(2):
        T = reachable(robot, seed)
        solution = solve(tip_problem(robot, T=T), solutions=6, timeout=2.0, random_state=0)
        assert len(solution.alternatives) == 5
        every = [solution, *solution.alternatives]
        for one in every:
            check(judge, one, [(TIP, T)])
        for one, other in combinations(every, 2):
            assert np.abs(one.q - other.q).max() >= 1e-2
        distances = [np.linalg.norm(s.q - robot.neutral) for s in solution.alternatives]
        assert distances == sorted(distances)


@pytest.mark.parametrize('seed', range(2))
def test_alternatives_stay_distinct_while_they_improve(small, seed):
    """Past defect: a replaced solution was equal to another one."""
    ik = InverseKinematics(small('one_joint'), collisions=False)
    ik.add_position_constraint('arm', [1, 0, 0], None, [0, 0.4, -1], [1, 0.5, 1])
    answer = ik.solve([0.45], timeout=30.0, max_iterations=2500, select='nearest', solutions=4,
                      random_state=seed)
    found = np.sort([one.q[0] for one in (answer, *answer.alternatives)])
    assert len(found) == 4 and np.diff(found).min() >= 1e-2


@pytest.mark.parametrize('select, word', [
    ('nearest', 'nearest'), ('cost', 'cheapest'), ('manipulability', 'manipulable')])
def test_solutions_are_ordered_by_the_selection(robot, select, word):
    """A request for one solution returns the first of them."""
    judge, nominal = TreeJudge(SMALL[ARM]), robot.random_q(np.random.default_rng(1)) * 0.5

    def rank(q):
        if select == 'manipulability':    # by the judge's own Jacobian
            J = numeric_jacobian(robot, q, lambda q: judge.transform(robot.to_joints(q), TIP))
            return -np.sqrt(max(np.linalg.det(J @ J.T), 0))
        return ((q - nominal)**2).sum()
    T = reachable(robot, 2)
    costs = [LeastSquares(JointPositions(reference=nominal), 0.0, 2.0)] if select == 'cost' else []
    problem = IKProblem(robot, [PoseTarget(TIP, T)], costs=costs, start=nominal)
    solution = solve(problem, select=select, solutions=1000, max_iterations=1500, **DETERMINISTIC)
    every = [solution, *solution.alternatives]
    assert len(every) > 3
    for one in every:
        check_if_success(judge, one, [(TIP, T)])
        assert select != 'cost' or one.cost == pytest.approx(rank(one.q))
    found = [rank(one.q) for one in every]
    assert (np.diff(found) >= -1e-6).all() and found[0] < found[-1] - 1e-3
    one = solve(problem, select=select, max_iterations=1500, **DETERMINISTIC)
    assert list(one.q) == list(solution.q) and one.alternatives == () and word in one.message
    assert rank(solve(problem, max_iterations=1500, **DETERMINISTIC).q) >= found[0] - 1e-6


@pytest.mark.parametrize('arguments, word', [
    ({'select': 'best'}, 'nearest'), ({'select': np.array(['first', 'nearest'])}, 'first'),
    ({'solutions': 0}, 'solutions'), ({'allow_restarts': 'maybe'}, 'allow_restarts'),
    ({'timeout': -1}, 'timeout'), ({'max_iterations': 0}, 'max_iterations'),
    ({'budget': 5}, 'udget'), ({'random_state': 1.5}, 'random'), ({'options': 0}, 'not 0'),
    ({'approximate': (0, -1e-9)}, 'approximate'), ({'approximate': 0.1}, 'approximate'),
    ({'cancel': 'stop'}, 'cancel'), ({'solver_options': 3}, 'solver_options must be a mapping')])
def test_malformed_options_are_refused(robot, arguments, word):
    with pytest.raises(InvalidOptionError, match=word):
        Search(tip_problem(robot), **arguments)


def test_options_that_the_problem_does_not_support_are_refused(robot):
    box = IKProblem(robot, constraints=[Constraint(FramePosition(TIP), -1, 1)])
    for problem, options, words in ((box, {'select': 'manipulability'}, 'manipulability'),
                                    (tip_problem(robot), {'select': 'cost'}, 'cost'),
                                    (box, {'approximate': (1, 1)}, 'approximate applies to')):
        with pytest.raises(InvalidOptionError, match=words):
            Search(problem, **options)


# -- approximate solutions ---------------------------------------------------------------------

def test_locked_joints_and_limits_hold_in_approximate_solutions(robot):
    start, far = robot.random_q(np.random.default_rng(0)), pose((5, 0, 0))
    problem = IKProblem(robot, [PoseTarget(TIP, far, None, (1, 1, 1, 0, 0, 0))], start=start,
                        locked=['s2', 'w1'])
    solution = solve(problem, approximate=(9.0, 9.0), max_iterations=600, **DETERMINISTIC)
    assert solution.status is Status.APPROXIMATE
    assert (solution.q[1], solution.q[4]) == (start[1], start[4])
    assert (robot.lower <= solution.q).all() and (solution.q <= robot.upper).all()
