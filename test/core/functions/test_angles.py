"""Angles between vectors, of gaze, and of an orientation to a reference."""

import numpy as np
import pytest

from ros2_ik.core import AngleBetweenVectors, Configuration, GazeAngle

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, np.pi / 2, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0.36, 0.48, 0.8)]


def turned(at, other, angle, side=0):
    """Return a vector at an angle to `other`, and the unit vector perpendicular to `other`."""
    other = np.array(other, dtype=float)
    across = np.linalg.svd(other[None])[2][1 + side]
    vector = np.cos(angle) * other + np.sin(angle) * across
    return at.transform('body')[:3, :3].T @ vector, across


def moment(at, J):
    """Return the rotational rows of the Jacobian of a body in root axes."""
    np.testing.assert_array_equal(J[:, :3], 0)
    return J[:, 3:] @ at.transform('body')[:3, :3].T


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('other', AXES)
@pytest.mark.parametrize('side', [0, 1])
def test_angle_between_vectors_and_its_gradient(at, angle, other, side):
    """The gradient is a unit moment perpendicular to both; if parallel, any such moment."""
    vector, across = turned(at, other, angle, side)
    function = AngleBetweenVectors('body', vector, other)
    value, J = function.evaluate(at)
    assert value[0] == pytest.approx(angle, abs=1e-15, rel=1e-15 / max(angle, 1e-15) * 4)
    gradient = moment(at, J)[0]
    assert np.linalg.norm(gradient) == pytest.approx(1)
    assert gradient @ other == pytest.approx(0, abs=1e-12)
    if 1e-12 < angle < np.pi - 1e-12:
        np.testing.assert_allclose(gradient, np.cross(other, across), atol=1e-7)
    np.testing.assert_array_equal(function.jacobian(at), J)


ORIGIN = np.array((0.1, -0.2, 0.05))


@pytest.fixture
def at_origin(small):
    """Return a free body at the origin: its axes are those of the root."""
    return Configuration(small('one_link', 'freeflyer'), [0, 0, 0, 0, 0, 0, 1])


def seen(axis, angle, distance):
    """Return the ray to a target at an angle, and the unit vector towards which it is rotated."""
    axis = np.array(axis, dtype=float)
    across = np.linalg.svd(axis[None])[2][1]
    return distance * (np.cos(angle) * axis + np.sin(angle) * across), across


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('distance', [0.01, 2])
def test_gaze_angle_and_its_gradient(at_origin, angle, axis, distance):
    """A translation of d perpendicular to the ray rotates it by d / distance."""
    ray, across = seen(axis, angle, distance)
    function = GazeAngle('body', ORIGIN, axis, ORIGIN + ray)
    value, J = function.evaluate(at_origin)
    assert value[0] == pytest.approx(angle, abs=1e-13)
    force = J[0, :3]
    assert np.linalg.norm(force) == pytest.approx(1 / distance)
    assert force @ ray == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(J[0, 3:], np.cross(ORIGIN + ray, force), atol=1e-12)
    if 1e-12 < angle < np.pi - 1e-12:
        outward = np.cos(angle) * across - np.sin(angle) * np.array(axis)
        np.testing.assert_allclose(force * distance, -outward, atol=1e-6)
    np.testing.assert_array_equal(function.jacobian(at_origin), J)
