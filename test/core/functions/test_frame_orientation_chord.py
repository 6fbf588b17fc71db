"""The cost c (1 - cos(theta)) as half a square, as Drake has it, and its way off the maximum."""

from judge import pose
import numpy as np
from oracles import drake
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import FrameOrientation, InvalidConstraintError

AXES = [*np.eye(3), *-np.eye(3), (0.6, 0, -0.8), (-0.36, 0.48, 0.8)]


@pytest.mark.parametrize('angle', [0, 1e-12, 1e-8, 1e-4, 0.3, 2, 3.1, np.pi - 1e-4, np.pi - 1e-8,
                                   np.pi])
@pytest.mark.parametrize('axis', AXES)
def test_length_and_slope(at, angle, axis):
    R = at.transform('body')[:3, :3]
    reference = R @ Rotation.from_rotvec(-angle * np.array(axis)).as_matrix()
    f, J = FrameOrientation('body', reference, form='chord').evaluate(at)
    ways = [f - 2 * np.sin(angle / 2) * np.array(axis)]
    if angle > 3.141:       # half a turn is its own opposite
        ways.append(f + 2 * np.sin(angle / 2) * np.array(axis))
    assert min(np.abs(way).max() for way in ways) < 1e-9
    along = J[:, 3:] @ np.array(axis)       # how a turn about the axis changes it
    assert np.linalg.norm(along) == pytest.approx(max(np.cos(angle / 2), 1e-3), abs=1e-9)
    assert np.linalg.norm(f @ J) == pytest.approx(
        np.linalg.norm(f) * max(np.cos(angle / 2), 1e-3), abs=1e-9)


def test_as_drake():
    rows = drake('OrientationCost')
    for a, at, value, gradient in rows:
        frame, other = a['frameBbar'], a['frameAbar']
        chord = FrameOrientation(frame, a['R_AbarA'], None if other == 'world' else other,
                                 a['R_BbarB'], form='chord')
        f, J = chord.evaluate(at)
        assert a['c'] / 2 * f @ f == pytest.approx(value[0], abs=1e-9)
        np.testing.assert_allclose(a['c'] * f @ J, gradient[0], atol=1e-9)
    assert rows


@pytest.mark.parametrize('bad', [np.eye(2), 'x', 2 * np.eye(3), np.full((3, 3), np.nan),
                                 pose() * 2])
def test_refuses_what_is_no_rotation(bad):
    for name in ('reference', 'offset'):
        with pytest.raises(InvalidConstraintError, match=name):
            FrameOrientation('body', **{name: bad}, form='chord')
