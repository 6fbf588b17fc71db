"""UserFunction: a Python callable as kinematic function."""

import numpy as np
import pytest

from ros2_ik.core import Configuration, FramePosition, UserFunction
from ros2_ik.core.errors import InvalidConstraintError, UnknownJointError


def tip(at):
    return at.transform('tip')[:3, 3]


def tip_jacobian(at):
    return at.transform('tip')[:3, :3] @ at.jacobian('tip')[:3]


LABELS = ('x [m]', 'y [m]', 'z [m]')


@pytest.mark.parametrize('name, root', [('mimic_chain', 'freeflyer'), ('nested', 'planar')])
def test_user_function_has_the_value_and_jacobian_of_the_callable(small, name, root):
    robot = small(name, root)
    q = robot.random_q(np.random.default_rng(0))
    at, position = Configuration(robot, q), FramePosition('tip')
    for function in (UserFunction(tip, LABELS), UserFunction(tip, LABELS, tip_jacobian)):
        np.testing.assert_array_equal(function.value(at), position.value(at))
        np.testing.assert_allclose(function.jacobian(at), position.jacobian(at), atol=1e-8)
        np.testing.assert_array_equal(at.q, q)


def test_callable_of_a_user_function_may_reuse_its_result_array(small):
    buffer = np.zeros(3)

    def tip_in_buffer(at):
        buffer[:] = tip(at)
        return buffer
    at = Configuration(small('scara'))
    np.testing.assert_allclose(UserFunction(tip_in_buffer, 3).jacobian(at),
                               FramePosition('tip').jacobian(at), atol=1e-9)


@pytest.mark.parametrize('result, message', [
    ((1, 2), r"value of user function 'odd' must be of shape \(3,\), not \(2,\)"),
    (1, r'of shape \(3,\), not \(\)'), (np.zeros((3, 1)), 'shape'),
    (None, "'odd' is None; is a return"), ('abc', "'odd' must be"),
    ((1, 2, np.nan), "'odd' is not finite"), ((1j, 2, 3), "'odd'")])
def test_malformed_values_of_a_user_function_are_refused(small, result, message):
    at = Configuration(small('scara'))
    with pytest.raises(InvalidConstraintError, match=message):
        UserFunction(lambda at: result, 3, name='odd').value(at)
    with pytest.raises(InvalidConstraintError, match=message):
        UserFunction(lambda at: result, 3, name='odd').jacobian(at)


@pytest.mark.parametrize('result, message', [
    (np.zeros((3, 5)), r"Jacobian of user function 'odd' must be of shape \(3, 4\)"),
    (np.full((3, 4), np.nan), 'Jacobian .* not finite'), (None, 'Jacobian')])
def test_malformed_jacobians_of_a_user_function_are_refused(small, result, message):
    function = UserFunction(tip, 3, lambda at: result, name='odd')
    with pytest.raises(InvalidConstraintError, match=message):
        function.jacobian(Configuration(small('scara')))


def test_malformed_arguments_of_a_user_function_are_refused(small):
    for arguments in ((None,), ('tip',), (tip, 0), (tip, -1), (tip, True), (tip, []), (tip, 'x'),
                      (tip, [3]), (tip, ['x', 'x']), (tip, 2.5), (tip, 3, 'J'),
                      (tip, 3, None, []), (tip, 3, None, 'elbow')):
        with pytest.raises(InvalidConstraintError):
            UserFunction(*arguments)
    with pytest.raises(UnknownJointError):
        UserFunction(tip, 3, joints=['elbwo']).joints(small('scara'))
