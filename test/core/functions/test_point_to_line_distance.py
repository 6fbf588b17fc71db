"""The distance between a point and a line."""

from differences import check_jacobians
import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import Configuration, InvalidConstraintError, PointToLineDistance

P, Q, N, ZERO = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (0.5, 1, -0.3), np.zeros(1)
LINES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (-1, 0, 0), (1, 1, 1), (1e-12, 0, -1),
         (1e150, -2e150, 0), (0, 3e-8, 0)]


def test_as_drake():
    """Drake squares the distance."""
    rows = drake('PointToLineDistanceConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        assert args['frame_line'] == 'world'
        function = PointToLineDistance(args['frame_point'], args['p_B1P'], args['p_B2Q'],
                                       args['n_B2'])
        distance, J = function.evaluate(at)
        np.testing.assert_allclose(distance**2, value, atol=1e-9)
        np.testing.assert_allclose(2 * distance * J, gradient, atol=1e-9)


@pytest.mark.parametrize('line', LINES)
def test_value(hand, line):
    at, relative, T = hand
    away = T[:3, :3] @ P + T[:3, 3] - Q
    n = np.array(line) / np.abs(line).max()
    value = PointToLineDistance('panda_hand', P, Q, line, relative).value(at)
    np.testing.assert_allclose(value, [np.linalg.norm(np.cross(n, away)) / np.linalg.norm(n)],
                               atol=1e-9)


def test_jacobian(load, small):
    check_jacobians(load, small, lambda frame, other: PointToLineDistance(frame, P, Q, N, other))


@pytest.mark.parametrize('line', LINES)
def test_on_the_line(small, line):
    """The way off is across the line, of length one and always the same."""
    at = Configuration(small('gantry'))
    n = np.array(line) / np.linalg.norm(np.array(line) / np.abs(line).max()) / np.abs(line).max()
    on_line = at.transform('tip')[:3, 3] + 0.3 * n
    function = PointToLineDistance('tip', (0, 0, 0), on_line, line)
    value, J = function.evaluate(at)
    assert value == pytest.approx(0, abs=1e-15)
    np.testing.assert_array_equal(J, function.jacobian(at))
    assert np.linalg.norm(J) == pytest.approx(1)
    slides = np.diag([1, 1, -1])     # the third slide of the gantry points down
    assert (J @ slides @ n)[0] == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize('line', LINES)
def test_equality_form(small, line):
    """Two rows across the line: as long as the distance, the slides along the line are free."""
    at = Configuration(small('gantry'), [0.1, 0.7, -0.2])
    function = PointToLineDistance('tip', P, Q, line, 'base')
    form = function.equality_form(ZERO, ZERO)
    value, J = form.evaluate(at)
    assert value.shape == (2,)
    assert np.linalg.norm(value) == pytest.approx(function.value(at)[0])
    np.testing.assert_allclose(J @ J.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize('bounds', [(0, 1e-6), (0.5, 0.5), (0.1, np.inf)])
def test_no_equality_form_for_other_bounds(bounds):
    function = PointToLineDistance('tip', P, Q, N)
    assert function.equality_form(*np.array(bounds).reshape(2, 1)) is None


@pytest.mark.parametrize('arguments, words', [
    (((1, 2), Q, N), 'point must be'), ((P, (1, 2, np.nan), N), 'line_point must be'),
    ((P, Q, (0, 0, 0)), 'line_direction has length zero'),
    ((P, Q, (0, np.inf, 0)), 'line_direction must be'), ((P, Q, 'x'), 'line_direction must be')])
def test_bad_arguments(arguments, words):
    with pytest.raises(InvalidConstraintError, match=words):
        PointToLineDistance('tip', *arguments)
