"""Comparisons of poses and joint values, judged by SciPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core.kernels.comparisons import are_rigid, distance_between


def placed(rotation, position):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.as_matrix(), position
    return T


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-4, 0.3, 2.0, np.pi - 1e-7, np.pi])
def test_distance_between(angle):
    generator = np.random.default_rng(0)
    for rotation in Rotation.random(50, random_state=generator):
        axis = generator.normal(size=3)
        turned = rotation * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        p, shift = generator.uniform(-1, 1, (2, 3))
        for order in 'CF':
            found = distance_between.run(
                np.array(placed(turned, p + shift), order=order), placed(rotation, p))
            assert found == pytest.approx((np.linalg.norm(shift), angle), abs=2e-15, rel=1e-12)


def test_only_rigid_transformations_are_rigid():
    def rigid(T, rounding, farthest):
        """Return what is said of one pose, and also of it among others that are rigid."""
        alone = are_rigid.run(T[None], rounding, farthest)
        assert are_rigid.run(np.array([np.eye(4), T, np.eye(4)]), rounding, farthest) == alone
        return alone
    generator = np.random.default_rng(0)
    for rotation in Rotation.random(100, random_state=generator):
        T = placed(rotation, generator.uniform(-1, 1, 3))
        assert rigid(T, 1e-14, 1e9) and rigid(np.asfortranarray(T), 1e-14, 1e9)
        for i, j in np.ndindex(4, 4):
            for value in (T[i, j] + 1e-6, -T[i, j] - 0.1, np.nan, np.inf):
                wrong = T.copy()
                wrong[i, j] = value
                fits = j == 3 and i < 3 and np.isfinite(value)    # a position may be any
                assert rigid(wrong, 1e-14, 1e9) == fits
    for signs in np.ndindex(2, 2, 2):
        T = np.diag([*(1.0 - 2 * np.array(signs)), 1.0])
        assert rigid(T, 1e-14, 1e9) == (sum(signs) % 2 == 0)
    far = np.eye(4)
    far[1, 3] = 2e9
    assert not rigid(far, 1e-14, 1e9)
