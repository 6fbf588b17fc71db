"""Half spaces that several points of a frame share."""

import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import InvalidConstraintError, Polyhedron

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


@pytest.mark.parametrize('points, A, words', [
    ([], np.eye(3), 'points must be rows of 3'), ((1, 2, 3), np.eye(3), 'points must be rows'),
    ([(1, 2, np.nan)], np.eye(3), 'points'), (POINTS, np.eye(3), 'A must be rows of 9'),
    (POINTS, np.zeros((0, 9)), 'A must be rows'), (POINTS, np.full((1, 9), np.inf), 'A must be'),
    (POINTS, 'A', 'A must be')])
def test_bad_arguments(points, A, words):
    with pytest.raises(InvalidConstraintError, match=words):
        Polyhedron('tip', points, A)
