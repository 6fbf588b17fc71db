"""Costs: their value, their weights, what they refuse."""

import math
import pickle

from differences import check_jacobian
from judge import step, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    accept,
    CenterOfMass,
    Configuration,
    FramePosition,
    IKProblem,
    InvalidConstraintError,
    JointPositions,
    LeastSquares,
    ScalarCost,
    solve,
    UserFunction,
)

INF, NAN = math.inf, math.nan
POSITION = FramePosition('tip')
Q = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1])


@pytest.fixture
def x(robot):
    """Give the tip's position at Q, by the judge."""
    return TreeJudge(SMALL['zero_links']).transform(robot.to_joints(Q), 'tip')[:3, 3]


def value(robot, cost):
    return cost.value(Configuration(robot, Q))


TARGET = np.array([0.2, -0.3, 0.7])
ROOT = np.array([[1, 0.2, 0], [0, 2, -0.3], [0.5, 0, 1]])


@pytest.mark.parametrize('weight, W', [
    (2.5, 2.5 * np.eye(3)), ((1, 0, 3), np.diag([1, 0, 3])), (ROOT.T @ ROOT, ROOT.T @ ROOT),
    (np.outer([1, 2, 3], [1, 2, 3]), np.outer([1, 2, 3], [1, 2, 3])),   # of rank one
    (0, np.zeros((3, 3))), (np.zeros((3, 3)), np.zeros((3, 3)))])
def test_cost_is_half_the_weighted_square(robot, x, weight, W):
    r = x - TARGET
    expected = 0.5 * r @ W @ r
    assert value(robot, LeastSquares(POSITION, TARGET, weight)) == pytest.approx(expected,
                                                                                 rel=1e-9)


@pytest.mark.parametrize('weight', [1e-12, 1.0])
def test_small_weights_beside_large_ones_count(robot, x, weight):
    """A weight is ignored if it is zero, not if it is small."""
    target = [x[0] + 1, x[1], x[2] + 1]
    cost = LeastSquares(POSITION, target, [weight, 1e9, weight])
    assert value(robot, cost) == pytest.approx(weight, rel=1e-6, abs=0)
    if weight > 1e-3:       # of a matrix, what is small beside rounding is rounding
        cost = LeastSquares(POSITION, target, np.diag([weight, 1e9, weight]))
        assert value(robot, cost) == pytest.approx(weight, rel=1e-3, abs=0)


@pytest.mark.parametrize('lower, upper', [
    (None, 0.1), (0.6, None), ([0.5, -INF, 0], [0.6, 0.1, 0.2])])
def test_soft_bounds(robot, x, lower, upper):
    low = -INF if lower is None else np.array(lower)
    high = INF if upper is None else np.array(upper)
    outside = np.maximum(np.maximum(low - x, x - high), 0)
    cost = LeastSquares(POSITION, weight=[1, 2, 3], lower=lower, upper=upper)
    assert value(robot, cost) == pytest.approx(0.5 * outside @ (outside * [1, 2, 3]))
    r = cost.residual(x)
    np.testing.assert_allclose(np.abs(r), outside, atol=1e-12)
    assert (r[x > high] > 0).all() and (r[x < low] < 0).all()


@pytest.mark.parametrize('weight, word', [
    ([1, -1e-3, 1], 'negative'), ([1, NAN, 1], 'finite'), (INF, 'finite'),
    ([[0, 1, 0], [1, 0, 0], [0, 0, 1]], 'negative'),        # indefinite
    ([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], 'symmetric'), ([1, 2], 'shape'),
    (np.ones((3, 1)), 'shape'), ('a', 'weight')])
def test_weights_that_make_no_sense_are_refused(weight, word):
    with pytest.raises(InvalidConstraintError, match=word) as caught:
        LeastSquares(POSITION, weight=weight, name='mine')
    assert 'weight of mine' in str(caught.value)


@pytest.mark.parametrize('arguments, word', [
    ({'target': INF}, 'target'), ({'target': [0, 0]}, 'target'), ({'target': None}, 'target'),
    ({'target': [1, 1, 1], 'lower': 0}, 'has a target and lower or upper'),
    ({'lower': 1, 'upper': 0}, 'lower'), ({'upper': NAN}, 'upper'), ({'lower': INF}, 'never met'),
    ({'upper': [1, 1]}, 'upper')])
def test_targets_and_soft_bounds_that_make_no_sense(arguments, word):
    with pytest.raises(InvalidConstraintError, match=word) as caught:
        LeastSquares(POSITION, name='mine', **arguments)
    assert 'mine' in str(caught.value)


# -- joints, whose rows are known with the robot ----------------------------------------------

@pytest.mark.parametrize('target', [0.1, np.linspace(-0.3, 0.3, 7)])
@pytest.mark.parametrize('weight, W', [(2, 2 * np.eye(7)), (np.arange(7), np.diag(np.arange(7)))])
def test_posture_cost_is_half_the_weighted_square(robot, target, weight, W):
    cost = LeastSquares(JointPositions(), target, weight)
    problem = IKProblem(robot, costs=[cost])
    r = Q - target
    assert accept(problem, Q).costs == pytest.approx((0.5 * r @ W @ r,))


def test_a_floating_joint_has_six_rows(small):
    robot, weight = small('nested'), np.arange(1.0, 7)
    problem = IKProblem(robot, costs=[LeastSquares(JointPositions(['fly']), 0.0, weight)])
    joint, v = robot.joint('fly'), np.zeros(robot.nv)
    v[joint.velocity_index:joint.velocity_index + 6] = np.linspace(0.1, 0.4, 6)
    q = step(robot, robot.neutral, v)
    assert accept(problem, q).costs == pytest.approx((0.5 * weight @ v[v != 0]**2,))


@pytest.mark.parametrize('arguments', [{'target': np.zeros(6)}, {'weight': np.ones(8)},
                                       {'upper': np.ones(2)}])
def test_sizes_that_do_not_fit_the_joints(robot, arguments):
    with pytest.raises(InvalidConstraintError, match='joint_positions'):
        IKProblem(robot, costs=[LeastSquares(JointPositions(), **arguments)])


# -- scalar costs -----------------------------------------------------------------------------

def bowl(at):
    return float(at.q @ at.q) + at.transform('tip')[2, 3]


def test_value_and_weight_of_a_scalar_cost(robot):
    at = Configuration(robot, Q)
    for weight in (7, 0.0):
        cost = ScalarCost(bowl, weight=weight)
        assert cost.value(at) == pytest.approx(weight * bowl(at), rel=1e-14)
        assert cost.weight == weight
    assert ScalarCost(bowl).name == 'bowl' and ScalarCost(bowl, name='low').name == 'low'
    assert ScalarCost(bowl).joints(robot) == set(robot.joint_names)


def test_gradient_by_differences(small):
    """As the row of a function of the same number."""
    robot, tip = small('two_arms', 'freeflyer'), 'left_hand'

    def height(at):
        return at.transform(tip)[2, 3] + 0.3 * at.transform(tip)[0, 3]**2
    q = robot.random_q(np.random.default_rng(0))
    cost, at = ScalarCost(height, weight=2.0), Configuration(robot, q)
    numeric = [(height(at.with_q(step(robot, q, v)))
                - height(at.with_q(step(robot, q, -v)))) / 2e-6
               for v in np.eye(robot.nv) * 1e-6]
    np.testing.assert_allclose(cost.gradient(at), 2.0 * np.array(numeric), atol=1e-7)
    given = ScalarCost(height, lambda at: UserFunction(height).jacobian(at)[0], 2.0)
    np.testing.assert_allclose(given.gradient(at), cost.gradient(at), atol=1e-7)
    check_jacobian(UserFunction(height), robot, q, atol=1e-6)


@pytest.mark.parametrize('number', [NAN, -INF, None, [1.0, 2.0]])
def test_scalar_costs_without_a_finite_number_are_refused(robot, number):
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
        cost.gradient(Configuration(robot, Q))


@pytest.mark.parametrize('arguments', [
    {'function': POSITION}, {'function': bowl, 'gradient': np.zeros(7)},
    {'function': bowl, 'weight': -1}, {'function': bowl, 'weight': [1, 2]}])
def test_scalar_costs_that_make_no_sense(arguments):
    with pytest.raises(InvalidConstraintError, match='KinematicFunction'):
        LeastSquares(bowl)
    with pytest.raises(InvalidConstraintError):
        ScalarCost(**arguments)


def test_errors_of_users_pass_through(robot):
    def broken(at):
        raise KeyError('mine')
    at = Configuration(robot, Q)
    for call in (lambda: ScalarCost(broken).value(at),
                 lambda: ScalarCost(bowl, broken).gradient(at),
                 lambda: solve(IKProblem(robot, costs=[ScalarCost(broken)])),
                 lambda: solve(IKProblem(robot, costs=[ScalarCost(bowl, broken)])),
                 lambda: solve(IKProblem(robot, costs=[LeastSquares(UserFunction(broken))]))):
        with pytest.raises(KeyError, match='mine'):
            call()


def test_survives_pickling(robot):
    at = Configuration(robot, Q)
    costs = [LeastSquares(POSITION, 0.3, ROOT.T @ ROOT), LeastSquares(CenterOfMass(), upper=0.1),
             LeastSquares(JointPositions(['s1', 's2']), [0.1, 0.2], [1, 2]), ScalarCost(bowl)]
    for cost in costs:
        assert pickle.loads(pickle.dumps(cost)).value(at) == cost.value(at)
