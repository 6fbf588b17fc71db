"""The tasks of a step of velocity IK, as a quadratic form and as rows that must hold."""

import math

import numpy as np

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import add_row, factorize, solve
from ros2_ik.core.kernels.source import inner_part, part
from ros2_ik.core.kernels.velocity_limits import accelerates, brake, rate_bounds

MAX_CHANGE = 1e6    # [units of f] of a row in a step
FRAME_SPEED = 3.0   # factor of the rows of frames' speed limits: stiffer than barriers
EASE = 1e-7         # least damping: less would drown in the rounding of stiff rows
BRAKING = 0.7       # part of the acceleration that tasks count on to brake
LONGEST_STEP = 10.0     # [units of f] that damping counts: a far target must not slow an arm down


@inner_part
def is_firm(kind):
    """Return whether rows of that kind are hard or scaled tasks."""
    return kind == row.HARD or kind == row.SCALED


@inner_part
def wanted_step(rows, i, dt):
    """Return how much a task wants to change its row in a step."""
    return rows[row.SHARE, i] * (rows[row.TARGET, i] - rows[row.VALUE, i]) + rows[row.RATE, i] * dt


@part
def fill_slower(H, g, box, dt, limb, slow):
    """
    Fill by which factors tasks have to be slowed down for joints to brake where they end.

    All joints of a limb are slowed down alike, so that their path stays the same.
    """
    n, K, d = len(limb), H.copy(), -g
    largest = 0.0
    for a in range(n):
        largest = max(largest, H[a, a])
    for a in range(n):
        K[a, a] += 1e-6 * largest + 1e-12
    if not factorize(K):
        return
    solve(K, d)
    for a in range(n):
        way, limit = abs(d[a]), box[row.ACCELERATION, a]
        if 0 < limit < np.inf and way > 0:   # 0: a driven joint, which keeps its velocity
            slow[limb[a]] = min(slow[limb[a]], brake(way, BRAKING * limit, dt) * dt / way)


@part
def slow_firm_tasks(problem):
    """Make the shares of hard and scaled tasks so small that joints can brake for them."""
    rows, J, limb = problem.rows, problem.J, problem.limbs[-1]
    n, found = J.shape[1], False
    H, g, slow = np.zeros((n, n)), np.zeros(n), np.ones(n)
    for i in range(len(J)):
        if is_firm(rows[row.KIND, i]) and rows[row.SHARE, i] > 0:
            add_row(J[i], rows[row.TARGET, i] - rows[row.VALUE, i], 1.0, H, g)
            found = True
    if not (found and accelerates(problem.box)):
        return
    fill_slower(H, g, problem.box, problem.options[0], limb, slow)
    for i in range(len(J)):
        if is_firm(rows[row.KIND, i]):
            rows[row.SHARE, i] = min(rows[row.SHARE, i], slow[int(rows[row.LIMB, i])])


@part
def scaled_length(rows, dt):
    """Return the length of the step that all scaled tasks ask for, one under the other; -1."""
    squared, found = 0.0, False
    for i in range(rows.shape[1]):
        if rows[row.KIND, i] == row.SCALED:
            squared += wanted_step(rows, i, dt)**2
            found = True
    return math.sqrt(squared) if found else -1.0


@inner_part
def unit_of(rows, i, firm):
    """Return the factor of a row that must hold: how stiff it is."""
    if is_firm(rows[row.KIND, i]):
        return firm
    return FRAME_SPEED if rows[row.FASTEST, i] < np.inf else 1.0


@part
def firm_rows(problem, firm, length, A, lower, upper):
    """
    Fill the rows that come before all soft tasks; return how many they are, and their size.

    The last column is how far scaled tasks go, up to `length`: as it has the unit of a step, the
    direction is kept as well in short steps as in long ones. Hard and scaled tasks are `firm`
    times as stiff as bounds. The size is by how much they would add to H, at most, if soft.
    """
    rows, J, dt = problem.rows, problem.J, problem.options[0]
    n, count, size, sums = J.shape[1], 0, 0.0, np.zeros(J.shape[1])
    for i in range(len(J)):
        kind = rows[row.KIND, i]
        if not (kind == row.BOUNDED or is_firm(kind)):
            continue
        unit = unit_of(rows, i, firm)
        for j in range(n):
            A[count, j] = unit * J[i, j]
        if kind == row.BOUNDED:
            low, high = rate_bounds(problem, i)
            lower[count], upper[count] = max(unit * low, -MAX_CHANGE), min(unit * high, MAX_CHANGE)
        else:
            step = wanted_step(rows, i, dt)
            for j in range(n):
                sums[j] += J[i, j] * J[i, j]
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
    """Fill the quadratic form of the tasks of a priority, brought to size one, `size` at least."""
    rows, J, limb, box, dt = (problem.rows, problem.J, problem.limbs[level], problem.box,
                              problem.options[0])
    n, unit = J.shape[1], size
    slow, isotropic = np.ones(n), np.zeros(n)
    H[:], g[:] = 0.0, 0.0
    if accelerates(box):    # the way to where the targets are, then how fast to go it
        for i in range(len(J)):
            if rows[row.KIND, i] == level and rows[row.SHARE, i] > 0:
                add_row(J[i], rows[row.TARGET, i] - rows[row.VALUE, i], rows[row.WEIGHT, i], H, g)
        fill_slower(H[:n, :n], g[:n], box, dt, limb, slow)
        H[:], g[:] = 0.0, 0.0
    for i in range(len(J)):
        if rows[row.KIND, i] == level:
            one = int(rows[row.LIMB, i])
            rows[row.SHARE, i] = min(rows[row.SHARE, i], slow[one])
            step = rows[row.SHARE, i] * (rows[row.TARGET, i] - rows[row.VALUE, i])
            isotropic[one] += (rows[row.DAMPING, i] * rows[row.WEIGHT, i]
                               * min(step * step, LONGEST_STEP * LONGEST_STEP))
            add_row(J[i], step + rows[row.RATE, i] * dt, rows[row.WEIGHT, i], H, g)
    for a in range(n):
        for b in range(len(problem.inertia)):
            H[a, b] += problem.inertia[a, b] / (dt * dt)
        H[a, a] += problem.options[1] + isotropic[limb[a]]
        unit = max(unit, H[a, a])
    for a in range(n):
        g[a] /= unit
        for b in range(a + 1):
            H[a, b] /= unit
            H[b, a] = H[a, b]
        H[a, a] += EASE + box[row.SWING, a]
    for a in range(n, len(g)):      # how far scaled tasks go
        H[a, a], g[a] = scale_cost, -scale_cost * length
