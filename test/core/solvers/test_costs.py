"""Costs: solutions are optimal; each solver handles or refuses each part of a problem."""

from itertools import combinations
import re

from judge import claims, TreeJudge
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

SLACK = 1e-6 + 1e-8
SURE = {'timeout': 60.0, 'random_state': 0}


def position(robot, q, frame='tip'):
    return Configuration(robot, q).transform(frame)[:3, 3]


# -- closed forms -----------------------------------------------------------------------------

def test_two_costs_are_solved_at_their_weighted_mean(small):
    """With scalar weights, a weight matrix, and a weight of zero."""
    robot = small('gantry')       # q is the position, but for a sign
    a, b = np.array([-0.5, 0.7, 0.1]), np.array([0.8, 1.3, 0.4])
    tip = FramePosition('tip')
    full = np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 1]])
    for first, second in ((1.0, 3.0), (2.0, 0.0), ([1, 0, 1.0], np.ones(3)), (full, [3, 1, 0.5])):
        W, V = (x if np.ndim(x) == 2 else np.diag(np.full(3, x)) for x in (first, second))
        expected = np.linalg.solve(W + V, W @ a + V @ b)
        solution = solve(IKProblem(robot, costs=[
            LeastSquares(tip, a, first), LeastSquares(tip, b, second)]), **SURE)
        np.testing.assert_allclose(position(robot, solution.q), expected, atol=1e-4)
        r, s = expected - a, expected - b
        assert solution.cost == pytest.approx(0.5 * (r @ W @ r + s @ V @ s), abs=1e-7)


def test_soft_bounds_cost_nothing_inside(small):
    robot = small('gantry')
    soft = LeastSquares(FramePosition('tip'), lower=[-0.5, 0.6, 0.1], upper=[0.5, 1.4, 0.4])
    start = np.array([0.3, 0.9, -0.2])
    solution = solve(IKProblem(robot, costs=[soft], start=start), **SURE)
    assert solution.cost == 0 and list(solution.q) == list(start)
    solution = solve(IKProblem(robot, costs=[soft], start=[-0.9, 1.5, 0.0]), **SURE)
    assert solution.cost == pytest.approx(0, abs=1e-8)
    # outside a hard bound the soft one is met as far as may be
    asked = IKProblem(robot, costs=[soft], constraints=[
        Constraint(FramePosition('tip', axes='x'), 0.7, 0.9)])
    solution = solve(asked, **SURE)
    assert position(robot, solution.q)[0] == pytest.approx(0.7, abs=1e-4)
    assert solution.cost == pytest.approx(0.02, abs=1e-5)


# -- scalar costs -----------------------------------------------------------------------------

@pytest.mark.parametrize('gradient', [False, True])
def test_minimum_of_the_rosenbrock_function_is_found(small, gradient):
    robot = small('planar_2r')

    def cost(at):
        a, b = at.q
        return (1 - a)**2 + 100 * (b - a * a)**2

    def slope(at):
        a, b = at.q
        return np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
    asked = IKProblem(robot, costs=[ScalarCost(cost, slope if gradient else None)],
                      start=[-1.2, 1.0])
    solution = solve(asked, select='cost', max_iterations=1000, **SURE)
    np.testing.assert_allclose(solution.q, [1, 1], atol=1e-2)
    assert solution.cost < 1e-4


def test_heavy_costs_violate_no_target_constraint_or_limit(small):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    for seed in range(3):
        generator = np.random.default_rng(seed)
        goal = robot.random_q(generator)
        T = judge.transform(robot.to_joints(goal), 'tip')
        for weight in (1e-3, 1.0, 1e9):
            asked = IKProblem(
                robot, [PoseTarget('tip', T, weights=(1, 1, 1, 1, 1, 0))],
                constraints=[Constraint(JointPositions(['w3']), -0.5, 0.5)],
                costs=[LeastSquares(FramePosition('b4'), [0, 0, 9], weight),
                       LeastSquares(JointPositions(), 9.0, weight)], start=goal)
            solution = solve(asked, **SURE)
            assert solution.success, solution.explain()
            claims(judge, solution, [('tip', T, None, (1, 1, 1, 1, 1, 0))])
            assert abs(solution.joints['w3']) <= 0.5 + SLACK


KINDS = ('targets', 'constraints', 'costs', 'scalar costs')
BUILT_IN = {'clik': {'targets'}, 'lm': {'targets'}, 'sqp': set(KINDS),
            'slsqp': set(KINDS), 'bfgs': {'targets', 'constraints'}}
ALL_KINDS = [name for name, kinds in BUILT_IN.items() if kinds == set(KINDS)]
MIXTURES = [set(some) for size in (1, 2, 3, 4) for some in combinations(KINDS, size)]
START = {'x': 0.0, 'y': 0.9, 'z': -0.1}
WISH, OTHER_WISH = np.array([0.1, 1.0, 0.2]), np.array([0.5, 0.9, 0.4])


def gantry_problem(robot, kinds):
    """
    Return a problem for a gantry with some parts: target, constraints and costs.

    The tip may be anywhere in a box; x = 0.3 and 1.2 <= y <= 1.4 are constraints; costs draw the
    tip to two points.
    """
    T = np.eye(4)
    T[0, 3] = 0.3
    tip = FramePosition('tip')
    parts = {
        'targets': {'targets': [PoseTarget('tip', T, weights=(1, 0, 0, 0, 0, 0))]},
        'constraints': {'constraints': [Constraint(tip, [-np.inf, 1.2, -np.inf],
                                                   [np.inf, 1.4, np.inf])]},
        'costs': {'costs': [LeastSquares(tip, WISH)]},
        'scalar costs': {'costs': [ScalarCost(
            lambda at: 0.5 * float(np.sum((tip.value(at) - OTHER_WISH)**2)))]}}
    question = {'targets': [], 'constraints': [], 'costs': []}
    for kind in kinds:
        for name, value in parts[kind].items():
            question[name] = question[name] + value
    return IKProblem(robot, start=START, **question)


def best_place(kinds):
    """Return the optimal tip position in closed form, NaN where a coordinate is free."""
    wishes = [wish for kind, wish in (('costs', WISH), ('scalar costs', OTHER_WISH))
              if kind in kinds]
    place = np.mean(wishes, axis=0) if wishes else np.full(3, np.nan)
    if 'constraints' in kinds:
        place[1] = max(place[1], 1.2)
    if 'targets' in kinds:
        place[0] = 0.3
    return place


@pytest.mark.parametrize('kinds', MIXTURES, ids=lambda kinds: ' + '.join(sorted(kinds)))
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
    place = TreeJudge(SMALL['gantry']).transform(solution.joints, 'tip')[:3, 3]
    expected = best_place(kinds)
    wanted = np.isfinite(expected)
    np.testing.assert_allclose(place[wanted], expected[wanted], atol=1e-4)
    if 'constraints' in kinds:
        assert 1.2 - 1e-6 <= place[1] <= 1.4 + 1e-6


# -- problems of every kind, for the solvers that can use all -----------------------------

@pytest.mark.parametrize('solver', ALL_KINDS)
def test_cost_beyond_the_limits_is_minimal_at_the_limits(small, solver):
    robot = small('one_joint')    # -1.5 ... 2.5
    for wish, end in ((4.0, 2.5), (-3.0, -1.5), (1.0, 1.0)):
        problem = IKProblem(robot, costs=[ScalarCost(lambda at, w=wish: float(at.q[0] - w)**2)])
        solution = solve(problem, solver=solver, timeout=10.0)
        assert solution.success and solution.q[0] == pytest.approx(end, abs=1e-4)


# -- budgets -----------------------------------------------------------------------------

# evaluated by Python in each iteration, where a descent can be interrupted
POSITION = UserFunction(lambda at: at.transform('tip')[:3, 3], 3)


def posture_problem(robot, position=None):
    """Return a problem with a tip position and a distant reference posture."""
    p = Configuration(robot, np.full(7, -0.4)).transform('tip')[:3, 3]
    return IKProblem(robot, start=np.full(7, -0.3), constraints=[Constraint(
                         position or FramePosition('tip'), p, p)],
                     costs=[LeastSquares(JointPositions(robot.joint_names),
                                         [1.0, 0.5, -1.0, -0.3, 1.0, 1.0, 1.0]),
                            ScalarCost(lambda at: float(np.sum(np.cos(at.q))), weight=0.1)])


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_deadline_cuts_off_costs_but_not_constraints(small, ticking, solver):
    problem = posture_problem(small('zero_links'), POSITION)
    make, before = make_solver(solver, problem, {}), ticking.looks
    full = make.attempt(problem.start, Budget())
    looks, before = ticking.looks - before, ticking.looks
    assert looks >= full.iterations     # it is looked at in every iteration
    short = make.attempt(problem.start, Budget(deadline=(before + looks - 2.5) * 1e-3))
    assert ticking.looks - before <= looks and short.exit_flag is ExitFlag.TIME_LIMIT
    assert short.reached and accept(problem, short.q).accepted and short.cost >= full.cost - 1e-9
    early = make.attempt(problem.start, Budget(deadline=(ticking.looks + 1.5) * 1e-3))
    assert early.exit_flag is ExitFlag.TIME_LIMIT and early.iterations <= 2
    assert not early.reached


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_exceptions_of_user_callables_propagate(small, solver):
    """Also through the loops of SciPy."""
    def broken(at):
        raise KeyError('mine')
    problem = IKProblem(small('planar_2r'), costs=[ScalarCost(broken)])
    with pytest.raises(KeyError, match='mine'):
        solve(problem, solver=solver)
