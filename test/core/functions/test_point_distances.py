"""Distances of a point of a frame from a point, a line and a plane."""

import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import (
    Configuration,
    FramePosition,
    InvalidConstraintError,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
)

P, Q, N, ZERO = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (0.5, 1, -0.3), np.zeros(1)
LINES = [(1, 0, 0), (0, 0, -1), (1, 1, 1), (1e-12, 0, -1), (1e150, -2e150, 0), (0, 3e-8, 0)]


def test_values(hand):
    at, relative, T = hand
    away = T[:3, :3] @ P + T[:3, 3] - Q
    np.testing.assert_allclose(PointToPointDistance('panda_hand', P, Q, relative).value(at),
                               [np.linalg.norm(away)], atol=1e-9)
    for line in LINES:
        n = np.array(line) / np.abs(line).max()
        np.testing.assert_allclose(
            PointToLineDistance('panda_hand', P, Q, line, relative).value(at),
            [np.linalg.norm(np.cross(n, away)) / np.linalg.norm(n)], atol=1e-9)
    height = N @ away / np.linalg.norm(N)
    for normal, wanted in ((N, height), (-1e100 * np.array(N), -height)):
        np.testing.assert_allclose(PointToPlane('panda_hand', P, Q, normal, relative).value(at),
                                   [wanted], atol=1e-9)


DRAKE = {
    'PointToPointDistanceConstraint': lambda a: PointToPointDistance(
        a['frame1'], a['p_B1P1'], a['p_B2P2'], a['frame2']),
    'PointToLineDistanceConstraint': lambda a: PointToLineDistance(
        a['frame_point'], a['p_B1P'], a['p_B2Q'], a['n_B2'])}    # the line is in the world


@pytest.mark.parametrize('kind', DRAKE)
def test_as_drake(kind):
    """Drake squares the distance."""
    rows = drake(kind)
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        distance, J = DRAKE[kind](args).evaluate(at)
        np.testing.assert_allclose(distance**2, value, atol=1e-9)
        np.testing.assert_allclose(2 * distance * J, gradient, atol=1e-9)


@pytest.mark.parametrize('off', [0, 1e-300, 1e-170, 1e-14, 1e-9])
def test_points_that_coincide(small, off):
    """The way apart has length one, whatever the distance is."""
    at = Configuration(small('gantry'))
    other = at.transform('tip')[:3, 3] + [0, off, 0]
    function = PointToPointDistance('tip', (0, 0, 0), other)
    value, J = function.evaluate(at)
    assert value == pytest.approx(off, abs=1e-15)
    assert np.linalg.norm(J) == pytest.approx(1)
    np.testing.assert_array_equal(J, function.jacobian(at))
    if off < 1e-12:
        np.testing.assert_allclose(J, [[1, 0, 0]], atol=1e-15)


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


def test_on_the_plane(small):
    """Smooth there, so that it serves as it is."""
    at = Configuration(small('gantry'))
    function = PointToPlane('tip', (0, 0, 0), at.transform('tip')[:3, 3], (0, 0, 2))
    value, J = function.evaluate(at)
    np.testing.assert_allclose(value, [0], atol=1e-15)
    np.testing.assert_allclose(J, [[0, 0, -1]], atol=1e-15)   # this slide points down
    assert function.equality_form(ZERO, ZERO) is None


def test_equality_form_of_a_point(small):
    at = Configuration(small('scara'))
    there = at.transform('tip')[:3, 3]
    form = PointToPointDistance('tip', (0, 0, 0), there).equality_form(ZERO, ZERO)
    assert isinstance(form, FramePosition)
    np.testing.assert_allclose(form.value(at), np.zeros(3), atol=1e-15)
    assert np.linalg.norm(form.jacobian(at)) > 0.1
    other = PointToPointDistance('tip', P, Q, 'base')
    form = other.equality_form(-np.full(1, np.inf), ZERO)
    np.testing.assert_allclose(np.linalg.norm(form.value(at)), other.value(at)[0])


@pytest.mark.parametrize('line', LINES)
def test_equality_form_of_a_line(small, line):
    """Two rows across the line: as long as the distance, the slides along the line are free."""
    at = Configuration(small('gantry'), [0.1, 0.7, -0.2])
    function = PointToLineDistance('tip', P, Q, line, 'base')
    form = function.equality_form(ZERO, ZERO)
    value, J = form.evaluate(at)
    assert value.shape == (2,)
    assert np.linalg.norm(value) == pytest.approx(function.value(at)[0])
    np.testing.assert_allclose(J @ J.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize('make, words', [
    (lambda bad: PointToPointDistance('tip', bad, Q), '^point must be 3 finite numbers'),
    (lambda bad: PointToPointDistance('tip', P, bad), '^other_point must be 3 finite numbers'),
    (lambda bad: PointToLineDistance('tip', bad, Q, N), '^point must be'),
    (lambda bad: PointToLineDistance('tip', P, bad, N), '^line_point must be'),
    (lambda bad: PointToLineDistance('tip', P, Q, bad), '^line_direction must be'),
    (lambda bad: PointToPlane('tip', bad, Q, N), '^point must be'),
    (lambda bad: PointToPlane('tip', P, bad, N), '^plane_point must be'),
    (lambda bad: PointToPlane('tip', P, Q, bad), '^normal must be')])
def test_bad_vectors(make, words):
    for bad in (None, 'x', (1, 2), (1, 2, np.nan), ((1, 2, 3),)):
        with pytest.raises(InvalidConstraintError, match=words):
            make(bad)


def test_directions_of_length_zero():
    with pytest.raises(InvalidConstraintError, match='line_direction has length zero'):
        PointToLineDistance('tip', P, Q, (0, 0, 0))
    with pytest.raises(InvalidConstraintError, match='normal has length zero'):
        PointToPlane('tip', P, Q, (0, 0, 0))
