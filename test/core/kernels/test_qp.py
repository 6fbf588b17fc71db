"""The quadratic program of one step: finite programs are solved to the optimum."""

import numpy as np
import pytest

from ros2_ik.core.kernels.qp import QP, solve_qp


def solve(H, g, A, lower, upper, softness):
    """Return x (n,) and multipliers (n + m,), None without a solution; bounds are (n + m,)."""
    n = len(g)
    x, y = np.empty(n), np.empty(len(lower))
    with np.errstate(all='ignore'):     # as in compiled code; compiling takes seconds
        found = solve_qp(QP(H, g, A, lower[n:], upper[n:], 1 / softness, lower[:n], upper[:n]),
                         x, y)
    return (x, y) if found else None


def random_program(generator, damping_only):
    """Return conflicting rows, with damping only, or with a cost and stiff rows."""
    n, m = generator.integers(1, 9), generator.integers(0, 15)
    A = generator.normal(size=(m, n))
    A[m - m // 4:] = A[:m // 4]                     # repeated rows
    A[:m // 8] = 0                                  # rows that no variable affects
    lower = generator.normal(size=m) - generator.choice([0, 1, 10, np.inf], m)
    upper = np.maximum(lower, generator.normal(size=m)) + generator.choice([0, 0.1, 1, np.inf], m)
    low, high = (generator.choice([0, 0.3, 2], n) * 1.0 for _ in range(2))
    bounds = np.concatenate([-low, lower]), np.concatenate([high, upper])
    if damping_only:
        return 10.0**generator.uniform(-9, 0) * np.eye(n), np.zeros(n), A, *bounds, 1.0
    L = generator.normal(size=(n, n // 2 + 1))
    H = L @ L.T + 10.0**generator.uniform(-4, 0) * np.eye(n)
    return H, generator.normal(size=n), A, *bounds, 1e-8


@pytest.mark.parametrize('damping_only', [True, False])
def test_solution_meets_the_kkt_conditions(damping_only):
    """They are sufficient, as the program is convex; many rows conflict."""
    generator = np.random.default_rng(0)
    for _ in range(200):
        H, g, A, lower, upper, softness = random_program(generator, damping_only)
        n = len(g)
        x, y = solve(H, g, A, lower, upper, softness)
        size = 1 + np.abs(y).max(initial=0.0)
        np.testing.assert_allclose(H @ x + g + y[:n] + A.T @ y[n:], 0, atol=1e-7 * size)
        violation = A @ x - np.clip(A @ x, lower[n:], upper[n:])
        np.testing.assert_allclose(y[n:], violation / softness, atol=1e-7 * size)
        assert (x >= lower[:n]).all() and (x <= upper[:n]).all()
        threshold = 1e-8 * size
        assert (x[y[:n] > threshold] == upper[:n][y[:n] > threshold]).all()
        assert (x[y[:n] < -threshold] == lower[:n][y[:n] < -threshold]).all()


@pytest.mark.parametrize('wrong', [np.nan, np.inf])
@pytest.mark.parametrize('m', [0, 2])
def test_nonfinite_programs_have_no_solution(wrong, m):
    n, bounds = 3, (np.full(3 + m, -1.0), np.full(3 + m, 1.0))
    for part in range(3 if m else 2):
        program = [np.eye(n), np.ones(n), np.ones((m, n))]
        program[part].reshape(-1)[0] = wrong
        assert solve(*program, *bounds, 1.0) is None
