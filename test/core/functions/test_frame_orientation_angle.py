"""Orientation of a frame against a reference as one angle, and as a chord for Drake's cost."""

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, FrameOrientation

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [(1, 0, 0), (0, 0, -1), (0.6, 0, -0.8), (0.36, 0.48, 0.8)]


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


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
def test_length_and_slope_of_the_chord(at, angle, axis):
    R = at.transform('body')[:3, :3]
    reference = R @ Rotation.from_rotvec(-angle * np.array(axis)).as_matrix()
    f, J = FrameOrientation('body', reference, form='chord').evaluate(at)
    ways = [f - 2 * np.sin(angle / 2) * np.array(axis)]
    if angle > 3.141:       # half a turn is its own opposite
        ways.append(f + 2 * np.sin(angle / 2) * np.array(axis))
    assert min(np.abs(way).max() for way in ways) < 1e-9
    along = J[:, 3:] @ np.array(axis)       # how a turn about the axis changes it
    assert np.linalg.norm(along) == pytest.approx(max(np.cos(angle / 2), 1e-3), abs=1e-9)
    assert np.linalg.norm(f @ J) == pytest.approx(
        np.linalg.norm(f) * max(np.cos(angle / 2), 1e-3), abs=1e-9)
