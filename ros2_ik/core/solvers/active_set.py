"""A dual active-set method for small dense quadratic programs."""

import math

import numpy as np

from ros2_ik.core.arrays import Array

TOLERANCE = 1e-10        # by which a bound may be missed, as a part of 1 + its size
CHANGES_A_ROW = 10       # of the working set; many more than are needed


def dual_active_set(H: Array, g: Array, C: Array, lower: Array, upper: Array,
                    softness: Array) -> tuple[Array, Array] | None:
    """
    Solve min 1/2 x^T H x + g^T x + 1/2 |s / sqrt(softness)|^2 with lower <= C x + s <= upper.

    H (n, n) is positive definite, C (k, n); a `softness` (k,) of 0 makes a row hard. The hard
    rows are linearly independent and hold somewhere. Returns x (n,) and the multipliers (k,),
    positive at an upper bound, negative at a lower one; None where the numbers do not suffice.

    From the optimum without rows on, the row that is violated most joins the working set, and
    those leave it whose multiplier would change its sign: the value of the dual only grows.
    Source: Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex
    quadratic programs", Mathematical Programming 27, 1983.
    """
    rows: list[int] = []
    signs: list[float] = []          # 1 at an upper bound, -1 at a lower one, 0 at both
    slack = TOLERANCE * (1 + np.minimum(np.abs(lower), np.abs(upper)))
    slack[~np.isfinite(slack)] = TOLERANCE
    try:
        x, found = _held(H, g, C[:0], np.zeros(0), np.zeros(0))
        for _ in range(CHANGES_A_ROW * len(C) + 1):
            reached = C @ x
            missed = np.maximum(lower - reached, reached - upper) - slack
            missed[rows] = -math.inf
            worst = int(missed.argmax()) if len(missed) else 0
            if not len(missed) or missed[worst] <= 0:
                return x, _all_multipliers(len(C), rows, found)
            rows.append(worst)
            signs.append(0.0 if lower[worst] == upper[worst]
                         else 1.0 if reached[worst] > upper[worst] else -1.0)
            x, found = _ascend(H, g, C, lower, upper, softness, rows, signs,
                               np.append(found, 0.0))
    except np.linalg.LinAlgError:    # singular: not such a program
        pass
    return None


def _ascend(H: Array, g: Array, C: Array, lower: Array, upper: Array, softness: Array,
            rows: list[int], signs: list[float], found: Array) -> tuple[Array, Array]:
    """Go to the optimum of the working set; the rows that block the way to it leave the set."""
    while True:
        x, wanted = _held(H, g, C[rows], _bounds(lower, upper, rows, signs), softness[rows])
        wrong = np.flatnonzero(np.array(signs) * wanted < 0)
        if not len(wrong):
            return x, wanted
        parts = found[wrong] / (found[wrong] - wanted[wrong])
        first = int(parts.argmin())
        found = np.delete(found + parts[first] * (wanted - found), wrong[first])
        del rows[wrong[first]], signs[wrong[first]]


def _bounds(lower: Array, upper: Array, rows: list[int], signs: list[float]) -> Array:
    return np.array([lower[row] if sign < 0 else upper[row]
                     for row, sign in zip(rows, signs, strict=True)])


def _held(H: Array, g: Array, C: Array, bounds: Array, softness: Array) -> tuple[Array, Array]:
    """Return x and the multipliers where the rows of C are at their bounds, up to the slack."""
    n, k = len(H), len(C)
    system = np.zeros((n + k, n + k))
    system[:n, :n], system[:n, n:], system[n:, :n] = H, C.T, C
    system[range(n, n + k), range(n, n + k)] = -softness
    solved: Array = np.linalg.solve(system, np.concatenate([-g, bounds]))
    return solved[:n], solved[n:]


def _all_multipliers(count: int, rows: list[int], found: Array) -> Array:
    multipliers = np.zeros(count)
    multipliers[rows] = found
    return multipliers
