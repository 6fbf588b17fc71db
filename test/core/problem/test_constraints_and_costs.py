"""Constraints and costs: bounds, values, weights, and refusals."""

import math

from judge import step, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointPositions,
    LeastSquares,
    Manipulability,
    PointToLineDistance,
    PointToPointDistance,
    ScalarCost,
    solve,
    UserFunction,
)
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.request import IKRequest, required_names

INF, NAN, PI = math.inf, math.nan, math.pi
P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
POSITION = FramePosition('tip')
ANGLES = [AngleBetweenVectors('tip', A, B), GazeAngle('tip', P, A, B),
          FrameOrientation('tip', form='angle')]
LENGTHS = [PointToPointDistance('tip', P, B), PointToLineDistance('tip', P, A, B),
           Manipulability('tip')]


@pytest.mark.parametrize('lower, upper', [
    (0.3, 0.3), (-INF, INF), ([-INF, 0, 0], [INF, 1, 0]), (np.float32(0.5), np.ones(3))])
def test_bounds_are_one_number_or_one_per_row(lower, upper):
    constraint = Constraint(POSITION, lower, upper)
    for given, taken in ((lower, constraint.lower), (upper, constraint.upper)):
        assert taken.shape == (3,) and taken.dtype == np.float64
        np.testing.assert_array_equal(taken, np.full(3, given, dtype=float))
    assert constraint.name == str(POSITION) in repr(constraint)


@pytest.mark.parametrize('lower, upper, words', [
    (0, NAN, ['upper', 'one number', 'not nan']), ([0, NAN, 0], 1, ['lower', 'nan']),
    ([0, 0, 2], 1, ['z [m]', '2', '1', 'above']), (INF, INF, ['inf']), (-INF, -INF, ['inf']),
    ([0, 0], 1, ['lower', '3', '(2,)']), (0, np.zeros((3, 1)), ['upper', 'or 3', '(3, 1)']),
    (0, [NAN] * 3 + [0] * 999, ['upper', 'one number or 3', 'not [nan, nan, nan, 0, 0, 0, ...]']),
    ('low', 1, ['lower', "'low'"])])
def test_malformed_bounds_are_refused(lower, upper, words):
    with pytest.raises(InvalidConstraintError) as caught:
        Constraint(POSITION, lower, upper, 'my box')
    for word in ('my box', *words):
        assert word in str(caught.value)
    with pytest.raises(InvalidConstraintError, match='KinematicFunction'):
        Constraint(FramePosition, 0, 1)


@pytest.mark.parametrize('function', [*ANGLES, *LENGTHS], ids=str)
def test_bounds_outside_the_range_of_a_function_are_refused(function):
    least, most = function.range
    wrong = [(-INF, np.nextafter(0, -1))]
    if most < INF:
        wrong.append((np.nextafter(PI, 4), 9.0))
    for lower, upper in wrong:
        with pytest.raises(InvalidConstraintError, match='never met') as caught:
            Constraint(function, lower, upper)
        assert str(function) in str(caught.value) and f'{least:g}' in str(caught.value)
    for lower, upper in ((-INF, 0), (0, 0), (-5, 50), (3, 4)):
        Constraint(function, lower, upper)


@pytest.mark.parametrize('function, bound', [
    (AngleBetweenVectors('tip', A, B), PI), (GazeAngle('tip', P, A, B), 0),
    (FrameOrientation('tip', form='angle'), 0), (PointToLineDistance('tip', P, A, B), 0),
    (PointToPointDistance('tip', P, A), 0)])
def test_violated_equality_constraint_reports_the_value_of_its_function(robot, function, bound):
    """Solvers use its equality form, which has a gradient at the bound."""
    constraint = Constraint(function, bound, bound)
    assert len(constraint.form[0].labels) > 1
    at = Configuration(robot, robot.random_q(np.random.default_rng(1)))
    verdict = accept(IKProblem(robot, constraints=[constraint]), at.q)
    assert [v.value for v in verdict.violations] == [pytest.approx(function.value(at)[0])]


# -- joint positions, with one row per joint of the robot -------------------------------------

def test_bounds_of_a_wrong_number_of_joints_are_refused(robot):
    for bound in (np.zeros(6), np.zeros(8)):    # the number of rows is known only with the robot
        with pytest.raises(InvalidConstraintError, match='joint_positions'):
            IKProblem(robot, constraints=[Constraint(JointPositions(), bound, 1.0)])


Q = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1])


@pytest.fixture
def x(robot):
    """Return the position of the tip at Q by the judge."""
    return TreeJudge(SMALL['zero_links']).transform(robot.to_joints(Q), 'tip')[:3, 3]


def value(robot, cost):
    return cost.value(Configuration(robot, Q))


TARGET = np.array([0.2, -0.3, 0.7])
ROOT = np.array([[1, 0.2, 0], [0, 2, -0.3], [0.5, 0, 1]])


@pytest.mark.parametrize('weight, W', [
    (2.5, 2.5 * np.eye(3)), ((1, 0, 3), np.diag([1, 0, 3])), (ROOT.T @ ROOT, ROOT.T @ ROOT),
    (np.outer([1, 2, 3], [1, 2, 3]), np.outer([1, 2, 3], [1, 2, 3])),   # of rank one
    (0, np.zeros((3, 3))), (np.zeros((3, 3)), np.zeros((3, 3)))])
def test_least_squares_cost_is_half_the_weighted_square(robot, x, weight, W):
    r = x - TARGET
    expected = 0.5 * r @ W @ r
    assert value(robot, LeastSquares(POSITION, TARGET, weight)) == pytest.approx(expected,
                                                                                 rel=1e-9)


@pytest.mark.parametrize('lower, upper', [
    (None, 0.1), (0.6, None), ([0.5, -INF, 0], [0.6, 0.1, 0.2])])
def test_cost_of_soft_bounds_is_zero_inside(robot, x, lower, upper):
    low = -INF if lower is None else np.array(lower)
    high = INF if upper is None else np.array(upper)
    outside = np.maximum(np.maximum(low - x, x - high), 0)
    cost = LeastSquares(POSITION, weight=[1, 2, 3], lower=lower, upper=upper)
    assert value(robot, cost) == pytest.approx(0.5 * outside @ (outside * [1, 2, 3]))
    r = cost.residual(x)
    np.testing.assert_allclose(np.abs(r), outside, atol=1e-12)
    assert (r[x > high] > 0).all() and (r[x < low] < 0).all()


@pytest.mark.parametrize('arguments, word', [
    *(({'weight': weight}, f'weight of mine.*{word}') for weight, word in (
        ([1, -1e-3, 1], 'negative'), ([1, NAN, 1], 'finite'), (INF, 'finite'),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 1]], 'negative'),        # indefinite
        ([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], 'symmetric'), ([1, 2], 'shape'),
        (np.ones((3, 1)), 'shape'), ('a', ''))),
    ({'target': INF}, 'target'), ({'target': [0, 0]}, 'target'), ({'target': None}, 'target'),
    ({'target': [1, 1, 1], 'lower': 0}, 'has a target and lower or upper'),
    ({'lower': 1, 'upper': 0}, 'lower'), ({'upper': NAN}, 'upper'), ({'lower': INF}, 'never met'),
    ({'upper': [1, 1]}, 'upper')])
def test_malformed_arguments_of_costs_are_refused(arguments, word):
    with pytest.raises(InvalidConstraintError, match=word) as caught:
        LeastSquares(POSITION, name='mine', **arguments)
    assert 'mine' in str(caught.value)


def test_weight_matrix_requires_the_start_values_of_inactive_joints(robot):
    for weight, required in ((2.0, set()), ([1, 2], set()), ([[1, 0.5], [0.5, 1]], {'s2'})):
        request = IKRequest(costs=[LeastSquares(JointPositions(['s1', 's2']), 0.3, weight)])
        assert required_names(request, robot, frozenset({'s1'})) == required


# -- scalar costs -----------------------------------------------------------------------------

def bowl(at):
    return float(at.q @ at.q) + at.transform('tip')[2, 3]


def test_scalar_cost_is_its_value_times_its_weight(robot):
    at = Configuration(robot, Q)
    for weight in (7, 0.0):
        cost = ScalarCost(bowl, weight=weight)
        assert cost.value(at) == pytest.approx(weight * bowl(at), rel=1e-14)
        assert cost.weight == weight
    assert ScalarCost(bowl).name == 'bowl' and ScalarCost(bowl, name='low').name == 'low'
    assert ScalarCost(bowl).function.joints(robot) == set(robot.joint_names)


def test_gradient_of_a_scalar_cost_agrees_with_differences(small):
    robot, tip = small('two_arms', 'freeflyer'), 'left_hand'

    def height(at):
        return at.transform(tip)[2, 3] + 0.3 * at.transform(tip)[0, 3]**2
    q = robot.random_q(np.random.default_rng(0))
    cost, at = ScalarCost(height), Configuration(robot, q)
    numeric = [(height(Configuration(robot, step(robot, q, v)))
                - height(Configuration(robot, step(robot, q, -v)))) / 2e-6
               for v in np.eye(robot.nv) * 1e-6]
    np.testing.assert_allclose(cost.function.jacobian(at)[0], numeric, atol=1e-7)
    given = ScalarCost(height, lambda at: UserFunction(height).jacobian(at)[0])
    np.testing.assert_allclose(given.function.jacobian(at)[0], numeric, atol=1e-7)


@pytest.mark.parametrize('number', [NAN, -INF, None, [1.0, 2.0]])
def test_invalid_values_of_scalar_costs_are_refused(robot, number):
    cost = ScalarCost(lambda at: number, name='mine')
    with pytest.raises(InvalidConstraintError, match='mine'):
        cost.value(Configuration(robot, Q))
    with pytest.raises(InvalidConstraintError, match='mine'):
        solve(IKProblem(robot, costs=[cost]))


@pytest.mark.parametrize('gradient', [np.zeros(6), np.full(7, NAN), None])
def test_malformed_gradients_are_refused(robot, gradient):
    cost = ScalarCost(lambda at: 0.0, lambda at: gradient, name='mine')
    with pytest.raises(InvalidConstraintError,
                       match='gradient of a cost|Jacobian of user function .mine'):
        cost.function.jacobian(Configuration(robot, Q))


@pytest.mark.parametrize('arguments', [
    {'function': POSITION}, {'function': bowl, 'gradient': np.zeros(7)},
    {'function': bowl, 'weight': -1}, {'function': bowl, 'weight': [1, 2]}])
def test_malformed_scalar_costs_are_refused(arguments):
    with pytest.raises(InvalidConstraintError, match='KinematicFunction'):
        LeastSquares(bowl)
    with pytest.raises(InvalidConstraintError):
        ScalarCost(**arguments)
