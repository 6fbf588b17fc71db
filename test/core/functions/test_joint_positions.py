"""The values of joints, compared with a reference."""

import numpy as np
from oracles import from_pink, pink, pink_columns
import pytest

from ros2_ik.core import (
    Configuration,
    InvalidConstraintError,
    InvalidStateError,
    JointPositions,
    UnknownJointError,
)


@pytest.mark.parametrize('row', pink('PostureTask'))
def test_as_pink(row):
    """Pink leaves the free base out and wraps continuous joints."""
    at, names = row['at'], row['at'].robot.joint_names
    if row['robot'] == 'tree':
        names = ['hip', 'wheel_joint', 'shoulder', 'elbow', 'lift']
    function = JointPositions(names, from_pink(row['robot'], row['target']['target_q']))
    f, J = function.evaluate(at)
    np.testing.assert_allclose(f, row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


def test_value(small):
    at = Configuration(small('scara'), [0.1, 0.2, 0.03, 5])
    np.testing.assert_allclose(JointPositions().value(at), at.q)
    np.testing.assert_allclose(JointPositions(['wrist', 'elbow']).value(at), [5, 0.2])
    np.testing.assert_allclose(JointPositions(['wrist', 'elbow'], [1, 2]).value(at), [4, -1.8])
    np.testing.assert_allclose(JointPositions(None, [1, 2, 3, 4]).value(at), at.q - [1, 2, 3, 4])
    np.testing.assert_allclose(JointPositions(['lift'], {'lift': 1, 'wrist': 9}).value(at), -0.97)


def test_all_joints_are_the_configurations_difference(small):
    generator = np.random.default_rng(3)
    for name, root in (('two_arms', 'freeflyer'), ('nested', 'fixed'), ('scara', 'planar'),
                       ('mimic_chain', 'freeflyer'), ('all_fixed', 'fixed')):
        robot = small(name, root)
        reference, at = (Configuration(robot, robot.random_q(generator)) for _ in range(2))
        for given in (reference.q, reference.joints):
            function = JointPositions(None, given, wrap=False)
            np.testing.assert_allclose(function.value(at), reference.difference(at), atol=1e-12)
            assert not np.any(JointPositions(None, given).value(reference))


def test_without_reference_a_floating_joint_is_at_the_origin(small):
    robot = small('one_link', 'freeflyer')
    function = JointPositions()
    np.testing.assert_array_equal(function.value(Configuration(robot)), np.zeros(6))
    at = Configuration(robot, [1, 2, 3, 0, 0, 0, 2])
    np.testing.assert_allclose(function.value(at), [1, 2, 3, 0, 0, 0])


def test_mimic_joints_are_refused(small):
    with pytest.raises(InvalidConstraintError, match="joint 'b' mimics 'a': name that one"):
        JointPositions(['d', 'b']).bind(small('mimic_chain'))
    at = Configuration(small('mimic_chain'), {'a': 0.6, 'd': 1})
    np.testing.assert_allclose(JointPositions(None, {'a': 0.1, 'c': 7}).value(at), [0.5, 1])


@pytest.mark.parametrize('value, reference, difference', [
    (3.1, -3.1, 6.2 - 2 * np.pi), (20 * np.pi + 0.3, 0.1, 0.2), (-5, 5, 4 * np.pi - 10),
    (np.pi, 0, np.pi), (-np.pi, 0, np.pi), (0, np.pi, np.pi)])
def test_short_way_round(small, value, reference, difference):
    """With its sign, which MoveIt's JointConstraint loses; half a turn is pi."""
    at = Configuration(small('turntable'), [value, 0])
    function = JointPositions(['table'], [reference])
    assert function.value(at) == pytest.approx(difference)
    turns = JointPositions(['table'], [reference], wrap=False)
    assert turns.value(at) == pytest.approx(value - reference)
    for either in (function, turns):
        np.testing.assert_array_equal(either.jacobian(at), [[1, 0]])


def test_what_wraps(small):
    """Continuous joints, not limited ones."""
    at = Configuration(small('turntable'), [5, 100])
    np.testing.assert_allclose(JointPositions(['table', 'pole']).value(at), [5 - 2 * np.pi, 100])
    at = Configuration(small('scara'), [0, 0, 0, 6])
    np.testing.assert_allclose(JointPositions(['wrist']).value(at), [6])


def test_labels_get_units_from_the_robot(small):
    """Nothing is learnt from a robot in passing: what it is of one is another object."""
    function = JointPositions(['wrist', 'lift'])
    bound = function.bind(small('scara'))
    assert bound.joints(small('scara')) == {'wrist', 'lift'} and function.labels == ()
    assert bound.labels == ('wrist [rad]', 'lift [m]') and bound.spec is function
    assert JointPositions().bind(small('nested')).labels == (
        'lift [m]', 'drive x [m]', 'drive y [m]', 'drive theta [rad]', 'arm [rad]', 'fly x [m]',
        'fly y [m]', 'fly z [m]', 'fly rx [rad]', 'fly ry [rad]', 'fly rz [rad]', 'hook [rad]')
    assert str(bound) == 'joint_positions of wrist, lift'


def test_a_bound_one_is_bound_anew_to_another_robot(small):
    bound = JointPositions(['table'], [0.5]).bind(small('turntable'))
    other = small('turntable', 'freeflyer')
    again = bound.bind(other)
    assert bound.bind(small('turntable')) is bound and again.spec is bound.spec
    assert again.evaluate(Configuration(other))[1].shape == (1, other.nv)


@pytest.mark.parametrize('names, reference', [
    ('wrist', None), ([], None), ([3], None), (['a', 'a'], None), (['a'], 'x'),
    (['a'], [np.nan]), (['a'], {'a': None})])
def test_bad_arguments(names, reference):
    with pytest.raises(InvalidConstraintError):
        JointPositions(names, reference)


@pytest.mark.parametrize('names, reference, error', [
    (['wirst'], None, UnknownJointError), (['wrist'], {'wirst': 1}, UnknownJointError),
    (None, {3: 1}, UnknownJointError), (['wrist'], [1, 2], InvalidConstraintError),
    (None, [1, 2], InvalidConstraintError), (['wrist'], {'wrist': [1, 2]}, InvalidStateError)])
def test_what_does_not_fit_the_robot(small, names, reference, error):
    function = JointPositions(names, reference)
    with pytest.raises(error):
        function.joints(small('scara'))


def test_references_with_a_quaternion_of_zeros(small):
    with pytest.raises(InvalidStateError, match='norm zero'):
        JointPositions(None, np.zeros(7)).joints(small('one_link', 'freeflyer'))
