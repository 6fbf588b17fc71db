"""Targets: what they take, what they refuse, what they measure."""

from hypothesis import given, settings, strategies as st
from judge import pose, pose_error
import numpy as np
import pytest

from ros2_ik.core import Configuration, InvalidTargetError, PoseTarget


def test_defaults():
    target = PoseTarget('tip', np.eye(4))
    assert (target.tip, target.relative_to) == ('tip', None)
    assert list(target.weights) == [1] * 6
    assert (target.position_tolerance, target.orientation_tolerance) == (1e-5, 1e-4)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32),
       weights=st.lists(st.sampled_from([0, 0.1, 1, 10]), min_size=6, max_size=6).filter(any))
def test_errors_count_what_has_a_weight(small, seed, weights):
    robot, generator = small('two_arms', 'freeflyer'), np.random.default_rng(seed)
    at = Configuration(robot, robot.random_q(generator))
    T = at.transform('left_hand')
    T_target = T @ pose(generator.uniform(-3, 3, 3), generator.uniform(-1, 1, 3) * 1.8)
    target = PoseTarget('left_hand', T_target, weights=weights)
    assert target.errors(at.placement('left_hand')) == pytest.approx(
        pose_error(T, T_target, weights), abs=1e-12)


def test_errors_relative_to_a_moving_frame(small):
    robot = small('two_arms', 'freeflyer')
    at = Configuration(robot, robot.random_q(np.random.default_rng(7)))
    T = at.transform('left_hand', 'right_b')
    target = PoseTarget('left_hand', T @ pose((0, 0, 0.3), (0.2, 0, 0)), 'right_b')
    placed = at.placement('right_b').actInv(at.placement('left_hand'))
    assert target.errors(placed) == pytest.approx((0.3, 0.2))


@pytest.mark.parametrize('weights', [
    [1] * 6, (1,) * 6, np.ones(6), np.ones(6, dtype=int), (1, 1, 1, 0, 0, 0), [1e-9] * 6])
def test_kinds_of_weights(weights):
    assert list(PoseTarget('tip', np.eye(4), weights=weights).weights) == list(weights)


@pytest.mark.parametrize('weights, words', [
    ((1,) * 5, ['six', 'rx']), ((1,) * 7, ['six']), (1.0, ['six']), (None, ['six']),
    ('111111', []), ([[1] * 6], ['six']), ((1, 1, 1, 1, 1, -1), ['negative']),
    ((1, 1, np.nan, 1, 1, 1), ['finite']), ((1, 1, np.inf, 1, 1, 1), ['finite']),
    ((0,) * 6, ['zero']), (('a',) * 6, []), ((1j,) * 6, []), ({}, []),
    ([10**400] * 6, []), ([[1], [2, 3]], [])])
def test_weights_that_are_none(weights, words):
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.eye(4), weights=weights)
    for word in [*words, 'weight', "'tip'"]:
        assert word in str(caught.value)


@pytest.mark.parametrize('which', ['position_tolerance', 'orientation_tolerance'])
@pytest.mark.parametrize('value', [0, -1e-3, np.nan, np.inf, None, '1', [1e-3], 1j,
                                   np.complex128(1), np.array([1e-3, 1e-3]), 10**400])
def test_tolerances_that_are_none(which, value):
    with pytest.raises(InvalidTargetError, match=which):
        PoseTarget('tip', np.eye(4), **{which: value})


@pytest.mark.parametrize('value', [1, 1e-12, np.float32(0.5), np.int64(2)])
def test_kinds_of_tolerances(value):
    assert PoseTarget('tip', np.eye(4), position_tolerance=value).position_tolerance == value


def test_weights_are_copied_and_fixed():
    weights = np.array([1.0, 1, 1, 0, 0, 0])
    target = PoseTarget('tip', np.eye(4), weights=weights)
    weights[0] = 0
    assert target.weights[0] == 1
    for other in (target, PoseTarget('tip', np.eye(4))):
        with pytest.raises(ValueError):
            other.weights[0] = 5


def test_no_rigid_transformation():
    with pytest.raises(InvalidTargetError, match="target of 'tip'.*determinant -1"):
        PoseTarget('tip', np.diag([1.0, 1, -1, 1]))
    with pytest.raises(InvalidTargetError, match=r'left-handed: a mirror image'):
        PoseTarget('tip', np.diag([1.0, 1, -1, 1]))
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.diag([2.0, 1, 1, 1]))
    assert 'left-handed' not in str(caught.value)
