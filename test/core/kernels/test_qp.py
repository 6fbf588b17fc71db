"""The quadratic program of one step: its answer is the optimum, and there always is one."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ros2_ik.core.kernels.qp import solve_qp
from ros2_ik.core.kernels.source import loop


@loop('b1(f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], f8[::1], f8[::1], '
      'f8[::1])')
def quadratic_program(H, g, A, lower, upper, weight, low, high, x, y):
    return solve_qp(H, g, A, lower, upper, weight, low, high, x, y)


class QuadraticProgram:
    """Programs of n variables and m rows of one softness."""

    def __init__(self, n, m, softness):
        self.n, self.m, self.softness = n, m, softness

    def solve(self, H, g, A, lower, upper):
        n, x, y = self.n, np.empty(self.n), np.empty(self.n + self.m)
        found = quadratic_program.run(
            H, g, np.array(A, dtype=float).reshape(self.m, n), lower[n:], upper[n:],
            1 / self.softness, lower[:n], upper[:n], x, y)
        return (x, y) if found else None


def random_program(generator, n, m):
    """Give H, g, A, lower, upper of a convex program."""
    root = generator.normal(size=(n, n))
    middle = generator.normal(size=n + m)
    width = generator.random(n + m) + 0.1
    return (root @ root.T + 0.1 * np.eye(n), generator.normal(size=n),
            generator.normal(size=(m, n)), middle - width, middle + width)


def value(x, program, softness):
    """Give the value of the program with its slack."""
    H, g, A, lower, upper = program
    y = A @ x
    n = len(x)
    slack = np.maximum(np.maximum(lower[n:] - y, y - upper[n:]), 0)
    return 0.5 * x @ H @ x + g @ x + 0.5 * slack @ slack / softness


@pytest.mark.parametrize('n, m', [(1, 0), (1, 1), (3, 0), (4, 2), (7, 9), (5, 20)])
@pytest.mark.parametrize('softness', [1.0, 1e-2])
def test_as_scipy(n, m, softness):
    generator, solver = np.random.default_rng(0), QuadraticProgram(n, m, softness)
    for _ in range(5):
        program = random_program(generator, n, m)
        x, _ = solver.solve(*program)
        lower, upper = program[3][:n], program[4][:n]
        assert (x >= lower - 1e-9).all() and (x <= upper + 1e-9).all()
        other = minimize(value, np.clip(np.zeros(n), lower, upper), (program, softness),
                         method='L-BFGS-B', bounds=list(zip(lower, upper, strict=True)),
                         options={'ftol': 1e-15, 'gtol': 1e-10, 'maxiter': 5000,
                                  'maxfun': 10**6})
        assert value(x, program, softness) <= other.fun + 1e-6 * (1 + abs(other.fun))


@pytest.mark.parametrize('n, m', [(3, 0), (4, 2), (7, 9)])
def test_the_multipliers_balance_the_gradient(n, m):
    """H x + g + lam_box + A^T lam_rows = 0, each with the sign of its bound."""
    generator, solver = np.random.default_rng(1), QuadraticProgram(n, m, 1e-8)
    for _ in range(10):
        H, g, A, lower, upper = random_program(generator, n, m)
        x, lam = solver.solve(H, g, A, lower, upper)
        np.testing.assert_allclose(H @ x + g + lam[:n] + A.T @ lam[n:], 0, atol=1e-4)
        y = np.concatenate([x, A @ x])
        assert (y[lam > 1e-6] > upper[lam > 1e-6] - 1e-3 * lam.max()).all()
        assert (y[lam < -1e-6] < lower[lam < -1e-6] + 1e-3 * -lam.min()).all()


def test_rows_that_exclude_each_other_share_the_slack():
    x, _ = QuadraticProgram(1, 2, 1.0).solve(
        np.array([[1e-9]]), np.zeros(1), np.ones((2, 1)), np.array([-5.0, 1, -2]),
        np.array([5.0, 2, -1]))
    assert x == pytest.approx([0.0], abs=1e-6)


def test_the_box_is_kept_whatever_the_rows_want():
    for softness in (1.0, 1e-8):
        x, _ = QuadraticProgram(2, 1, softness).solve(
            np.eye(2), np.zeros(2), np.array([[1.0, 0]]), np.array([-0.1, -0.1, 3.0]),
            np.array([0.1, 0.1, 4.0]))
        assert x == pytest.approx([0.1, 0.0], abs=1e-9)


def test_a_box_without_width():
    x, _ = QuadraticProgram(2, 1, 1.0).solve(
        np.eye(2), np.array([5.0, -5]), np.ones((1, 2)), np.array([0.0, 0.2, -1]),
        np.array([0.0, 0.2, 1]))
    assert x == pytest.approx([0.0, 0.2], abs=1e-9)


def test_infinite_bounds():
    x, _ = QuadraticProgram(2, 1, 1.0).solve(
        np.eye(2), np.array([1.0, -2]), np.ones((1, 2)), np.full(3, -np.inf), np.full(3, np.inf))
    assert x == pytest.approx([-1.0, 2.0])


@pytest.mark.parametrize('m', [0, 3])
def test_one_after_another_is_as_each_alone(m):
    """Bounds, rows and costs that change from program to program leave nothing behind."""
    generator, solver = np.random.default_rng(2), QuadraticProgram(4, m, 1e-2)
    for i in range(30):
        H, g, A, lower, upper = random_program(generator, 4, m)
        if i % 3 == 0:
            lower[generator.integers(4 + m)] = -np.inf
        if i % 4 == 0 and m:
            lower[-1] = upper[-1] = 0.3        # now an equality
        program = (H, g, A, lower, upper)
        x, lam = solver.solve(*program)
        alone, lam_alone = QuadraticProgram(4, m, 1e-2).solve(*program)
        np.testing.assert_allclose(x, alone, atol=1e-8)
        np.testing.assert_allclose(lam, lam_alone, atol=1e-6)


def test_results_are_not_overwritten():
    generator, solver = np.random.default_rng(3), QuadraticProgram(4, 2, 1.0)
    x, lam = solver.solve(*random_program(generator, 4, 2))
    kept = x.copy(), lam.copy()
    solver.solve(*random_program(generator, 4, 2))
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(lam, kept[1])


@pytest.mark.parametrize('part', range(3))
@pytest.mark.parametrize('wrong', [np.nan, np.inf])
@pytest.mark.parametrize('m', [0, 2])
def test_what_is_not_finite_has_no_answer_and_leaves_nothing(part, wrong, m):
    generator, solver = np.random.default_rng(4), QuadraticProgram(3, m, 1.0)
    program = random_program(generator, 3, m)
    before = solver.solve(*program)
    spoilt = [np.array(array) for array in program]
    if spoilt[part].size:
        spoilt[part].reshape(-1)[0] = wrong
        assert solver.solve(*spoilt) is None
    np.testing.assert_allclose(solver.solve(*program)[0], before[0], atol=1e-9)


def test_repeated_rows():
    A = np.array([[1.0, 1], [1, 1], [1, 1]])
    x, _ = QuadraticProgram(2, 3, 1e-8).solve(
        np.eye(2), np.zeros(2), A, np.array([-9.0, -9, 1, 1, 1]), np.array([9.0, 9, 1, 1, 1]))
    assert x == pytest.approx([0.5, 0.5], abs=1e-6)


def test_rows_without_slope():
    """A row that no variable moves is violated or not, whatever is done."""
    x, _ = QuadraticProgram(2, 2, 1e-2).solve(
        np.eye(2), np.array([1.0, 0]), np.zeros((2, 2)), np.array([-9.0, -9, 1, -1]),
        np.array([9.0, 9, 2, 1]))
    assert x == pytest.approx([-1.0, 0.0], abs=1e-9)


@pytest.mark.parametrize('scale', [1e-6, 1e6])
def test_other_units(scale):
    """The same program in other units has the same answer."""
    generator = np.random.default_rng(5)
    H, g, A, lower, upper = random_program(generator, 4, 2)
    x, _ = QuadraticProgram(4, 2, 1e-6).solve(H, g, A, lower, upper)
    scaled, _ = QuadraticProgram(4, 2, 1e-6 / scale).solve(scale * H, scale * g, A, lower, upper)
    np.testing.assert_allclose(scaled, x, atol=1e-5)


def conflicting(generator, first):
    """Give a program as a descent has it: damping and slack, or stiff rows over a cost."""
    n, m = generator.integers(1, 9), generator.integers(0, 15)
    A = generator.normal(size=(m, n))
    lower = generator.normal(size=m) - generator.choice([0, 1, 10], m)
    upper = lower + generator.choice([0, 0.1, 1, np.inf], m)
    low, high = (generator.choice([0, 0.3, 2], n) * 1.0 for _ in range(2))
    bounds = np.concatenate([-low, lower]), np.concatenate([high, upper])
    if first:
        return 10.0**generator.uniform(-9, 0) * np.eye(n), np.zeros(n), A, *bounds, 1.0
    L = generator.normal(size=(n, n // 2 + 1))
    H = L @ L.T + 10.0**generator.uniform(-4, 0) * np.eye(n)
    return H, generator.normal(size=n), A, *bounds, 1e-8


@pytest.mark.parametrize('first', [True, False])
def test_rows_of_descents(first):
    """The optimum by its conditions, also where many rows exclude each other."""
    generator = np.random.default_rng(0)
    for _ in range(300):
        H, g, A, lower, upper, softness = conflicting(generator, first)
        n, m = len(g), len(A)
        x, y = QuadraticProgram(n, m, softness).solve(H, g, A, lower, upper)
        size = 1 + np.abs(y).max(initial=0.0)
        np.testing.assert_allclose(H @ x + g + y[:n] + A.T @ y[n:], 0, atol=1e-7 * size)
        away = A @ x - np.clip(A @ x, lower[n:], upper[n:])
        np.testing.assert_allclose(y[n:], away / softness, atol=1e-7 * size)
        assert (x >= lower[:n]).all() and (x <= upper[:n]).all()
        least = 1e-8 * size
        assert (x[y[:n] > least] == upper[:n][y[:n] > least]).all()
        assert (x[y[:n] < -least] == lower[:n][y[:n] < -least]).all()


@pytest.mark.parametrize('length', [1, 500, 5000])
def test_rows_that_are_much_stiffer_than_the_rest(length):
    """The conditions of the optimum are one system; its numbers do not differ so much."""
    n, m, softness = 7, 3, 1e-8
    for seed in range(20):
        generator = np.random.default_rng(seed)
        root = generator.normal(size=(n, n))
        H, g = root @ root.T / n + 0.1 * np.eye(n), generator.normal(size=n)
        A = generator.normal(size=(m, n))
        A *= length / np.linalg.norm(A, axis=1)[:, None]
        b, wide = 0.1 * A @ generator.normal(size=n), np.full(n, 100.0)
        x, _ = QuadraticProgram(n, m, softness).solve(H, g, A, np.r_[-wide, b], np.r_[wide, b])
        conditions = np.block([[H, A.T], [A, -softness * np.eye(m)]])
        assert x == pytest.approx(np.linalg.solve(conditions, np.r_[-g, b])[:n], abs=1e-3)
