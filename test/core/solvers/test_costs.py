"""Costs: solutions are optimal; each solver handles or refuses each part of a problem."""

from itertools import combinations
import re

from judge import check_if_success, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    accept,
    Budget,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    JointPositions,
    LeastSquares,
    PoseTarget,
    ScalarCost,
    solve,
    solver_names,
    UserFunction,
)
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.solvers import make_solver

SLACK = 1e-6 + 1e-8     # tolerance of a constraint plus rounding
DETERMINISTIC = {'timeout': 60.0, 'random_state': 0}     # iterations limit the search


def position(robot, q, frame='tip'):
    return Configuration(robot, q).transform(frame)[:3, 3]


# -- closed forms -----------------------------------------------------------------------------

def test_minimum_of_two_costs_is_their_weighted_mean(small):
    """The weights are numbers, among them zero, one per row, and a matrix."""
    robot = small('gantry')       # q is the tip position, z inverted
    a, b = np.array([-0.5, 0.7, 0.1]), np.array([0.8, 1.3, 0.4])
    tip = FramePosition('tip')
    full = np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 1]])
    for first, second in ((1.0, 3.0), (2.0, 0.0), ([1, 0, 1.0], np.ones(3)), (full, [3, 1, 0.5])):
        W, V = (x if np.ndim(x) == 2 else np.diag(np.full(3, x)) for x in (first, second))
        expected = np.linalg.solve(W + V, W @ a + V @ b)
        solution = solve(IKProblem(robot, costs=[
            LeastSquares(tip, a, first), LeastSquares(tip, b, second)]), **DETERMINISTIC)
        np.testing.assert_allclose(position(robot, solution.q), expected, atol=1e-4)
        r, s = expected - a, expected - b
        assert solution.cost == pytest.approx(0.5 * (r @ W @ r + s @ V @ s), abs=1e-7)


def test_soft_bounds_cost_nothing_inside_and_yield_to_hard_bounds(small):
    robot = small('gantry')
    soft = LeastSquares(FramePosition('tip'), lower=[-0.5, 0.6, 0.1], upper=[0.5, 1.4, 0.4])
    start = np.array([0.3, 0.9, -0.2])
    solution = solve(IKProblem(robot, costs=[soft], start=start), **DETERMINISTIC)
    assert solution.cost == 0 and list(solution.q) == list(start)
    solution = solve(IKProblem(robot, costs=[soft], start=[-0.9, 1.5, 0.0]), **DETERMINISTIC)
    assert solution.cost == pytest.approx(0, abs=1e-8)
    # the hard bound excludes the soft one: the solution is as near to it as possible
    problem = IKProblem(robot, costs=[soft], constraints=[
        Constraint(FramePosition('tip', axes='x'), 0.7, 0.9)])
    solution = solve(problem, **DETERMINISTIC)
    assert position(robot, solution.q)[0] == pytest.approx(0.7, abs=1e-4)
    assert solution.cost == pytest.approx(0.02, abs=1e-5)


# -- scalar costs -----------------------------------------------------------------------------

@pytest.mark.parametrize('gradient', [False, True])
def test_minimum_of_the_rosenbrock_function_is_found(small, gradient):
    robot = small('planar_2r')

    def cost(at):
        a, b = at.q
        return (1 - a)**2 + 100 * (b - a * a)**2

    def cost_gradient(at):
        a, b = at.q
        return np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
    problem = IKProblem(robot, costs=[ScalarCost(cost, cost_gradient if gradient else None)],
                        start=[-1.2, 1.0])
    solution = solve(problem, select='cost', max_iterations=1000, **DETERMINISTIC)
    np.testing.assert_allclose(solution.q, [1, 1], atol=1e-2)
    assert solution.cost < 1e-4


def test_costs_of_any_weight_violate_no_target_constraint_or_limit(small):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    for seed in range(3):
        generator = np.random.default_rng(seed)
        goal = robot.random_q(generator)
        T = judge.transform(robot.to_joints(goal), 'tip')
        for weight in (1e-3, 1.0, 1e9):
            problem = IKProblem(
                robot, [PoseTarget('tip', T, weights=(1, 1, 1, 1, 1, 0))],
                constraints=[Constraint(JointPositions(['w3']), -0.5, 0.5)],
                costs=[LeastSquares(FramePosition('b4'), [0, 0, 9], weight),
                       LeastSquares(JointPositions(), 9.0, weight)], start=goal)
            solution = solve(problem, **DETERMINISTIC)
            assert solution.success, solution.explain()
            check_if_success(judge, solution, [('tip', T, None, (1, 1, 1, 1, 1, 0))])
            assert abs(solution.joints['w3']) <= 0.5 + SLACK


KINDS = ('targets', 'constraints', 'costs', 'scalar costs')
BUILT_IN = {'clik': {'targets'}, 'lm': {'targets'}, 'sqp': set(KINDS),
            'slsqp': set(KINDS), 'bfgs': {'targets', 'constraints'}}
GENERAL_SOLVERS = [name for name, kinds in BUILT_IN.items() if kinds == set(KINDS)]
COMBINATIONS = [set(parts) for size in (1, 2, 3, 4) for parts in combinations(KINDS, size)]
START = {'x': 0.0, 'y': 0.9, 'z': -0.1}
GOAL, OTHER_GOAL = np.array([0.1, 1.0, 0.2]), np.array([0.5, 0.9, 0.4])   # minima of costs [m]


def gantry_problem(robot, kinds):
    """
    Return a gantry problem with parts of these kinds.

    The target demands x = 0.3 m, the constraint 1.2 m <= y <= 1.4 m; the costs are the squared
    distances of the tip to GOAL and OTHER_GOAL.
    """
    T = np.eye(4)
    T[0, 3] = 0.3
    tip = FramePosition('tip')
    parts = {
        'targets': {'targets': [PoseTarget('tip', T, weights=(1, 0, 0, 0, 0, 0))]},
        'constraints': {'constraints': [Constraint(tip, [-np.inf, 1.2, -np.inf],
                                                   [np.inf, 1.4, np.inf])]},
        'costs': {'costs': [LeastSquares(tip, GOAL)]},
        'scalar costs': {'costs': [ScalarCost(
            lambda at: 0.5 * float(np.sum((tip.value(at) - OTHER_GOAL)**2)))]}}
    arguments = {'targets': [], 'constraints': [], 'costs': []}
    for kind in kinds:
        for name, value in parts[kind].items():
            arguments[name] = arguments[name] + value
    return IKProblem(robot, start=START, **arguments)


def optimal_position(kinds):
    """Return the optimal tip position in closed form, NaN where a coordinate is free."""
    goals = [goal for kind, goal in (('costs', GOAL), ('scalar costs', OTHER_GOAL))
             if kind in kinds]
    position = np.mean(goals, axis=0) if goals else np.full(3, np.nan)
    if 'constraints' in kinds:
        position[1] = max(position[1], 1.2)
    if 'targets' in kinds:
        position[0] = 0.3
    return position


@pytest.mark.parametrize('kinds', COMBINATIONS, ids=lambda kinds: ' + '.join(sorted(kinds)))
@pytest.mark.parametrize('solver', solver_names())
def test_each_solver_solves_or_refuses_each_combination_of_parts(small, solver, kinds):
    robot = small('gantry')
    problem, able = gantry_problem(robot, kinds), BUILT_IN[solver]
    if not kinds <= able:
        with pytest.raises(InvalidOptionError) as refusal:
            solve(problem, solver=solver)
        text = str(refusal.value)
        assert f"'{solver}'" in text and any(f'cannot use {kind}' in text for kind in kinds - able)
        listed = set(re.search(r'these can: (.*)', text)[1].split(', '))
        assert listed & set(BUILT_IN) == {name for name, k in BUILT_IN.items() if kinds <= k}
        return
    solution = solve(problem, solver=solver, timeout=10.0, random_state=0)
    assert solution.success and solution.solver == solver, solution.explain()
    found = TreeJudge(SMALL['gantry']).transform(solution.joints, 'tip')[:3, 3]
    expected = optimal_position(kinds)
    determined = np.isfinite(expected)
    np.testing.assert_allclose(found[determined], expected[determined], atol=1e-4)
    if 'constraints' in kinds:
        assert 1.2 - 1e-6 <= found[1] <= 1.4 + 1e-6


# -- solvers that support all kinds of parts --------------------------------------------------

@pytest.mark.parametrize('solver', GENERAL_SOLVERS)
def test_cost_with_minimum_beyond_a_limit_is_minimized_at_the_limit(small, solver):
    robot = small('one_joint')    # limits -1.5 .. 2.5 rad
    for goal, expected in ((4.0, 2.5), (-3.0, -1.5), (1.0, 1.0)):
        problem = IKProblem(robot, costs=[ScalarCost(lambda at, w=goal: float(at.q[0] - w)**2)])
        solution = solve(problem, solver=solver, timeout=10.0)
        assert solution.success and solution.q[0] == pytest.approx(expected, abs=1e-4)


# -- budgets -----------------------------------------------------------------------------

# runs in Python, so that a descent can be interrupted in each iteration
POSITION = UserFunction(lambda at: at.transform('tip')[:3, 3], 3)


def posture_problem(robot, position=None):
    """Return a problem with a tip position and a distant reference posture."""
    p = Configuration(robot, np.full(7, -0.4)).transform('tip')[:3, 3]
    return IKProblem(robot, start=np.full(7, -0.3), constraints=[Constraint(
                         position or FramePosition('tip'), p, p)],
                     costs=[LeastSquares(JointPositions(robot.joint_names),
                                         [1.0, 0.5, -1.0, -0.3, 1.0, 1.0, 1.0]),
                            ScalarCost(lambda at: float(np.sum(np.cos(at.q))), weight=0.1)])


@pytest.mark.parametrize('solver', GENERAL_SOLVERS)
def test_descent_stops_at_its_deadline_with_constraints_met_before_costs(small, clock, solver):
    problem = posture_problem(small('zero_links'), POSITION)
    descents, before = make_solver(solver, problem, {}), clock.reads
    full = descents.attempt(problem.start, Budget())
    reads, before = clock.reads - before, clock.reads
    assert reads >= full.iterations     # each iteration reads the clock
    short = descents.attempt(problem.start, Budget(deadline=(before + reads - 2.5) * 1e-3))
    assert clock.reads - before <= reads and short.exit_flag is ExitFlag.TIME_LIMIT
    assert short.reached and accept(problem, short.q).accepted and short.cost >= full.cost - 1e-9
    early = descents.attempt(problem.start, Budget(deadline=(clock.reads + 1.5) * 1e-3))
    assert early.exit_flag is ExitFlag.TIME_LIMIT and early.iterations <= 2
    assert not early.reached


@pytest.mark.parametrize('solver', GENERAL_SOLVERS)
def test_exceptions_of_user_callables_propagate(small, solver):
    """SciPy's optimizers do not suppress them."""
    def broken(at):
        raise KeyError('mine')
    problem = IKProblem(small('planar_2r'), costs=[ScalarCost(broken)])
    with pytest.raises(KeyError, match='mine'):
        solve(problem, solver=solver)
