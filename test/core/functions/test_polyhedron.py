"""Half spaces that several points of a frame share."""

from differences import check_jacobians
import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import Configuration, FramePosition, InvalidConstraintError, Polyhedron

POINTS = [(0.02, 0, 0.1), (-0.03, 0.05, 0.12), (0, 0, 0)]
A = np.random.default_rng(5).normal(size=(4, 9))


def test_as_drake():
    rows = drake('PolyhedronConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        assert args['frameF'] == 'world'
        function = Polyhedron(args['frameG'], args['p_GP_columns'], args['A'])
        f, J = function.evaluate(at)
        np.testing.assert_allclose(f, value, atol=1e-9)
        np.testing.assert_allclose(J, gradient, atol=1e-9)


def test_value(hand):
    at, relative, T = hand
    expected = A @ np.concatenate([T[:3, :3] @ point + T[:3, 3] for point in POINTS])
    np.testing.assert_allclose(Polyhedron('panda_hand', POINTS, A, relative).value(at), expected,
                               atol=1e-9)


def test_jacobian(load, small):
    check_jacobians(load, small, lambda frame, other: Polyhedron(frame, POINTS, A, other))


def test_one_point_is_a_position(small):
    robot = small('two_arms')
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    one = Polyhedron('left_hand', POINTS[:1], np.eye(3), 'right_hand')
    other = FramePosition('left_hand', POINTS[0], 'right_hand')
    for mine, theirs in zip(one.evaluate(at), other.evaluate(at), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    assert one.labels == ('row 0 [m]', 'row 1 [m]', 'row 2 [m]')


def test_rows_of_zeros(small):
    value, J = Polyhedron('tip', POINTS, np.zeros((2, 9))).evaluate(Configuration(small('scara')))
    assert not value.any() and not J.any()


@pytest.mark.parametrize('points, A, words', [
    ([], np.eye(3), 'points must be rows of 3'), ((1, 2, 3), np.eye(3), 'points must be rows'),
    ([(1, 2)], np.eye(3), 'points must be rows of 3'), (None, np.eye(3), 'points'),
    ([(1, 2, np.nan)], np.eye(3), 'points'), (POINTS, np.eye(3), 'A must be rows of 9'),
    (POINTS, np.zeros((0, 9)), 'A must be rows'), (POINTS, np.zeros(6), 'A must be rows of 9'),
    (POINTS, np.full((1, 9), np.inf), 'A must be'), (POINTS, 'A', 'A must be'),
    ([(1, 2, 3), (1, 2)], np.eye(3), 'points')])
def test_bad_arguments(points, A, words):
    with pytest.raises(InvalidConstraintError, match=words):
        Polyhedron('tip', points, A)
