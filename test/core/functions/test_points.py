"""Distances of points to points, lines, planes and regions."""

import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import (
    Configuration,
    Mesh,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    region_surfaces,
    RegionDistance,
    Robot,
)
from ros2_ik.core.errors import InvalidConstraintError

P, Q, N = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (0.5, 1, -0.3)
LINES = [(1, 0, 0), (0, 0, -1), (1, 1, 1), (1e-12, 0, -1), (1e150, -2e150, 0), (0, 3e-8, 0)]


def test_point_distances_equal_closed_forms(hand):
    at, relative, T = hand
    offset = T[:3, :3] @ P + T[:3, 3] - Q
    np.testing.assert_allclose(PointToPointDistance('panda_hand', P, Q, relative).value(at),
                               [np.linalg.norm(offset)], atol=1e-9)
    for line in LINES:
        n = np.array(line) / np.abs(line).max()
        np.testing.assert_allclose(
            PointToLineDistance('panda_hand', P, Q, line, relative).value(at),
            [np.linalg.norm(np.cross(n, offset)) / np.linalg.norm(n)], atol=1e-9)
    height = N @ offset / np.linalg.norm(N)
    for normal, expected in ((N, height), (-1e100 * np.array(N), -height)):
        np.testing.assert_allclose(PointToPlane('panda_hand', P, Q, normal, relative).value(at),
                                   [expected], atol=1e-9)


DRAKE_FUNCTIONS = {
    'PointToPointDistanceConstraint': lambda a: PointToPointDistance(
        a['frame1'], a['p_B1P1'], a['p_B2P2'], a['frame2']),
    'PointToLineDistanceConstraint': lambda a: PointToLineDistance(
        a['frame_point'], a['p_B1P'], a['p_B2Q'], a['n_B2'])}    # the line is in the world


@pytest.mark.parametrize('kind', DRAKE_FUNCTIONS)
def test_point_distances_equal_those_of_drake(kind):
    rows = drake(kind)
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        distance, J = DRAKE_FUNCTIONS[kind](args).evaluate(at)
        np.testing.assert_allclose(distance**2, value, atol=1e-9)
        np.testing.assert_allclose(2 * distance * J, gradient, atol=1e-9)


@pytest.mark.parametrize('separation', [0, 1e-300, 1e-170, 1e-14, 1e-9])
def test_gradient_of_a_point_distance_has_norm_one_if_points_coincide(small, separation):
    """Its direction is arbitrary."""
    at = Configuration(small('gantry'))
    other = at.transform('tip')[:3, 3] + [0, separation, 0]
    function = PointToPointDistance('tip', (0, 0, 0), other)
    value, J = function.evaluate(at)
    assert value == pytest.approx(separation, abs=1e-15)
    assert np.linalg.norm(J) == pytest.approx(1)
    np.testing.assert_array_equal(J, function.jacobian(at))
    if separation < 1e-12:
        np.testing.assert_allclose(J, [[1, 0, 0]], atol=1e-15)


def test_polyhedron_values_equal_those_of_drake():
    rows = drake('PolyhedronConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        assert args['frameF'] == 'world'
        function = Polyhedron(args['frameG'], args['p_GP_columns'], args['A'])
        f, J = function.evaluate(at)
        np.testing.assert_allclose(f, value, atol=1e-9)
        np.testing.assert_allclose(J, gradient, atol=1e-9)


def test_polyhedron_with_wrong_columns_and_flat_region_are_refused():
    with pytest.raises(InvalidConstraintError, match='rows of 6 numbers, 3 for each of 2 points'):
        Polyhedron('tip', [P, Q], [[1, 0, 0]])
    with pytest.raises(InvalidConstraintError, match='a flat Mesh has no volume'):
        region_surfaces([(Mesh([P, Q, N], [[0, 1, 2]]), None)])


@pytest.mark.parametrize('kind', [1, 2])
@pytest.mark.parametrize('axis', [(1, 1, 1), (0, 0, 1), (1, 1, 0)])
def test_gradient_of_a_region_distance_is_finite_on_the_axis(kind, axis):
    robot = Robot.load('panda')
    at = Configuration(robot)
    point = at.transform('panda_hand')[:3, 3]
    function = RegionDistance('panda_hand', [0, 0, 0], [[0, kind, *point, *axis, 0.3]])
    f, J = function.bind(robot).evaluate(at)
    assert np.isfinite(f).all() and np.isfinite(J).all() and np.abs(J).max() > 1e-3
