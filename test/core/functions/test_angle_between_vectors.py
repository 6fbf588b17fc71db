"""The angle between two vectors, and the deviation behind it."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    AngleBetweenVectors,
    Configuration,
    InvalidConstraintError,
)

ANGLES = [0, 1e-12, 1e-8, 1e-4, 0.3, np.pi / 2, 3, np.pi - 1e-4, np.pi - 1e-8, np.pi]
AXES = [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0.36, 0.48, 0.8)]
KINDS = [AngleBetweenVectors, partial(AngleBetweenVectors, form='vector')]


def turned(at, other, angle, side=0):
    """Give a vector of the body at an angle from `other`, and the unit vector it is turned to."""
    other = np.array(other, dtype=float)
    across = np.linalg.svd(other[None])[2][1 + side]
    vector = np.cos(angle) * other + np.sin(angle) * across
    return at.transform('body')[:3, :3].T @ vector, across


def moment(at, J):
    """Give the rows of a body's Jacobian as moments in the root frame's axes."""
    np.testing.assert_array_equal(J[:, :3], 0)
    return J[:, 3:] @ at.transform('body')[:3, :3].T


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('other', AXES)
@pytest.mark.parametrize('side', [0, 1])
def test_angle_and_gradient(at, angle, other, side):
    """The gradient is a unit moment at right angles to both; parallel, it is one of those."""
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


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('other', AXES)
def test_alignment_is_zero_only_when_parallel(at, angle, other):
    vector, across = turned(at, other, angle)
    function = AngleBetweenVectors('body', vector, other, form='vector')
    value, J = function.evaluate(at)
    assert np.linalg.norm(value) == pytest.approx(angle, abs=1e-15)
    assert np.isfinite(J).all() and np.abs(J).max() < 4e3
    rows = moment(at, J)
    if 1e-12 < angle < np.pi - 1e-12:   # along the value: the gradient of the angle
        np.testing.assert_allclose(value / angle @ rows, np.cross(other, across), atol=1e-7)
    if angle < 1e-6:                    # smooth at the solution: two perpendicular unit moments
        np.testing.assert_allclose(rows @ rows.T, np.eye(2), atol=1e-6)
    np.testing.assert_array_equal(function.jacobian(at), J)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('other', AXES)
def test_there_is_a_way_from_antiparallel(at, kind, other):
    """Gauss-Newton steps of at most 0.7 rad."""
    function = kind('body', turned(at, other, np.pi)[0], other)
    for _ in range(8):
        value, J = function.evaluate(at)
        step = -np.linalg.pinv(J, rcond=1e-12) @ value
        step *= min(1, 0.7 / (np.linalg.norm(step) + 1e-30))
        at = Configuration(at.robot, at.integrate(step))
    np.testing.assert_allclose(function.value(at), 0, atol=1e-9)


@pytest.mark.parametrize('kind', KINDS)
def test_lengths_do_not_matter(at, kind):
    expected = kind('body', (1, 2, 3), (0.1, 0, 0.3)).value(at)
    for a, b in ((1e-6, 1e6), (1e200, 1e300)):
        function = kind('body', np.array((1, 2, 3)) * a, np.array((0.1, 0, 0.3)) * b)
        np.testing.assert_allclose(function.value(at), expected, atol=1e-14)


def test_deviation_turns_the_vector_back(load):
    """Along two fixed axes at right angles to the other vector: for z, these are x and y."""
    at = Configuration(load('panda'), load('panda').random_q(np.random.default_rng(0)))
    R = at.transform('panda_hand', 'panda_link4')[:3, :3]
    f = AngleBetweenVectors('panda_hand', (0, 0.6, 0.8), (0, 0, 1), 'panda_link4',
                            form='vector').value(at)
    turn = Rotation.from_rotvec((f[1], -f[0], 0))
    np.testing.assert_allclose(turn.apply(R @ (0, 0.6, 0.8)), (0, 0, 1), atol=1e-14)


@pytest.mark.parametrize('name', ['vector', 'other_vector'])
@pytest.mark.parametrize('given, words', [
    ((1e-12, 0, 0), ['length zero']), ((1, 0), ['3 finite numbers']), ((np.nan, 0, 1), ['nan']),
    ('z', ["'z'"])])
def test_what_is_no_vector(name, given, words):
    arguments = {'vector': (0, 0, 1), 'other_vector': (0, 0, 1), name: given}
    with pytest.raises(InvalidConstraintError) as caught:
        AngleBetweenVectors('body', **arguments)
    for word in (name, *words):
        assert word in str(caught.value)


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('other', AXES)
def test_length_and_slope_of_the_chord(at, angle, other):
    other = np.array(other, dtype=float)
    across = np.linalg.svd(other[None])[2][1]
    wanted = np.cos(angle) * other + np.sin(angle) * across
    f, J = AngleBetweenVectors('body', at.transform('body')[:3, :3].T @ wanted * 3,
                               other * 5, form='chord').evaluate(at)
    np.testing.assert_allclose(f, wanted - other, atol=1e-12)
    slope = f @ J[:, 3:]
    length = 2 * np.sin(angle / 2)
    assert np.linalg.norm(slope) == pytest.approx(length * max(np.cos(angle / 2), 1e-3), abs=1e-9)
