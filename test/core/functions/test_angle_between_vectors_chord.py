"""The cost c (1 - cos(angle)) as half a square, as Drake has it, and its way off the maximum."""

import numpy as np
from oracles import drake
import pytest

from ros2_ik.core import AngleBetweenVectors, InvalidConstraintError


@pytest.mark.parametrize('angle', [0, 1e-12, 1e-8, 1e-4, 0.3, 2, 3.1, np.pi - 1e-4, np.pi - 1e-8,
                                   np.pi])
@pytest.mark.parametrize('other', [*np.eye(3), *-np.eye(3), (0.6, 0, -0.8)])
def test_length_and_slope(at, angle, other):
    other = np.array(other, dtype=float)
    across = np.linalg.svd(other[None])[2][1]
    wanted = np.cos(angle) * other + np.sin(angle) * across
    f, J = AngleBetweenVectors('body', at.transform('body')[:3, :3].T @ wanted * 3,
                               other * 5, form='chord').evaluate(at)
    np.testing.assert_allclose(f, wanted - other, atol=1e-12)
    slope = f @ J[:, 3:]
    length = 2 * np.sin(angle / 2)
    assert np.linalg.norm(slope) == pytest.approx(length * max(np.cos(angle / 2), 1e-3), abs=1e-9)


def test_as_drake():
    rows = drake('AngleBetweenVectorsCost')
    for a, at, value, gradient in rows:
        chord = AngleBetweenVectors(a['frameB'], a['nb_B'], a['na_A'],
                                    None if a['frameA'] == 'world' else a['frameA'], form='chord')
        f, J = chord.evaluate(at)
        assert a['c'] / 2 * f @ f == pytest.approx(value[0], abs=1e-9)
        np.testing.assert_allclose(a['c'] * f @ J, gradient[0], atol=1e-9)
    assert rows


@pytest.mark.parametrize('bad', [(0, 0, 0), (1, 2), 'x', (1, 2, np.nan)])
def test_refuses_what_points_nowhere(bad):
    for vectors, name in (((bad, (0, 0, 1)), 'vector'), (((0, 0, 1), bad), 'other_vector')):
        with pytest.raises(InvalidConstraintError, match=name):
            AngleBetweenVectors('body', *vectors, form='chord')
