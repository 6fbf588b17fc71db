"""Derivatives of functions of a configuration, by differences."""

from judge import step
import numpy as np

from ros2_ik.core import Configuration


def jacobian_by_differences(function, robot, q, h=1e-6):
    """Differentiate the value by central differences in the tangent space, (m, nv)."""
    def value(v):
        return function.value(Configuration(robot, step(robot, q, v), robot.scratch_data()))
    return np.array([(value(v) - value(-v)) / (2 * h) for v in np.eye(robot.nv) * h]).T


def check_jacobian(function, robot, q, atol=1e-7, h=1e-6):
    """Hold value and Jacobian against each other and against central differences."""
    at = Configuration(robot, q)
    f, J = function.evaluate(at)
    assert J.shape == (len(f), robot.nv) and len(function.bind(robot).labels) == len(f)
    expected = jacobian_by_differences(function, robot, q, h).reshape(J.shape)
    np.testing.assert_allclose(J, expected, atol=atol)
    np.testing.assert_array_equal(function.value(at), f)
    np.testing.assert_array_equal(function.jacobian(at), J)
    names = {joint.name for joint in robot.joints if J[:, joint.velocity_index:][
        :, :joint.velocity_size].any()}
    assert names <= function.joints(robot) <= set(robot.joint_names)


def robots_with_frames(load, small):
    """Give robots of many kinds, each with two of its frames."""
    return [(load('panda'), 'panda_hand', 'panda_link3'),
            (load('baxter'), 'left_gripper', 'right_gripper'),
            (small('two_arms', 'freeflyer'), 'left_hand', 'right_hand'),
            (small('one_joint'), 'tip', 'base'),
            (small('mimic_chain'), 'tip', 'lb'),
            (small('turntable'), 'tip', 'wheel'),
            (small('fingers'), 'left_tip', 'right_tip'),
            (small('nested'), 'tip', 'cart'),
            (small('gantry'), 'tip', 'a')]
