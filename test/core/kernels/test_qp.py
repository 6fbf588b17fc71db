"""The quadratic program of one step: its answer is the optimum, and there always is one."""

import numpy as np
import pytest

from ros2_ik.core.kernels.lm import step_within
from ros2_ik.core.kernels.qp import solve_qp
from ros2_ik.core.kernels.source import loop


@loop('b1(f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], f8[::1], f8[::1], '
      'f8[::1])')
def quadratic_program(H, g, A, lower, upper, weight, low, high, x, y):
    return solve_qp(H, g, A, lower, upper, weight, low, high, x, y)


def solved(H, g, A, lower, upper, softness):
    """Return x (n,) and multipliers (n + m,), None without an answer; bounds are (n + m,)."""
    n = len(g)
    x, y = np.empty(n), np.empty(len(lower))
    found = quadratic_program.run(H, g, A, lower[n:], upper[n:], 1 / softness, lower[:n],
                                  upper[:n], x, y)
    return (x, y) if found else None


def conflicting(generator, first):
    """Give a program as a descent has it: damping and slack, or stiff rows over a cost."""
    n, m = generator.integers(1, 9), generator.integers(0, 15)
    A = generator.normal(size=(m, n))
    A[m - m // 4:] = A[:m // 4]                     # some rows are there twice
    A[:m // 8] = 0                                  # a row that nothing moves
    lower = generator.normal(size=m) - generator.choice([0, 1, 10, np.inf], m)
    upper = np.maximum(lower, generator.normal(size=m)) + generator.choice([0, 0.1, 1, np.inf], m)
    low, high = (generator.choice([0, 0.3, 2], n) * 1.0 for _ in range(2))
    bounds = np.concatenate([-low, lower]), np.concatenate([high, upper])
    if first:
        return 10.0**generator.uniform(-9, 0) * np.eye(n), np.zeros(n), A, *bounds, 1.0
    L = generator.normal(size=(n, n // 2 + 1))
    H = L @ L.T + 10.0**generator.uniform(-4, 0) * np.eye(n)
    return H, generator.normal(size=n), A, *bounds, 1e-8


@pytest.mark.parametrize('first', [True, False])
def test_answer_meets_the_conditions_of_the_optimum(first):
    """Also where many rows exclude each other: of a convex program they are sufficient."""
    generator = np.random.default_rng(0)
    for _ in range(300):
        H, g, A, lower, upper, softness = conflicting(generator, first)
        n = len(g)
        x, y = solved(H, g, A, lower, upper, softness)
        size = 1 + np.abs(y).max(initial=0.0)
        np.testing.assert_allclose(H @ x + g + y[:n] + A.T @ y[n:], 0, atol=1e-7 * size)
        away = A @ x - np.clip(A @ x, lower[n:], upper[n:])
        np.testing.assert_allclose(y[n:], away / softness, atol=1e-7 * size)
        assert (x >= lower[:n]).all() and (x <= upper[:n]).all()
        least = 1e-8 * size
        assert (x[y[:n] > least] == upper[:n][y[:n] > least]).all()
        assert (x[y[:n] < -least] == lower[:n][y[:n] < -least]).all()


@pytest.mark.parametrize('wrong', [np.nan, np.inf])
@pytest.mark.parametrize('m', [0, 2])
def test_numbers_that_are_not_finite_have_no_answer(wrong, m):
    n, bounds = 3, (np.full(3 + m, -1.0), np.full(3 + m, 1.0))
    for part in range(3 if m else 2):
        program = [np.eye(n), np.ones(n), np.ones((m, n))]
        program[part].reshape(-1)[0] = wrong
        assert solved(*program, *bounds, 1.0) is None


@pytest.mark.parametrize('at_once', [True, False])
def test_a_step_of_lm_leaves_joints_at_their_limits(at_once):
    generator, n, some = np.random.default_rng(0), 6, 0
    for _ in range(200):
        A, g = generator.normal(size=(n, n)), generator.normal(size=n)
        H = A @ A.T + 0.1 * np.eye(n)
        low, high = (np.where(generator.random(n) < 0.3, 0.0, sign * 1e9) for sign in (-1, 1))
        K, d, held = np.empty((n, n)), np.empty(n), np.empty(n, dtype=bool)
        step_within(H, g, low, high, K, d, held, at_once)
        assert (low <= d).all() and (d <= high).all() and not d[held].any()
        outward = (g < 0) & (low == 0) | (g > 0) & (high == 0)
        assert not at_once or held[outward].all()
        free = ~held & (low < d) & (d < high)
        some += held.any() and free.any()
        if (d[~free] == 0).all() and (held | free).all():
            assert H[np.ix_(free, free)] @ d[free] == pytest.approx(g[free], abs=1e-7)
    assert some > 100
