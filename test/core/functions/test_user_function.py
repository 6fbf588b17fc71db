"""A function that a user brings along."""


from differences import check_jacobian
import numpy as np
import pytest

from ros2_ik.core import (
    Configuration,
    FramePosition,
    InvalidConstraintError,
    UnknownJointError,
    UserFunction,
)


def tip(at):
    return at.transform('tip')[:3, 3]


def tip_jacobian(at):
    return at.transform('tip')[:3, :3] @ at.jacobian('tip')[:3]


def height(at):
    return tip(at)[2]


LABELS = ('x [m]', 'y [m]', 'z [m]')


@pytest.mark.parametrize('name, root', [('mimic_chain', 'freeflyer'), ('nested', 'planar')])
def test_value_and_jacobian(small, name, root):
    robot = small(name, root)
    q = robot.random_q(np.random.default_rng(0))
    at, position = Configuration(robot, q), FramePosition('tip')
    for function in (UserFunction(tip, LABELS), UserFunction(tip, LABELS, tip_jacobian)):
        np.testing.assert_array_equal(function.value(at), position.value(at))
        np.testing.assert_allclose(function.jacobian(at), position.jacobian(at), atol=1e-8)
        check_jacobian(function, robot, q)
        np.testing.assert_array_equal(at.q, q)


def test_no_joints(small):
    at = Configuration(small('all_fixed'))
    assert UserFunction(tip, 3).jacobian(at).shape == (3, 0)


def test_only_some_joints(small):
    """The others have no columns, whether that is true or not."""
    robot = small('scara')
    at = Configuration(robot, [0.1, 0.2, 0, 0])
    function = UserFunction(tip, 3, joints=['elbow', 'lift'])
    assert function.joints(robot) == {'elbow', 'lift'}
    J = FramePosition('tip').jacobian(at)
    J[:, [0, 3]] = 0
    np.testing.assert_allclose(function.jacobian(at), J, atol=1e-9)
    assert UserFunction(tip, 3).joints(robot) == set(robot.joint_names)


def test_one_number(small):
    at = Configuration(small('scara'))
    for function in (UserFunction(height), UserFunction(lambda at: [height(at)], 1),
                     UserFunction(height, ['height [m]'])):
        np.testing.assert_allclose(function.value(at), [0.3])
        assert function.jacobian(at).shape == (1, 4)


def test_results_in_one_buffer(small):
    """A callable may write into the same array each time."""
    buffer = np.zeros(3)

    def reused(at):
        buffer[:] = tip(at)
        return buffer
    at = Configuration(small('scara'))
    np.testing.assert_allclose(UserFunction(reused, 3).jacobian(at),
                               FramePosition('tip').jacobian(at), atol=1e-9)


def test_names():
    assert UserFunction(tip, 2).labels == ('tip 0', 'tip 1')
    assert UserFunction(height).labels == ('height',)
    assert UserFunction(height, name='up').labels == ('up',)
    assert UserFunction(tip, LABELS).labels == LABELS
    assert str(UserFunction(tip, LABELS)) == 'user_function tip'


@pytest.mark.parametrize('result, words', [
    ((1, 2), r"value of user function 'odd' must be of shape \(3,\), not \(2,\)"),
    (1, r'of shape \(3,\), not \(\)'), (np.zeros((3, 1)), 'shape'),
    (None, "'odd' is None: does it return"), ('abc', "'odd' must be"),
    ((1, 2, np.nan), "'odd' is not finite"), ((1j, 2, 3), "'odd'")])
def test_bad_results(small, result, words):
    at = Configuration(small('scara'))
    with pytest.raises(InvalidConstraintError, match=words):
        UserFunction(lambda at: result, 3, name='odd').value(at)
    with pytest.raises(InvalidConstraintError, match=words):
        UserFunction(lambda at: result, 3, name='odd').jacobian(at)


@pytest.mark.parametrize('result, words', [
    (np.zeros((3, 5)), r"Jacobian of user function 'odd' must be of shape \(3, 4\)"),
    (np.full((3, 4), np.nan), 'Jacobian .* not finite'), (None, 'Jacobian')])
def test_bad_jacobians(small, result, words):
    function = UserFunction(tip, 3, lambda at: result, name='odd')
    with pytest.raises(InvalidConstraintError, match=words):
        function.jacobian(Configuration(small('scara')))


def test_errors_of_the_callable_pass_through(small):
    def broken(at):
        raise KeyError('mine')
    at = Configuration(small('scara'))
    with pytest.raises(KeyError, match='mine'):
        UserFunction(broken).jacobian(at)
    with pytest.raises(KeyError, match='mine'):
        UserFunction(tip, 3, broken).jacobian(at)


def test_bad_arguments(small):
    for arguments in ((None,), ('tip',), (tip, 0), (tip, -1), (tip, True), (tip, []), (tip, 'x'),
                      (tip, [3]), (tip, ['x', 'x']), (tip, 2.5), (tip, 3, 'J'),
                      (tip, 3, None, []), (tip, 3, None, 'elbow')):
        with pytest.raises(InvalidConstraintError):
            UserFunction(*arguments)
    with pytest.raises(UnknownJointError):
        UserFunction(tip, 3, joints=['elbwo']).joints(small('scara'))
