"""Costs: the answer is the optimum, by closed forms and by scipy; what must hold still holds."""

import math

from judge import claims, pose, TreeJudge
import numpy as np
import pytest
from scipy.optimize import minimize
from small_robots import SMALL

from ros2_ik.core import (
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointPositions,
    LeastSquares,
    PointToPlane,
    PointToPointDistance,
    PoseTarget,
    ScalarCost,
    solve,
    UserFunction,
)

SLACK = 1e-6 + 1e-8
SURE = {'timeout': 60.0, 'random_state': 0}


def position(robot, q, frame='tip'):
    return Configuration(robot, q).transform(frame)[:3, 3]


def least(fun, robot, constraints=(), starts=40):
    """Give the least value that scipy's SLSQP finds within the limits, from many starts."""
    generator = np.random.default_rng(9)
    bounds = list(zip(robot.lower, robot.upper, strict=True))
    best = math.inf
    for _ in range(starts):
        found = minimize(fun, robot.random_q(generator), method='SLSQP', bounds=bounds,
                         constraints=constraints, options={'ftol': 1e-12, 'maxiter': 300})
        held = all((np.atleast_1d(c['fun'](found.x)) >= -1e-6).all() if c['type'] == 'ineq'
                   else (np.abs(c['fun'](found.x)) <= 1e-6).all() for c in constraints)
        if held and found.fun < best:
            best = found.fun
    return best


# -- closed forms -----------------------------------------------------------------------------

def test_weighted_mean_of_two_wishes(small):
    """By weights, by a matrix, and with one that is ignored."""
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


def test_soft_bounds_ask_for_nothing_inside(small):
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


def test_posture_of_a_free_base_is_reached(small):
    """A floating one goes where it is wanted, at the orientation wanted."""
    robot, generator = small('two_arms', 'freeflyer'), np.random.default_rng(0)
    wanted = robot.random_q(generator)
    asked = IKProblem(robot, costs=[LeastSquares(JointPositions(reference=wanted))],
                      start=robot.random_q(generator))
    solution = solve(asked, **SURE)
    assert solution.success and solution.cost < 1e-6
    T, T_wanted = (Configuration(robot, q).transform('left_hand') for q in (solution.q, wanted))
    np.testing.assert_allclose(T, T_wanted, atol=5e-3)


# -- scalar costs -----------------------------------------------------------------------------

@pytest.mark.parametrize('gradient', [False, True])
def test_rosenbrock(small, gradient):
    """The valley is bent; curvature must be learnt."""
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


# -- against scipy ----------------------------------------------------------------------------

def costs_of(robot):
    """Give problems on a 3- to 7-joint arm: our cost, the same by numpy."""
    p, far = np.array([0.5, 0.4, 0.1]), np.array([2.0, 1, 1])
    yield LeastSquares(FramePosition('tip'), far), lambda q: 0.5 * ((position(robot, q) - far)**2
                                                                    ).sum()
    yield (LeastSquares(PointToPointDistance('tip', [0, 0, 0], p), 0.25, 4.0),
           lambda q: 2 * (np.linalg.norm(position(robot, q) - p) - 0.25)**2)
    yield (ScalarCost(lambda c: math.sin(c.q[0]) * math.cos(c.q[1]) + c.transform('tip')[0, 3]),
           lambda q: math.sin(q[0]) * math.cos(q[1]) + position(robot, q)[0])


@pytest.mark.parametrize('index', [0, 1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize('name', ['scara', 'mimic_chain'])
@pytest.mark.parametrize('wall', [False, True])
def test_as_low_as_scipy(small, name, index, wall):
    """With a wall that the tip may not go through, and without."""
    robot = small(name)
    ours, theirs = list(costs_of(robot))[index]
    middle = position(robot, robot.random_q(np.random.default_rng(3)))
    normal = np.array([1.0, 0.5, 0.2])
    unit = normal / np.linalg.norm(normal)
    held = [Constraint(PointToPlane('tip', [0, 0, 0], middle, normal), upper=0)] if wall else []
    same = [{'type': 'ineq', 'fun': lambda q: -unit @ (position(robot, q) - middle)}] * wall
    expected = least(theirs, robot, same)
    asked = IKProblem(robot, constraints=held, costs=[ours], group=None, start=robot.neutral)
    solution = solve(asked, select='cost', max_iterations=1500, **SURE)
    assert solution.success
    assert solution.cost == pytest.approx(theirs(solution.q), rel=1e-9, abs=1e-12)
    assert solution.cost <= expected + 1e-5 * (1 + abs(expected))
    if wall:
        assert unit @ (position(robot, solution.q) - middle) <= SLACK


def test_posture_on_a_target(small):
    """Of all ways to a pose of five axes the one nearest the posture, as scipy finds it."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator = np.random.default_rng(0)
    goal = robot.random_q(generator) * 0.6
    wanted = np.clip(goal + generator.uniform(-0.5, 0.5, 7), robot.lower, robot.upper)
    T = judge.transform(robot.to_joints(goal), 'tip')
    target = PoseTarget('tip', T, weights=(1, 1, 1, 0, 0, 0), position_tolerance=1e-6)
    asked = IKProblem(robot, [target], start=wanted, costs=[
        LeastSquares(JointPositions(reference=wanted))])
    solution = solve(asked, select='cost', max_iterations=1000, **SURE)
    claims(judge, solution, [('tip', T, None, (1, 1, 1, 0, 0, 0), 1e-6)])
    expected = least(lambda q: 0.5 * ((q - wanted)**2).sum(), robot, [
        {'type': 'eq', 'fun': lambda q: position(robot, q) - T[:3, 3]}])
    assert solution.success and solution.cost <= expected + 1e-4 * (1 + expected)


@pytest.mark.parametrize('function, target, least_value', [
    (GazeAngle('tip', [0, 0, 0], [0, 0, 1], [0.3, 0.8, 0.5]), 0.0, 0.0),
    (FrameOrientation('tip', pose(rotvec=(0, 0.4, 0.9)), form='angle'), 0.0, 0.0),
    (PointToPointDistance('tip', [0, 0, 0], [0, 0, 0]), 2.0, 0.5 * 1.25**2),
    (UserFunction(lambda at: at.q[:3], 3), [0.1, 0.2, 0.3], 0.0)], ids=str)
def test_wishes_of_every_sort(small, function, target, least_value):
    """Those that have no gradient where they are best, too."""
    robot = small('zero_links')
    solution = solve(IKProblem(robot, costs=[LeastSquares(function, target)]), select='cost',
                     max_iterations=600, **SURE)
    assert solution.success and solution.cost == pytest.approx(least_value, abs=1e-5)


def test_wishes_do_not_break_what_must_hold(small):
    """However heavy; targets, boxes and limits stay within their tolerances."""
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


def test_a_posture_of_another_turn(load):
    """Where a joint has two turns, the one that is wanted."""
    robot = load('ur5')
    for wanted in (4.0, -5.0, 0.5):
        asked = IKProblem(robot, costs=[LeastSquares(JointPositions(['wrist_1_joint']), wanted)])
        solution = solve(asked, timeout=10.0, max_iterations=200)
        assert solution.joints['wrist_1_joint'] == pytest.approx(wanted, abs=1e-3)
