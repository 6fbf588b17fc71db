"""AngleBetweenVectors and GazeAngle against closed forms."""

import numpy as np
import pytest

from ros2_ik.core import AngleBetweenVectors, Configuration, GazeAngle

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, np.pi / 2, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0.36, 0.48, 0.8)]


def vector_at_angle(other, angle, side=0):
    """Return a vector at an angle to `other`, and the unit vector towards which it deviates."""
    other = np.array(other, dtype=float)
    perpendicular = np.linalg.svd(other[None])[2][1 + side]
    return np.cos(angle) * other + np.sin(angle) * perpendicular, perpendicular


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('other', AXES)
@pytest.mark.parametrize('side', [0, 1])
def test_angle_between_vectors_and_gradient_equal_closed_forms(at, angle, other, side):
    """The gradient is a unit axis perpendicular to both vectors; any such axis if parallel."""
    vector, perpendicular = vector_at_angle(other, angle, side)
    rotation = at.transform('body')[:3, :3]
    function = AngleBetweenVectors('body', rotation.T @ vector, other)
    value, J = function.evaluate(at)
    assert value[0] == pytest.approx(angle, abs=1e-15, rel=1e-15 / max(angle, 1e-15) * 4)
    np.testing.assert_array_equal(J[:, :3], 0)
    gradient = rotation @ J[0, 3:]
    assert np.linalg.norm(gradient) == pytest.approx(1)
    assert gradient @ other == pytest.approx(0, abs=1e-12)
    if 1e-12 < angle < np.pi - 1e-12:
        np.testing.assert_allclose(gradient, np.cross(other, perpendicular), atol=1e-7)
    np.testing.assert_array_equal(function.jacobian(at), J)


CAMERA = np.array((0.1, -0.2, 0.05))    # position in the body [m]


@pytest.fixture
def at_origin(small):
    """Return a free body at the origin: its axes are those of the root."""
    return Configuration(small('one_link', 'freeflyer'), [0, 0, 0, 0, 0, 0, 1])


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('distance', [0.01, 2])
def test_gaze_angle_and_gradient_equal_closed_forms(at_origin, angle, axis, distance):
    """A translation by d perpendicular to the ray rotates the ray by d / distance."""
    ray, perpendicular = vector_at_angle(axis, angle)
    target = CAMERA + distance * ray
    function = GazeAngle('body', CAMERA, axis, target)
    value, J = function.evaluate(at_origin)
    assert value[0] == pytest.approx(angle, abs=1e-13)
    translational = J[0, :3]
    assert np.linalg.norm(translational) == pytest.approx(1 / distance)
    assert translational @ ray == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(J[0, 3:], np.cross(target, translational), atol=1e-12)
    if 1e-12 < angle < np.pi - 1e-12:
        outward = np.cos(angle) * perpendicular - np.sin(angle) * np.array(axis)
        np.testing.assert_allclose(translational * distance, -outward, atol=1e-6)
    np.testing.assert_array_equal(function.jacobian(at_origin), J)
