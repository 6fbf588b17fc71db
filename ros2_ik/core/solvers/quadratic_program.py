"""The dense quadratic program of one step, solved by daqp where that is installed."""

import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.solvers.active_set import dual_active_set

try:
    import daqp
except ImportError:      # our own method is slower, and finds the same
    daqp = None

_TIGHT = {'primal_tol': 1e-10}   # by default a row that is 1e-6 off counts as met
_SOFT = 8                # daqp's mark of a row that may be violated at a price


class QuadraticProgram:
    """
    A convex quadratic program that always has an answer.

        min 1/2 x^T H x + g^T x + 1/2 |slack|^2 / `softness`

    with `n` variables in a box that is kept, and `m` rows lower <= A x + slack <= upper. Made
    once for all programs of a size; never infeasible while the box is not empty.

    Source: Arnstrom et al., "A dual active-set solver for embedded quadratic programming using
    recursive LDL^T updates", IEEE TAC 2022 (daqp).
    """

    def __init__(self, n: int, m: int, softness: float) -> None:
        self._n, self._m = n, m
        self._softness = np.full(n + m, softness)
        self._sense = np.zeros(n + m, dtype=np.int32)
        self._sense[n:] = _SOFT
        self._model: Any = None

    def solve(self, H: Array, g: Array, A: Array, lower: Array,
              upper: Array) -> tuple[Array, Array] | None:
        """
        Give x (n,) and the multipliers (n + m,), or None where none is found.

        `lower` and `upper` are those of the box (n,), followed by those of the rows (m,).
        """
        # daqp answers NaN for NaN with success, and takes a row that is NaN for none
        if not math.isfinite(g @ g + np.add.reduce(A, None)):
            return None
        if daqp is None:
            return self._by_active_set(H, g, A, lower, upper)
        if self._m == 0:
            x, _, flag, info = daqp.solve(H, g, A, upper, lower, self._sense, **_TIGHT)
        else:
            if self._model is None:
                self._model = daqp.Model()
                self._model.settings = _TIGHT
                self._model.setup(H, g, A, upper, lower, self._sense)
                self._model.soft_weights(rho_l=self._softness, rho_u=self._softness)
            else:
                self._model.update(H=H, f=g, A=A, bupper=upper, blower=lower, sense=self._sense)
            x, _, flag, info = self._model.solve()
        return (x, info['lam']) if flag > 0 and math.isfinite(x @ x) else None

    def _by_active_set(self, H: Array, g: Array, A: Array, lower: Array,
                       upper: Array) -> tuple[Array, Array] | None:
        if not math.isfinite(np.add.reduce(H, None)):
            return None
        softness = self._softness.copy()
        softness[:self._n] = 0.0
        rows = np.concatenate([np.eye(self._n), A.reshape(self._m, self._n)])
        found = dual_active_set(H, g, rows, lower, upper, softness)
        if found is None or not math.isfinite(found[0] @ found[0]):
            return None
        # the box is kept to the last bit
        return np.clip(found[0], lower[:self._n], upper[:self._n]), found[1]
