"""Costs: the answer is the optimum, by closed forms and by scipy; what must hold still holds."""

import math

from judge import claims, pose, TreeJudge
import numpy as np
import pytest
from scipy.optimize import minimize
from small_robots import SMALL

from ros2_ik.core import (
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointCoupling,
    JointPositions,
    LeastSquares,
    Manipulability,
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

def test_posture_alone(small):
    """The reference, or the limit before it."""
    robot = small('zero_links')
    generator = np.random.default_rng(0)
    for _ in range(5):
        wanted = robot.random_q(generator) * 1.5
        asked = IKProblem(robot, costs=[LeastSquares(JointPositions(), wanted)])
        solution = solve(asked, **SURE)
        assert solution.success
        np.testing.assert_allclose(solution.q, np.clip(wanted, robot.lower, robot.upper),
                                   atol=1e-4)


@pytest.mark.parametrize('weight', [1e-6, 1.0, 1e6])
def test_the_unit_of_a_cost_does_not_matter(small, weight):
    robot, wanted = small('scara'), np.array([0.5, -0.5, -0.1, 2.0])
    asked = IKProblem(robot, costs=[LeastSquares(JointPositions(), wanted, weight)])
    solution = solve(asked, **SURE)
    assert solution.success and solution.cost <= 1e-7 * weight
    np.testing.assert_allclose(solution.q, wanted, atol=1e-3)


def test_weighted_mean_of_two_wishes(small):
    """By weights, by a matrix, and with one that is ignored."""
    robot = small('gantry')       # q is the position, but for a sign
    a, b = np.array([-0.5, 0.7, 0.1]), np.array([0.8, 1.3, 0.4])
    tip = FramePosition('tip')
    for W, V in ((1.0, 3.0), (np.array([1, 2, 3.0]), np.array([3, 1, 0.5])), (2.0, 0.0),
                 (np.array([1, 0, 1.0]), np.ones(3))):
        W, V = (np.diag(np.full(3, x)) for x in (W, V))
        expected = np.linalg.solve(W + V, W @ a + V @ b)
        for first, second in ((W, V), (np.diag(W), np.diag(V))):
            asked = IKProblem(robot, costs=[LeastSquares(tip, a, first),
                                            LeastSquares(tip, b, second)])
            solution = solve(asked, **SURE)
            np.testing.assert_allclose(position(robot, solution.q), expected, atol=1e-4)
            r, s = expected - a, expected - b
            assert solution.cost == pytest.approx(0.5 * (r @ W @ r + s @ V @ s), abs=1e-7)


def test_a_full_matrix(small):
    """Along a constraint the matrix decides where it is best."""
    robot, W = small('gantry'), np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 1]])
    target = np.array([0.0, 1.0, 0.2])
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('tip', axes='x'), 0.5, 0.5)],
                      costs=[LeastSquares(FramePosition('tip'), target, W)])
    solution = solve(asked, **SURE)
    rest = np.linalg.solve(W[1:, 1:], -W[1:, 0] * 0.5)
    np.testing.assert_allclose(position(robot, solution.q) - target, [0.5, *rest], atol=1e-4)


def test_at_the_edge_of_a_box(small):
    robot = small('gantry')
    for target in ([5.0, 1.0, 0.2], [-5, 9, -1], [0.1, 1, 0.2]):
        low, high = np.array([-0.3, 0.8, 0.1]), np.array([0.2, 1.1, 0.3])
        asked = IKProblem(robot, constraints=[Constraint(FramePosition('tip'), low, high)],
                          costs=[LeastSquares(FramePosition('tip'), target)])
        solution = solve(asked, **SURE)
        p = position(robot, solution.q)
        np.testing.assert_allclose(p, np.clip(target, low, high), atol=1e-4)
        assert (p >= low - SLACK).all() and (p <= high + SLACK).all()


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


def test_of_a_free_base(small):
    """A floating one goes where it is wanted, at the orientation wanted."""
    robot, generator = small('two_arms', 'freeflyer'), np.random.default_rng(0)
    wanted = robot.random_q(generator)
    asked = IKProblem(robot, costs=[LeastSquares(JointPositions(reference=wanted))],
                      start=robot.random_q(generator))
    solution = solve(asked, **SURE)
    assert solution.success and solution.cost < 1e-6
    T, T_wanted = (Configuration(robot, q).transform('left_hand') for q in (solution.q, wanted))
    np.testing.assert_allclose(T, T_wanted, atol=5e-3)


def test_zero_weight_is_ignored(small):
    """Never a hard wish, and it moves nothing."""
    robot = small('zero_links')
    box = Constraint(FramePosition('tip'), [0.2, -0.1, 0.3], [0.3, 0.1, 0.5])
    start = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1])
    ignored = [LeastSquares(FramePosition('tip'), 100.0, 0), ScalarCost(float, weight=0),
               LeastSquares(GazeAngle('tip', [0, 0, 0], [1, 0, 0], [1, 1, 1]), 0, [0]),
               LeastSquares(JointPositions(), 0.0, np.zeros(7))]
    without = solve(IKProblem(robot, constraints=[box], start=start), **SURE)
    for costs in ([ignored[0]], ignored[2:3], ignored[3:], [ignored[0], *ignored[2:]]):
        solution = solve(IKProblem(robot, constraints=[box], costs=costs, start=start), **SURE)
        assert solution.success and solution.cost == 0
        np.testing.assert_allclose(solution.q, without.q, atol=1e-9)


def test_a_users_scalar_of_weight_zero_is_not_a_wish(small):
    robot = small('gantry')
    asked = IKProblem(robot, costs=[ScalarCost(lambda at: at.q[0], weight=0.0),
                                    LeastSquares(JointPositions(['x']), 0.5)])
    solution = solve(asked, **SURE)
    assert solution.joints['x'] == pytest.approx(0.5, abs=1e-4)


# -- scalar costs -----------------------------------------------------------------------------

@pytest.mark.parametrize('gradient', [False, True])
def test_a_scalar_cost_that_falls_for_ever_ends_at_the_limits(small, gradient):
    robot = small('gantry')
    slope = np.array([1.0, -2.0, 0.5])
    cost = ScalarCost(lambda at: slope @ at.q, (lambda at: slope) if gradient else None)
    solution = solve(IKProblem(robot, costs=[cost]), **SURE)
    assert solution.success and solution.cost == pytest.approx(slope @ [-1, 1.5, -0.5], abs=1e-5)


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


def test_scalar_and_squares_together(small):
    """(x - 1)^2 / 2 + w x has its lowest point at 1 - w."""
    robot = small('gantry')
    for w in (0.0, 0.3, 1.2):
        costs = [LeastSquares(JointPositions(['x']), 1.0),
                 ScalarCost(lambda at: at.q[0], weight=w)]
        solution = solve(IKProblem(robot, costs=costs), **SURE)
        assert solution.joints['x'] == pytest.approx(1 - w, abs=1e-3)
        assert [value for _, value in solution.costs] == pytest.approx(
            [0.5 * (solution.joints['x'] - 1)**2, w * solution.joints['x']])


def test_negative_values(small):
    """The height of the tip, upside down, along a wall."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('tip', axes='x'), 0.5, 0.5)],
                      costs=[ScalarCost(lambda at: -at.transform('tip')[2, 3])])
    solution = solve(asked, select='cost', max_iterations=600, **SURE)
    p = judge.transform(solution.joints, 'tip')[:3, 3]
    assert p[0] == pytest.approx(0.5, abs=SLACK)
    assert p[2] == pytest.approx(math.sqrt(0.75**2 - 0.5**2), abs=1e-3)     # stretched out


# -- against scipy ----------------------------------------------------------------------------

def costs_of(robot):
    """Give problems on a 3- to 7-joint arm: our cost, the same by numpy."""
    def at(q):
        return Configuration(robot, q)
    p, far = np.array([0.5, 0.4, 0.1]), np.array([2.0, 1, 1])
    yield LeastSquares(FramePosition('tip'), far), lambda q: 0.5 * ((position(robot, q) - far)**2
                                                                    ).sum()
    yield (LeastSquares(PointToPointDistance('tip', [0, 0, 0], p), 0.25, 4.0),
           lambda q: 2 * (np.linalg.norm(position(robot, q) - p) - 0.25)**2)
    yield (LeastSquares(JointCoupling(robot.joint_names[:2], [1.0, -2.0], 0.5)),
           lambda q: 0.5 * (q[0] - 2 * q[1] - 0.5)**2)
    yield (LeastSquares(CenterOfMass(), far, [1, 2, 3]),
           lambda q: 0.5 * (at(q).center_of_mass() - far)**2 @ [1, 2, 3])
    yield (ScalarCost(lambda c: math.sin(c.q[0]) * math.cos(c.q[1]) + c.transform('tip')[0, 3]),
           lambda q: math.sin(q[0]) * math.cos(q[1]) + position(robot, q)[0])


@pytest.mark.parametrize('index', [0, 1, *(pytest.param(index, marks=pytest.mark.slow)
                                            for index in (2, 3, 4))])
@pytest.mark.parametrize('name', ['scara', 'planar_2r', 'mimic_chain'])
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


@pytest.mark.parametrize('seed', range(3))
def test_posture_on_a_target(small, seed):
    """Of all ways to a pose of five axes the one nearest the posture, as scipy finds it."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator = np.random.default_rng(seed)
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
    (FrameOrientation('tip', pose(rotvec=(0, 0.4, 0.9))), 0.0, 0.0),
    (FrameOrientation('tip', axes='xy', form='euler'), 0.2, 0.0),
    (PointToPointDistance('tip', [0, 0, 0], [0.2, 0.1, 0.4]), 0.0, 0.0),
    (PointToPointDistance('tip', [0, 0, 0], [0, 0, 0]), 2.0, 0.5 * 1.25**2),
    (UserFunction(lambda at: at.q[:3], 3), [0.1, 0.2, 0.3], 0.0)], ids=str)
def test_wishes_of_every_sort(small, function, target, least_value):
    """Those that have no gradient where they are best, too."""
    robot = small('zero_links')
    solution = solve(IKProblem(robot, costs=[LeastSquares(function, target)]), select='cost',
                     max_iterations=600, **SURE)
    assert solution.success and solution.cost == pytest.approx(least_value, abs=1e-5)


def test_more_manipulability_is_better(small):
    robot = small('zero_links')
    start = np.array([0.0, 0.05, 0, -0.05, 0, 0.05, 0])
    function = Manipulability('tip')
    asked = IKProblem(robot, costs=[LeastSquares(function, 1.0)], start=start)
    solution = solve(asked, **SURE)
    before, after = (function.value(Configuration(robot, q))[0] for q in (start, solution.q))
    assert after > 10 * before


def test_wishes_do_not_break_what_must_hold(small):
    """However heavy; targets, boxes and limits stay within their tolerances."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    for seed in range(4):
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


def test_locked_joints_and_costs(small):
    robot = small('zero_links')
    start = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1])
    asked = IKProblem(robot, start=start, locked=['s2', 'w1'],
                      costs=[LeastSquares(JointPositions(), 0.25)])
    solution = solve(asked, **SURE)
    wanted = np.full(7, 0.25)
    wanted[[1, 4]] = start[[1, 4]]
    wanted[3] = 0.0                  # the elbow's limit
    np.testing.assert_allclose(solution.q, wanted, atol=1e-3)
    assert (solution.q[1], solution.q[4]) == (0.5, 0.4)
    assert solution.cost == pytest.approx(0.5 * ((solution.q - 0.25)**2).sum())


def test_a_posture_of_another_turn(load):
    """Where a joint has two turns, the one that is wanted."""
    robot = load('ur5')
    for wanted in (4.0, -5.0, 0.5):
        asked = IKProblem(robot, costs=[LeastSquares(JointPositions(['wrist_1_joint']), wanted)])
        solution = solve(asked, timeout=10.0, max_iterations=200)
        assert solution.joints['wrist_1_joint'] == pytest.approx(wanted, abs=1e-3)


def test_cheapest_of_all(small):
    robot = small('planar_2r')
    T = Configuration(robot, [0.3, 1.0]).transform('tip')
    target = PoseTarget('tip', T, weights=(1, 1, 1, 0, 0, 0))
    for wanted, elbow in ((0.9, 1.0), (-0.9, -1.0)):
        asked = IKProblem(robot, [target], costs=[LeastSquares(JointPositions(['elbow']), wanted)])
        solution = solve(asked, select='cost', solutions=2, max_iterations=400, **SURE)
        both = [solution, *solution.alternatives]
        assert solution.joints['elbow'] == pytest.approx(elbow, abs=1e-3)
        assert len(both) == 2 and both[0].cost < both[1].cost
