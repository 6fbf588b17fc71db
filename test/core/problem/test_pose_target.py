"""Targets: what they take, what they refuse, what they measure."""

from hypothesis import given, settings, strategies as st
from judge import pose, pose_error
import numpy as np
import pytest

from ros2_ik.core import Configuration, InvalidTargetError, PoseTarget


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


@pytest.mark.parametrize('weights, words', [
    ((1,) * 5, ['six', 'rx']), (None, ['six']), ([[1] * 6], ['six']),
    ((1, 1, 1, 1, 1, -1), ['negative']), ((1, 1, np.nan, 1, 1, 1), ['finite']),
    ((0,) * 6, ['zero']), (('a',) * 6, []), ([10**400] * 6, []), ([[1], [2, 3]], [])])
def test_malformed_weights_are_refused(weights, words):
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.eye(4), weights=weights)
    for word in [*words, 'weight', "'tip'"]:
        assert word in str(caught.value)


def test_weights_are_copied_and_fixed():
    weights = np.array([1.0, 1, 1, 0, 0, 0])
    target = PoseTarget('tip', np.eye(4), weights=weights)
    weights[0] = 0
    assert target.weights[0] == 1
    for other in (target, PoseTarget('tip', np.eye(4))):
        with pytest.raises(ValueError):
            other.weights[0] = 5


def test_targets_that_are_not_rigid_are_refused():
    with pytest.raises(InvalidTargetError,
                       match="target of 'tip'.*determinant -1.*left-handed: a mirror image"):
        PoseTarget('tip', np.diag([1.0, 1, -1, 1]))
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.diag([2.0, 1, 1, 1]))
    assert 'left-handed' not in str(caught.value)
