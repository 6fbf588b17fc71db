"""Gaze: the angle between a camera's axis and the ray to its target, and the deviation."""

from functools import partial

import numpy as np
import pytest

from ros2_ik.core import Configuration, GazeAngle, InvalidConstraintError

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, np.pi / 2, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0.36, 0.48, 0.8)]
VECTOR = partial(GazeAngle, form='vector')
KINDS = [GazeAngle, VECTOR]
ORIGIN = np.array((0.1, -0.2, 0.05))


@pytest.fixture
def at(small):
    """Give a free body at the root frame's origin: its axes are the root's."""
    return Configuration(small('one_link', 'freeflyer'), [0, 0, 0, 0, 0, 0, 1])


def seen(axis, angle, distance):
    """Give the ray to a target at an angle, and the unit vector across that it is turned to."""
    axis = np.array(axis, dtype=float)
    across = np.linalg.svd(axis[None])[2][1]
    return distance * (np.cos(angle) * axis + np.sin(angle) * across), across


def descend(function, at, steps=12):
    """Gauss-Newton steps of at most 0.7."""
    for _ in range(steps):
        value, J = function.evaluate(at)
        step = -np.linalg.pinv(J, rcond=1e-12) @ value
        step *= min(1, 0.7 / (np.linalg.norm(step) + 1e-30))
        at = Configuration(at.robot, at.integrate(step))
    return at


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('distance', [0.01, 2])
def test_angle_and_gradient(at, angle, axis, distance):
    """Moving across by d turns the ray by d / distance."""
    ray, across = seen(axis, angle, distance)
    function = GazeAngle('body', ORIGIN, axis, ORIGIN + ray)
    value, J = function.evaluate(at)
    assert value[0] == pytest.approx(angle, abs=1e-13)
    force = J[0, :3]
    assert np.linalg.norm(force) == pytest.approx(1 / distance)
    assert force @ ray == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(J[0, 3:], np.cross(ORIGIN + ray, force), atol=1e-12)
    if 1e-12 < angle < np.pi - 1e-12:
        outward = np.cos(angle) * across - np.sin(angle) * np.array(axis)
        np.testing.assert_allclose(force * distance, -outward, atol=1e-6)
    np.testing.assert_array_equal(function.jacobian(at), J)


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
def test_deviation_is_zero_only_straight_ahead(at, angle, axis):
    ray, _ = seen(axis, angle, 0.5)
    function = GazeAngle('body', ORIGIN, axis, ORIGIN + ray, form='vector')
    value, J = function.evaluate(at)
    assert np.linalg.norm(value) == pytest.approx(angle, abs=1e-13)
    assert np.isfinite(J).all() and np.abs(J).max() < 1e4
    if angle < 1e-6:                    # smooth at the solution
        np.testing.assert_allclose(J[:, :3] @ J[:, :3].T, np.eye(2) * 4, atol=1e-6)
    np.testing.assert_array_equal(function.jacobian(at), J)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('distance', [0, 1e-12, 1e-7, 0.5])
def test_there_is_a_way_from_behind(at, kind, axis, distance):
    """Target behind the camera, or in it."""
    function = kind('body', ORIGIN, axis, ORIGIN + seen(axis, np.pi, distance)[0])
    assert np.linalg.norm(function.value(at)) == pytest.approx(np.pi)
    np.testing.assert_allclose(function.value(descend(function, at)), 0, atol=1e-8)


@pytest.mark.parametrize('axis', AXES)
def test_target_at_the_origin(at, axis):
    """Counts as behind; the first step goes straight back."""
    for kind, value in ((GazeAngle, [np.pi]), (VECTOR, [np.pi, 0])):
        f, J = kind('body', ORIGIN, axis, ORIGIN).evaluate(at)
        np.testing.assert_array_equal(f, value)
        np.testing.assert_allclose(J[0, :3] / 1e3, axis, atol=1e-12)
        assert np.isfinite(J).all()
        np.testing.assert_array_equal(J[1:], 0)


@pytest.mark.parametrize('distance', [1e-8, 1e-5, 1e-3, 1, 1e6])
def test_any_distance(at, distance):
    """The gradient is bounded close by, and far away it is right."""
    value, J = GazeAngle('body', (0, 0, 0), (0, 0, 1), seen((0, 0, 1), 0.4, distance)[0]
                         ).evaluate(at)
    assert value[0] == pytest.approx(0.4)
    assert np.linalg.norm(J[0, :3]) == pytest.approx(1 / max(distance, 1e-3))
    assert np.isfinite(J).all()


def test_deviation_along_the_frames_axes(at):
    """For the axis z these are x and y: where the target stands in the picture."""
    f = GazeAngle('body', (0, 0, 0), (0, 0, 1), (3e-4, 4e-4, 1), form='vector').value(at)
    np.testing.assert_allclose(f, (3e-4, 4e-4), rtol=1e-6)


@pytest.mark.parametrize('name, given, words', [
    ('axis', (0, 0, 0), ['length zero']), ('axis', (0, np.nan, 1), ['nan']),
    ('origin', (0, 0), ['3 finite numbers']), ('target', None, ['None'])])
def test_bad_arguments(name, given, words):
    arguments = {'origin': (0, 0, 0), 'axis': (0, 0, 1), 'target': (1, 0, 0), name: given}
    with pytest.raises(InvalidConstraintError) as caught:
        GazeAngle('body', **arguments)
    for word in (name, *words):
        assert word in str(caught.value)
