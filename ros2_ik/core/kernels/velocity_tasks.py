"""Tasks of a velocity IK step: a cost (soft tasks) and firm rows (hard and scaled tasks)."""

import math

import numpy as np

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import add_row, factorize, solve
from ros2_ik.core.kernels.source import inner_part, part
from ros2_ik.core.kernels.velocity_limits import (
    braking_speed,
    has_acceleration_limits,
    rate_bounds,
)

MAX_CHANGE = 1e6    # largest bound of a row's change in a step [units of f]
FRAME_SPEED = 3.0   # scale of rows that limit a frame's speed: stiffer than barriers
MIN_DAMPING = 1e-7  # least damping: less would drown in the rounding of stiff rows
BRAKING = 0.7       # fraction of the acceleration limits assumed for braking at targets
# cap on the step that determines damping [units of f]: a far target must not slow an arm down
MAX_DAMPED_STEP = 10.0


@inner_part
def is_firm(kind):
    """Return whether rows of this kind are firm rows, that is, hard or scaled tasks."""
    return kind == row.HARD or kind == row.SCALED


@inner_part
def requested_change(rows, i, dt):
    """Return the change that the task of row i requests in a step of dt [s]."""
    return rows[row.GAIN, i] * (rows[row.TARGET, i] - rows[row.VALUE, i]) + rows[row.RATE, i] * dt


@part
def limit_limb_speeds(H, g, joints, dt, limb, scaling):
    """
    Lower the speed factors `scaling` (n,) of limbs so that joints can stop at the tasks' targets.

    The cost of the tasks is 1/2 d^T H d + g^T d. A limb is a group of joints that the tasks move
    together. All its joints slow down by one factor, which leaves their path unchanged. Joint a
    belongs to limb number limb[a].
    """
    # d: the whole motion to the targets, linearized and slightly damped
    n, K, d = len(limb), H.copy(), -g
    largest = 0.0
    for a in range(n):
        largest = max(largest, H[a, a])
    for a in range(n):
        K[a, a] += 1e-6 * largest + 1e-12
    if not factorize(K):
        return
    solve(K, d)
    # a joint must not move so fast that its braking distance exceeds its remaining distance
    for a in range(n):
        i, left, limit = limb[a], abs(d[a]), joints[row.ACCELERATION, a]
        # a limit of 0 marks a driven joint, which keeps its velocity
        if 0 < limit < np.inf and left > 0:
            scaling[i] = min(scaling[i], braking_speed(left, BRAKING * limit, dt) * dt / left)


@part
def slow_firm_tasks(problem):
    """Reduce the gains of firm tasks so that joints can stop at the targets."""
    rows, J, limb = problem.rows, problem.J, problem.limbs[-1]
    n, found = J.shape[1], False
    H, g, scaling = np.zeros((n, n)), np.zeros(n), np.ones(n)
    for i in range(len(J)):
        if is_firm(rows[row.KIND, i]) and rows[row.GAIN, i] > 0:
            add_row(J[i], rows[row.TARGET, i] - rows[row.VALUE, i], 1.0, H, g)
            found = True
    if not (found and has_acceleration_limits(problem.joints)):
        return
    limit_limb_speeds(H, g, problem.joints, problem.options[0], limb, scaling)
    for i in range(len(J)):
        if is_firm(rows[row.KIND, i]):
            rows[row.GAIN, i] = min(rows[row.GAIN, i], scaling[int(rows[row.LIMB, i])])


@part
def scaled_length(rows, dt):
    """Return the norm of the changes that all scaled tasks request, or -1 if there are none."""
    squared, found = 0.0, False
    for i in range(rows.shape[1]):
        if rows[row.KIND, i] == row.SCALED:
            squared += requested_change(rows, i, dt)**2
            found = True
    return math.sqrt(squared) if found else -1.0


@inner_part
def row_scale(rows, i, firm):
    """Return the scale of a bounded or firm row; its slack is weighted by the scale squared."""
    if is_firm(rows[row.KIND, i]):
        return firm
    return FRAME_SPEED if rows[row.MAX_RATE, i] < np.inf else 1.0


@part
def firm_rows(problem, firm, length, A, lower, upper):
    """
    Fill A, lower and upper with bounded and firm rows; return the row count and `size`.

    If there are scaled tasks, A has an additional column n, whose variable is the length of their
    step, from 0 to `length`. (With the fraction of `length` as variable, short steps could leave
    the direction.) Firm rows are multiplied by `firm`. `size` is the largest diagonal element of
    J^T J, where J consists of the firm rows only, not multiplied by `firm`.
    """
    rows, J, dt = problem.rows, problem.J, problem.options[0]
    n, count, size, sums = J.shape[1], 0, 0.0, np.zeros(J.shape[1])
    for i in range(len(J)):
        kind = rows[row.KIND, i]
        if not (kind == row.BOUNDED or is_firm(kind)):
            continue
        unit = row_scale(rows, i, firm)
        for j in range(n):
            A[count, j] = unit * J[i, j]
        # a bounded row: bounds of its change; a firm row: equality with the requested change
        if kind == row.BOUNDED:
            low, high = rate_bounds(problem, i)
            lower[count], upper[count] = max(unit * low, -MAX_CHANGE), min(unit * high, MAX_CHANGE)
        else:
            step = requested_change(rows, i, dt)
            for j in range(n):
                sums[j] += J[i, j] * J[i, j]
            # x[n] is the length moved: J d = step * x[n] / length
            if kind == row.SCALED:
                A[count, n] = -firm * step / length if length > 0 else 0.0
                step = 0.0
            lower[count] = upper[count] = firm * step
        count += 1
    for j in range(n):
        size = max(size, sums[j])
    return count, size


@part
def soft_tasks(problem, level, size, scale_cost, length, H, g):
    """
    Fill the cost 1/2 x^T H x + g^T x of the soft tasks of one priority.

    The cost is divided by the largest diagonal element of H or, if larger, by `size`. Therefore,
    slack weights, MIN_DAMPING and oscillation damping do not depend on the scale of the tasks.
    """
    rows, J, limb, joints, dt = (problem.rows, problem.J, problem.limbs[level], problem.joints,
                                 problem.options[0])
    n, unit = J.shape[1], size
    scaling, isotropic = np.ones(n), np.zeros(n)
    H[:], g[:] = 0.0, 0.0
    # slow each limb down so that it can stop at the targets
    if has_acceleration_limits(joints):
        for i in range(len(J)):
            if rows[row.KIND, i] == level and rows[row.GAIN, i] > 0:
                add_row(J[i], rows[row.TARGET, i] - rows[row.VALUE, i], rows[row.WEIGHT, i], H, g)
        limit_limb_speeds(H[:n, :n], g[:n], joints, dt, limb, scaling)
        H[:], g[:] = 0.0, 0.0
    # tasks, and damping in proportion to their squared step
    for i in range(len(J)):
        if rows[row.KIND, i] == level:
            one = int(rows[row.LIMB, i])
            rows[row.GAIN, i] = min(rows[row.GAIN, i], scaling[one])
            step = rows[row.GAIN, i] * (rows[row.TARGET, i] - rows[row.VALUE, i])
            isotropic[one] += (rows[row.DAMPING, i] * rows[row.WEIGHT, i]
                               * min(step * step, MAX_DAMPED_STEP * MAX_DAMPED_STEP))
            add_row(J[i], step + rows[row.RATE, i] * dt, rows[row.WEIGHT, i], H, g)
    # kinetic energy and damping
    for a in range(n):
        for b in range(len(problem.inertia)):
            H[a, b] += problem.inertia[a, b] / (dt * dt)
        H[a, a] += problem.options[1] + isotropic[limb[a]]
        unit = max(unit, H[a, a])
    # divide by `unit`, and copy the lower half of H to the upper half
    for a in range(n):
        g[a] /= unit
        for b in range(a + 1):
            H[a, b] /= unit
            H[b, a] = H[a, b]
        H[a, a] += MIN_DAMPING + joints[row.OSCILLATION_DAMPING, a]
    # cost that draws variable n, the length of the scaled tasks' step, towards `length`
    for a in range(n, len(g)):
        H[a, a], g[a] = scale_cost, -scale_cost * length
