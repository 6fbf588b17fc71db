"""Distances of points from points, lines, planes and regions; half spaces that points share."""

import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import (
    Configuration,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    RegionDistance,
    Robot,
)
from ros2_ik.core.errors import InvalidConstraintError

P, Q, N = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (0.5, 1, -0.3)
LINES = [(1, 0, 0), (0, 0, -1), (1, 1, 1), (1e-12, 0, -1), (1e150, -2e150, 0), (0, 3e-8, 0)]


def test_distances_by_closed_forms(hand):
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
def test_distances_as_drake(kind):
    """Drake squares the distance."""
    rows = drake(kind)
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        distance, J = DRAKE[kind](args).evaluate(at)
        np.testing.assert_allclose(distance**2, value, atol=1e-9)
        np.testing.assert_allclose(2 * distance * J, gradient, atol=1e-9)


@pytest.mark.parametrize('off', [0, 1e-300, 1e-170, 1e-14, 1e-9])
def test_gradient_has_length_one_where_points_coincide(small, off):
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


@pytest.mark.parametrize('make, words', [
    (lambda bad: PointToPointDistance('tip', bad, Q), '^point must be 3 finite numbers'),
    (lambda bad: PointToPointDistance('tip', P, bad), '^other_point must be 3 finite numbers'),
    (lambda bad: PointToLineDistance('tip', bad, Q, N), '^point must be'),
    (lambda bad: PointToLineDistance('tip', P, bad, N), '^line_point must be'),
    (lambda bad: PointToLineDistance('tip', P, Q, bad), '^line_direction must be'),
    (lambda bad: PointToPlane('tip', bad, Q, N), '^point must be'),
    (lambda bad: PointToPlane('tip', P, bad, N), '^plane_point must be'),
    (lambda bad: PointToPlane('tip', P, Q, bad), '^normal must be')])
def test_malformed_vectors_are_refused(make, words):
    for bad in (None, 'x', (1, 2), (1, 2, np.nan), ((1, 2, 3),)):
        with pytest.raises(InvalidConstraintError, match=words):
            make(bad)


def test_directions_of_length_zero_are_refused():
    with pytest.raises(InvalidConstraintError, match='line_direction has length zero'):
        PointToLineDistance('tip', P, Q, (0, 0, 0))
    with pytest.raises(InvalidConstraintError, match='normal has length zero'):
        PointToPlane('tip', P, Q, (0, 0, 0))


POINTS = [(0.02, 0, 0.1), (-0.03, 0.05, 0.12), (0, 0, 0)]
A = np.random.default_rng(5).normal(size=(4, 9))


def test_half_spaces_as_drake():
    rows = drake('PolyhedronConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        assert args['frameF'] == 'world'
        function = Polyhedron(args['frameG'], args['p_GP_columns'], args['A'])
        f, J = function.evaluate(at)
        np.testing.assert_allclose(f, value, atol=1e-9)
        np.testing.assert_allclose(J, gradient, atol=1e-9)


@pytest.mark.parametrize('points, A, words', [
    ([], np.eye(3), 'points must be rows of 3'), ((1, 2, 3), np.eye(3), 'points must be rows'),
    ([(1, 2, np.nan)], np.eye(3), 'points'), (POINTS, np.eye(3), 'A must be rows of 9'),
    (POINTS, np.zeros((0, 9)), 'A must be rows'), (POINTS, np.full((1, 9), np.inf), 'A must be'),
    (POINTS, 'A', 'A must be')])
def test_malformed_half_spaces_are_refused(points, A, words):
    with pytest.raises(InvalidConstraintError, match=words):
        Polyhedron('tip', points, A)


@pytest.mark.parametrize('kind', [1, 2, 3])
@pytest.mark.parametrize('axis', [(1, 1, 1), (0, 0, 1), (1, 1, 0)])
def test_gradient_of_a_region_is_finite_on_its_axis(kind, axis):
    robot = Robot.load('panda')
    at = Configuration(robot)
    point = at.transform('panda_hand')[:3, 3]
    function = RegionDistance('panda_hand', [0, 0, 0], [[0, kind, *point, *axis, 0.3]])
    f, J = function.bind(robot).evaluate(at)
    assert np.isfinite(f).all() and np.isfinite(J).all() and np.abs(J).max() > 1e-3
