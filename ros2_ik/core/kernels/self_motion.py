"""Self-motion: steps of a redundant robot from one solution to another."""

import math

import numpy as np

from ros2_ik.core.kernels.descents import CONVERGED, descend_from, HARD_ROWS, scaled_rows
from ros2_ik.core.kernels.qp import QP, solve_qp, squared_length
from ros2_ik.core.kernels.rows import fill, functions_of, move, PROGRAM, work_of
from ros2_ik.core.kernels.source import loop

ROW_WEIGHT = 1e9        # weight of the rows' slack, which a singularity (dependent rows) requires
MIN_PROGRESS = 0.1      # least progress / length of a step; a step blocked by limits has less


@loop(f'Tuple((b1, i8))({PROGRAM}, f8[::1], f8[::1], f8[:,::1], {HARD_ROWS}, f8[::1], f8, i8)')
def step_along(program, x, along, limits, hard_rows, options, length, most):
    """
    Step from a solution x (nx,) of the rows to another one, by a step of norm `length` [rad, m].

    The step follows the projection of `along` (n,) onto the null space of the rows' Jacobian;
    `along` becomes the step's direction. Then up to `most` iterations of `descend_from` correct x.
    Return whether x is a solution other than the first one, and the number of iterations.
    """
    functions, k = functions_of(program), len(hard_rows[0])
    at, n = functions.layout, functions.layout.columns
    f, J = np.empty(at.rows), np.zeros((at.rows, n))
    A, zero, free, y = np.empty((k, n)), np.zeros(k), np.full(n, np.inf), np.empty(n + k)
    step, before, work = np.empty(n), x.copy(), work_of(at)
    if not fill(functions, x, work, f, J):
        return False, 0
    # project the direction onto the null space: least |d - along|^2 subject to A d = 0
    scaled_rows(J, hard_rows, A)
    if not solve_qp(QP(np.eye(n), -along, A, zero, zero, ROW_WEIGHT, -free, free), step, y):
        return False, 0
    squared = squared_length(step)
    if not squared > 1e-12:
        return False, 0
    # step, then correct x until the rows are within their bounds
    along[:] = step / math.sqrt(squared)
    step[:] = length * along
    move(at, x, step, limits)
    _, iterations, flag = descend_from(functions, x, limits, free, hard_rows, options, most, work)
    # the descent may lead back to the first solution
    farthest = 0.0
    for i in range(len(x)):
        farthest = max(farthest, abs(x[i] - before[i]))
    return flag == CONVERGED and farthest > MIN_PROGRESS * length, iterations
