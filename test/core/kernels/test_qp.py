"""The quadratic program of one step: solutions are optimal, and always exist."""

import numpy as np
import pytest

from ros2_ik.core.kernels.qp import solve_qp


def solved(H, g, A, lower, upper, softness):
    """Return x (n,) and multipliers (n + m,), None without a solution; bounds are (n + m,)."""
    n = len(g)
    x, y = np.empty(n), np.empty(len(lower))
    with np.errstate(all='ignore'):     # as in compiled code, which takes seconds to make
        found = solve_qp(H, g, A, lower[n:], upper[n:], 1 / softness, lower[:n], upper[:n], x, y)
    return (x, y) if found else None


def conflicting(generator, first):
    """Return a program as in a descent: damping and slack, or stiff rows over a cost."""
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
def test_solution_meets_the_kkt_conditions(first):
    """Also if many rows conflict: for a convex program they are sufficient."""
    generator = np.random.default_rng(0)
    for _ in range(200):
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
def test_nonfinite_numbers_have_no_solution(wrong, m):
    n, bounds = 3, (np.full(3 + m, -1.0), np.full(3 + m, 1.0))
    for part in range(3 if m else 2):
        program = [np.eye(n), np.ones(n), np.ones((m, n))]
        program[part].reshape(-1)[0] = wrong
        assert solved(*program, *bounds, 1.0) is None
