"""The distance between two points."""

from differences import check_jacobians
import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import (
    Configuration,
    FramePosition,
    InvalidConstraintError,
    PointToPointDistance,
    UnknownFrameError,
)

P, Q, ZERO = (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), np.zeros(1)


def test_as_drake():
    """Drake squares the distance."""
    rows = drake('PointToPointDistanceConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        function = PointToPointDistance(args['frame1'], args['p_B1P1'], args['p_B2P2'],
                                        args['frame2'])
        distance, J = function.evaluate(at)
        np.testing.assert_allclose(distance**2, value, atol=1e-9)
        np.testing.assert_allclose(2 * distance * J, gradient, atol=1e-9)


def test_value(hand):
    at, relative, T = hand
    value = PointToPointDistance('panda_hand', P, Q, relative).value(at)
    np.testing.assert_allclose(value, [np.linalg.norm(T[:3, :3] @ P + T[:3, 3] - Q)], atol=1e-9)


def test_jacobian(load, small):
    check_jacobians(load, small, lambda frame, other: PointToPointDistance(frame, P, Q, other))


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


def test_equality_form(small):
    at = Configuration(small('scara'))
    there = at.transform('tip')[:3, 3]
    form = PointToPointDistance('tip', (0, 0, 0), there).equality_form(ZERO, ZERO)
    assert isinstance(form, FramePosition)
    np.testing.assert_allclose(form.value(at), np.zeros(3), atol=1e-15)
    assert np.linalg.norm(form.jacobian(at)) > 0.1
    other = PointToPointDistance('tip', P, Q, 'base')
    form = other.equality_form(-np.full(1, np.inf), ZERO)
    np.testing.assert_allclose(np.linalg.norm(form.value(at)), other.value(at)[0])


@pytest.mark.parametrize('bounds', [(0, 1e-6), (0.5, 0.5), (0.1, np.inf), (-np.inf, np.inf)])
def test_no_equality_form_for_other_bounds(bounds):
    function = PointToPointDistance('tip', P, Q)
    assert function.equality_form(*np.array(bounds).reshape(2, 1)) is None


@pytest.mark.parametrize('bad', [None, 'point', 1, (1, 2), (1, 2, np.nan), (1, 2, np.inf),
                                 ((1, 2, 3),), (1, 2, 3j), {}])
def test_bad_points(bad):
    for arguments, name in (((bad, Q), 'point'), ((P, bad), 'other_point')):
        with pytest.raises(InvalidConstraintError, match=f'^{name} must be 3 finite numbers'):
            PointToPointDistance('tip', *arguments)


def test_unknown_frames(small):
    for frames in (('tipp', None), ('tip', 'bsae')):
        with pytest.raises(UnknownFrameError):
            PointToPointDistance(frames[0], P, Q, frames[1]).joints(small('scara'))


def test_points_are_copied(small):
    point, other = np.array(P), np.array(Q)
    function = PointToPointDistance('tip', point, other)
    point[:], other[:] = 9, 9
    at = Configuration(small('scara'))
    np.testing.assert_array_equal(function.value(at),
                                  PointToPointDistance('tip', P, Q).value(at))
