"""JointPositions relative to a reference, and JointCoupling."""

import numpy as np
from oracles import from_pink, pink, pink_columns
import pytest

from ros2_ik.core import Configuration, JointCoupling, JointPositions
from ros2_ik.core.errors import InvalidConstraintError, InvalidStateError, UnknownJointError


@pytest.mark.parametrize('row', pink('PostureTask'))
def test_joint_positions_equal_those_of_pink(row):
    """Pink omits the free base and wraps continuous joints."""
    at, names = row['at'], row['at'].robot.joint_names
    if row['robot'] == 'tree':
        names = ['hip', 'wheel_joint', 'shoulder', 'elbow', 'lift']
    function = JointPositions(names, from_pink(row['robot'], row['target']['target_q']))
    f, J = function.evaluate(at)
    np.testing.assert_allclose(f, row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


def test_joint_positions_are_relative_to_their_reference(small):
    at = Configuration(small('scara'), [0.1, 0.2, 0.03, 5])
    np.testing.assert_allclose(JointPositions().value(at), at.q)
    np.testing.assert_allclose(JointPositions(['wrist', 'elbow']).value(at), [5, 0.2])
    np.testing.assert_allclose(JointPositions(['wrist', 'elbow'], [1, 2]).value(at), [4, -1.8])
    np.testing.assert_allclose(JointPositions(None, [1, 2, 3, 4]).value(at), at.q - [1, 2, 3, 4])
    np.testing.assert_allclose(JointPositions(['lift'], {'lift': 1, 'wrist': 9}).value(at), -0.97)


def test_joint_positions_of_all_joints_equal_the_configuration_difference(small):
    generator = np.random.default_rng(3)
    for name, root in (('two_arms', 'freeflyer'), ('nested', 'fixed'), ('scara', 'planar'),
                       ('mimic_chain', 'freeflyer'), ('all_fixed', 'fixed')):
        robot = small(name, root)
        reference, at = (Configuration(robot, robot.random_q(generator)) for _ in range(2))
        for given in (reference.q, reference.joints):
            function = JointPositions(None, given, wrap=False)
            np.testing.assert_allclose(function.value(at), reference.difference(at), atol=1e-12)
            assert not np.any(JointPositions(None, given).value(reference))


def test_joint_positions_of_a_mimic_joint_are_refused(small):
    with pytest.raises(InvalidConstraintError, match="joint 'b' mimics 'a': name 'a' instead"):
        JointPositions(['d', 'b']).bind(small('mimic_chain'))
    at = Configuration(small('mimic_chain'), {'a': 0.6, 'd': 1})
    np.testing.assert_allclose(JointPositions(None, {'a': 0.1, 'c': 7}).value(at), [0.5, 1])


@pytest.mark.parametrize('value, reference, difference', [
    (3.1, -3.1, 6.2 - 2 * np.pi), (20 * np.pi + 0.3, 0.1, 0.2), (-5, 5, 4 * np.pi - 10),
    (np.pi, 0, np.pi), (-np.pi, 0, np.pi), (0, np.pi, np.pi)])
def test_continuous_joints_have_signed_differences_up_to_pi(small, value, reference, difference):
    """MoveIt's JointConstraint, in contrast, loses the sign."""
    at = Configuration(small('swivel'), [value, 0])
    function = JointPositions(['table'], [reference])
    assert function.value(at) == pytest.approx(difference)
    unwrapped = JointPositions(['table'], [reference], wrap=False)
    assert unwrapped.value(at) == pytest.approx(value - reference)
    for each in (function, unwrapped):
        np.testing.assert_array_equal(each.jacobian(at), [[1, 0]])


def test_labels_of_bound_joint_positions_have_units_of_the_robot(small):
    """Binding does not change the function itself."""
    function = JointPositions(['wrist', 'lift'])
    bound = function.bind(small('scara'))
    assert bound.joints(small('scara')) == {'wrist', 'lift'} and function.labels == ()
    assert bound.labels == ('wrist [rad]', 'lift [m]') and bound.spec is function
    assert JointPositions().bind(small('nested')).labels == (
        'lift [m]', 'drive x [m]', 'drive y [m]', 'drive theta [rad]', 'arm [rad]', 'fly x [m]',
        'fly y [m]', 'fly z [m]', 'fly rx [rad]', 'fly ry [rad]', 'fly rz [rad]', 'hook [rad]')
    assert str(bound) == 'joint_positions of wrist, lift'


def test_joint_positions_can_be_rebound_to_another_robot(small):
    bound = JointPositions(['table'], [0.5]).bind(small('swivel'))
    other = small('swivel', 'freeflyer')
    rebound = bound.bind(other)
    assert bound.bind(small('swivel')) is bound and rebound.spec is bound.spec
    assert rebound.evaluate(Configuration(other))[1].shape == (1, other.nv)


@pytest.mark.parametrize('names, reference, error', [
    (['wirst'], None, UnknownJointError), (['wrist'], {'wirst': 1}, UnknownJointError),
    (None, {3: 1}, UnknownJointError), (['wrist'], [1, 2], InvalidConstraintError),
    (None, [1, 2], InvalidConstraintError), (['wrist'], {'wrist': [1, 2]}, InvalidStateError)])
def test_joint_positions_with_unknown_joints_or_sizes_are_refused(small, names, reference, error):
    function = JointPositions(names, reference)
    with pytest.raises(error):
        function.joints(small('scara'))


@pytest.mark.parametrize('row', pink('JointCouplingTask'))
def test_coupling_equals_that_of_pink(row):
    at = row['at']
    f, J = JointCoupling(row['args']['joint_names'], row['args']['ratios']).evaluate(at)
    np.testing.assert_allclose(f, row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


def test_couplings_of_continuous_joints_include_turns(small):
    at = Configuration(small('swivel'), [7, 100])
    np.testing.assert_allclose(JointCoupling(['table', 'pole'], (2, -1)).value(at), [-86])


@pytest.mark.parametrize('names, ratios, offset, message', [
    (['a'], (), 0, 'ratios must be'), (['a'], (np.nan,), 0, 'ratios must be'),
    (['a'], [(1,), (1, 2)], 0, 'ratios must be'), (['a'], (1,), np.inf, 'offset must be'),
    (['a'], (1,), (1, 2), 'offset must be'), ('ab', (1, 1), 0, 'names must be'),
    (['a', 'a'], (1, 1), 0, "names has 'a' twice")])
def test_malformed_couplings_are_refused(names, ratios, offset, message):
    with pytest.raises(InvalidConstraintError, match=message):
        JointCoupling(names, ratios, offset)


def test_couplings_with_unknown_joints_or_wrong_sizes_are_refused(small):
    with pytest.raises(UnknownJointError):
        JointCoupling(['wirst'], (1,)).joints(small('scara'))
    for names in (None, ['wrist']):
        with pytest.raises(InvalidConstraintError, match='ratios has 2 columns'):
            JointCoupling(names, (1, 2)).joints(small('scara'))
    with pytest.raises(InvalidConstraintError, match='valid: 7, for root_joint, elbow'):
        JointCoupling(['root_joint', 'elbow'], (1, 2)).joints(small('scara', 'freeflyer'))
