"""Linear relations between joints."""

from differences import check_jacobian, robots_with_frames
import numpy as np
from oracles import from_pink, oracle_robot, pink, pink_columns
import pytest

from ros2_ik.core import (
    Configuration,
    InvalidConstraintError,
    JointCoupling,
    JointPositions,
    UnknownJointError,
)


@pytest.mark.parametrize('row', pink('JointCouplingTask'))
def test_as_pink(row):
    at = row['at']
    f, J = JointCoupling(row['args']['joint_names'], row['args']['ratios']).evaluate(at)
    np.testing.assert_allclose(f, row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


@pytest.mark.parametrize('row', pink('LinearHolonomicTask'))
def test_as_pinks_linear_holonomic_task(row):
    """All joints, the free base's six columns first; Pink keeps no turns, here there are none."""
    at, args = row['at'], row['args']
    names = ['root_joint', 'hip', 'wheel_joint', 'shoulder', 'elbow', 'lift']
    reference = from_pink('tree', args['q_0'])
    for name in ('wheel_joint', 'shoulder'):
        reference[name] += 2 * np.pi * np.round((at.joints[name] - reference[name]) / 2 / np.pi)
    function = JointCoupling(names, args['A'], args['b'], reference)
    assert function.joints(oracle_robot('tree')) == set(names)
    f, J = function.evaluate(at)
    np.testing.assert_allclose(f, row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


def test_turns_count(small):
    at = Configuration(small('turntable'), [7, 100])
    np.testing.assert_allclose(JointCoupling(['table', 'pole'], (2, -1)).value(at), [-86])


def test_jacobian(load, small):
    generator = np.random.default_rng(1)
    for robot, _, _ in robots_with_frames(load, small):
        function = JointCoupling(None, generator.normal(size=(2, robot.nv)), (1, 2))
        check_jacobian(function, robot, robot.random_q(generator))


@pytest.mark.parametrize('names, ratios, offset, words', [
    (['a', 'b'], (1,), 0, 'ratios has 1 columns, but a, b have 2 rows'),
    (['a'], (), 0, 'ratios must be'), (['a'], (np.nan,), 0, 'ratios must be'),
    (['a'], [(1,), (1, 2)], 0, 'ratios must be'), (['a'], (1,), np.inf, 'offset must be'),
    (['a'], (1,), (1, 2), 'offset must be'), ('ab', (1, 1), 0, 'names must be'),
    (['a', 'a'], (1, 1), 0, "names has 'a' twice")])
def test_bad_arguments(names, ratios, offset, words):
    with pytest.raises(InvalidConstraintError, match=words):
        JointCoupling(names, ratios, offset)


def test_what_does_not_fit_the_robot(small):
    with pytest.raises(UnknownJointError):
        JointCoupling(['wirst'], (1,)).joints(small('scara'))
    for names in (None, ['wrist']):
        with pytest.raises(InvalidConstraintError, match='ratios has 2 columns'):
            JointCoupling(names, (1, 2)).joints(small('scara'))
    with pytest.raises(InvalidConstraintError, match='root_joint, elbow have 7 rows'):
        JointCoupling(['root_joint', 'elbow'], (1, 2)).joints(small('scara', 'freeflyer'))


def test_names():
    function = JointCoupling(['a', 'b'], [(1, 2), (3, 4)])
    assert function.labels == ('row 0 [joint units]', 'row 1 [joint units]')
    assert str(function) == 'joint_coupling of a, b'
    assert function.names == JointPositions(['a', 'b']).names
