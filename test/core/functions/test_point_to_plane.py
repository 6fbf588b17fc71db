"""The signed distance between a point and a plane."""

from differences import check_jacobians
import numpy as np
import pytest

from ros2_ik.core import Configuration, InvalidConstraintError, PointToPlane

P, Q, N = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (0.5, 1, -0.3)


def test_value(hand):
    at, relative, T = hand
    expected = np.dot(N, T[:3, :3] @ P + T[:3, 3] - Q) / np.linalg.norm(N)
    np.testing.assert_allclose(PointToPlane('panda_hand', P, Q, N, relative).value(at),
                               [expected], atol=1e-9)
    opposite = PointToPlane('panda_hand', P, Q, -1e100 * np.array(N), relative)
    np.testing.assert_allclose(opposite.value(at), [-expected], atol=1e-9)


def test_jacobian(load, small):
    check_jacobians(load, small, lambda frame, other: PointToPlane(frame, P, Q, N, other))


def test_on_the_plane(small):
    """Smooth there, so that it serves as it is."""
    at = Configuration(small('gantry'))
    function = PointToPlane('tip', (0, 0, 0), at.transform('tip')[:3, 3], (0, 0, 2))
    value, J = function.evaluate(at)
    np.testing.assert_allclose(value, [0], atol=1e-15)
    np.testing.assert_allclose(J, [[0, 0, -1]], atol=1e-15)   # this slide points down
    assert function.equality_form(np.zeros(1), np.zeros(1)) is None


@pytest.mark.parametrize('arguments, words', [
    (((1, 2), Q, N), 'point must be'), ((P, (1, 2, np.nan), N), 'plane_point must be'),
    ((P, Q, (0, 0, 0)), 'normal has length zero'), ((P, Q, (0, np.nan, 0)), 'normal must be'),
    ((P, Q, None), 'normal must be')])
def test_bad_arguments(arguments, words):
    with pytest.raises(InvalidConstraintError, match=words):
        PointToPlane('tip', *arguments)
