"""The angle between the orientation of a frame and a reference."""

from judge import pose
import numpy as np
import pytest

from ros2_ik.core import Configuration, FrameOrientation

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [*np.eye(3), *-np.eye(3), (0.6, 0, -0.8), (0.36, 0.48, 0.8)]


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
def test_value_and_gradient_for_all_angles(at, angle, axis):
    """The gradient is a unit vector along the axis, at 0 and pi the same one each time."""
    offset = at.transform('body').T @ pose(rotvec=np.array(axis) * angle)
    offset[:, 3] = offset[3] = (0, 0, 0, 1)
    function = FrameOrientation('body', offset=offset, form='angle')
    value, J = function.evaluate(at)
    assert value[0] == pytest.approx(angle, abs=1e-11)
    assert 0 <= value[0] <= np.pi
    np.testing.assert_array_equal(J[0, :3], 0)
    gradient = at.transform('body')[:3, :3] @ J[0, 3:]
    assert np.linalg.norm(gradient) == pytest.approx(1)
    if angle == 0:
        np.testing.assert_allclose(gradient, (1, 0, 0), atol=1e-15)
    else:
        along = gradient @ axis if angle < np.pi - 1e-9 else abs(gradient @ axis)
        assert along == pytest.approx(1, abs=1e-6)
    np.testing.assert_array_equal(function.jacobian(at), J)


def test_a_step_along_the_gradient_leaves_half_a_turn(at):
    function = FrameOrientation('body', at.transform('body') @ pose(rotvec=(0, np.pi, 0)),
                                form='angle')
    there = Configuration(at.robot, at.integrate(-0.2 * function.jacobian(at)[0]))
    assert function.value(there)[0] == pytest.approx(np.pi - 0.2)


def test_a_step_along_the_gradient_meets_exactly_pi(at):
    function = FrameOrientation('body', at.transform('body') @ pose(rotvec=(0.5, 2.5, 1)),
                                form='angle')
    value, J = function.evaluate(at)
    there = Configuration(at.robot, at.integrate((np.pi - value[0]) * J[0]))
    assert function.value(there)[0] == pytest.approx(np.pi, abs=1e-12)


def test_exactly_zero_is_a_frame_orientation(at):
    reference, offset = pose(rotvec=(0.4, -0.3, 0.9)), pose(rotvec=(0.1, 0.2, 0.3))
    form = FrameOrientation('body', reference, 'root', offset, form='angle').equality_form(
        np.array([-1.0]), np.zeros(1))
    assert isinstance(form, FrameOrientation)
    assert (form.frame, form.relative_to) == ('body', 'root')
    np.testing.assert_allclose(form.reference, reference[:3, :3], atol=1e-15)
    np.testing.assert_allclose(form.offset, offset[:3, :3], atol=1e-15)
