"""Steps of the descent to poses at limits."""

import numpy as np
import pytest

from ros2_ik.core.kernels.lm import step_within

N = 6


@pytest.mark.parametrize('at_once', [True, False])
def test_what_is_held_at_a_limit(at_once):
    """It stays, the others step as if it were not there, and none steps outward."""
    generator, some = np.random.default_rng(0), 0
    for _ in range(200):
        A, g = generator.normal(size=(N, N)), generator.normal(size=N)
        H = A @ A.T + 0.1 * np.eye(N)
        low, high = (np.where(generator.random(N) < 0.3, 0.0, sign * 1e9) for sign in (-1, 1))
        K, d, held = np.empty((N, N)), np.empty(N), np.empty(N, dtype=bool)
        step_within(H, g, low, high, K, d, held, at_once)
        assert (low <= d).all() and (d <= high).all() and not d[held].any()
        outward = (g < 0) & (low == 0) | (g > 0) & (high == 0)
        assert not at_once or held[outward].all()
        free = ~held & (low < d) & (d < high)
        some += held.any() and free.any()
        if (d[~free] == 0).all() and (held | free).all():
            assert H[np.ix_(free, free)] @ d[free] == pytest.approx(g[free], abs=1e-7)
    assert some > 100
