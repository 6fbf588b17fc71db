"""Multi-start search for poses: descents from the seed, starts near it, and random starts."""

import numpy as np

from ros2_ik.core.kernels.comparisons import nearest_turn
from ros2_ik.core.kernels.descents import CONVERGED, descend_from
from ros2_ik.core.kernels.rows import fill_values, functions_of, TURN, work_of
from ros2_ik.core.kernels.source import inner_part, loop, part
from ros2_ik.core.kernels.starts import (
    BEST,
    CURRENT,
    draw_start,
    init_values,
    LIMITS,
    MAX_NEAR_CHANGE,
    N_NEAR,
    NEAR_LIMITS,
    ROWS_OF_VALUES,
    SEED,
)

# starts near the seed are tried only if each tip at the seed is within this distance [m] and angle
# [rad] of its target
CLOSE = (0.25, 0.7)


@part
def is_close(functions, x, rows, work):
    """Return whether all tips at x (nx,) are within CLOSE of their targets."""
    at, i = functions.layout, 0
    f, J = np.empty(at.rows), np.zeros((at.rows, at.columns))
    fill_values(functions, x, work, f, J)
    # an entry is the error of a target: three position rows, then three orientation rows
    for entry in range(at.entries):
        top, position, orientation = at.table[at.row + entry], 0.0, 0.0
        while i < len(rows) and rows[i] < at.table[at.row + entry + 1]:
            if rows[i] < top + 3:
                position += f[rows[i]]**2
            else:
                orientation += f[rows[i]]**2
            i += 1
        if not (position <= CLOSE[0]**2 and orientation <= CLOSE[1]**2):
            return False
    return True


@inner_part
def turn_to_seed(values, angles):
    """Bring values[BEST] near the seed by full turns of `angles`; return the largest change."""
    for j in angles:
        values[BEST, j] = nearest_turn(values[BEST, j], values[SEED, j], values[LIMITS, j],
                                       values[LIMITS + 1, j])
    change = 0.0
    for j in range(values.shape[1]):
        change = max(change, abs(values[BEST, j] - values[SEED, j]))
    return change


@part
def search(functions, hard_rows, values, indices, starts, options, limit, most):
    """
    Fill values[BEST] with the first result that reaches the targets, or else with the best result.

    Starts `first` to `last` are tried: start 0 is the seed, starts 1 to N_NEAR are near it (only
    for close targets), all others are random. If all targets are close, but the descent from the
    seed finds a solution far from it, starts near the seed are tried before that solution is
    accepted. Each descent takes up to `limit` iterations, all descents together up to `most`.

    Return squared error, exit flag, iterations, count of starts used, number of the next start.
    """
    at, (angles, bases), (_, first, last, state) = functions.layout, indices, starts
    work, limits, near = work_of(at), values[LIMITS:LIMITS + 2], values[NEAR_LIMITS:]
    # from random starts, ignore limits a full turn or more apart: more descents succeed, and full
    # turns lead back inside. From others, respect them: turns back would end far from the seed
    free = limits.copy()
    for j in angles:
        if limits[1, j] - limits[0, j] >= TURN:
            free[0, j], free[1, j] = -np.inf, np.inf
    best, flag, iterations, used, k = np.inf, 0, 0, 0, first
    change, farthest = 0.0, np.full(at.columns, np.inf)
    while k <= last:
        # skip the starts near the seed unless all targets are close
        if k == 1 and not is_close(functions, values[SEED], hard_rows[0], work):
            k, last = N_NEAR + 1, max(last, N_NEAR + 1)
            continue
        # no solution near the seed: accept the solution far from it
        if k > N_NEAR and flag == CONVERGED:
            break
        draw_start(k, state, values, bases)
        error, done, ended = descend_from(
            functions, values[CURRENT], limits if k == 0 else near if k <= N_NEAR else free,
            farthest, hard_rows, options, min(limit, most - iterations), work)
        iterations, used, k = iterations + done, used + 1, k + 1
        # keep the best result; a solution replaces any other result
        if used == 1 or error < best and flag != CONVERGED or ended == CONVERGED:
            best, flag = error, ended
            values[BEST] = values[CURRENT]
            change = turn_to_seed(values, angles)
        if flag == CONVERGED and (k > 1 or change <= MAX_NEAR_CHANGE) or iterations >= most:
            break
    return best, flag, iterations, used, k


@loop('Tuple((f8, i8, i8, i8, i8))(Tuple((f8[::1], i8[::1], i8[::1], i8[::1], f8[:,::1], i8[::1], '
      "i8[::1], i8[::1])), f8[:,:,::1], Tuple((Array(f8, 1, 'C', True), i8, i8, i8[::1])), "
      'f8[:,:], f8[::1], i8, i8, f8[::1])')
def find_poses(group, poses, starts, ranges, options, limit, most, q):
    """
    Fill the moving values of q (nq,) with joint values that bring tips to `poses` (t, 4, 4).

    `group` has numbers, layout and addresses of a program whose entries are the targets, rows and
    bounds (see `bound_distances`), and three arrays of indices: of the n moving values in q; among
    these, of `angles` to which full turns may be added, and of floating joints' first values.
    `starts` has the seed (nq,), the numbers of the first and the last start, and the state of the
    random generator. See `init_values` for `ranges`, `search` for other arguments and results.
    """
    numbers, layout, addresses, rows, bounds, moving, angles, bases = group
    values = np.empty((ROWS_OF_VALUES, len(moving)))
    init_values(values, starts[0], ranges, moving)
    # parameters of a pose: its rotation row by row, then its position
    parameters = np.empty(12 * len(poses))
    for t in range(len(poses)):
        for i in range(3):
            for j in range(3):
                parameters[12 * t + 3 * i + j] = poses[t, i, j]
            parameters[12 * t + 9 + i] = poses[t, i, 3]
    functions = functions_of((numbers, layout, parameters, addresses))
    found = search(functions, (rows, bounds), values, (angles, bases), starts, options, limit,
                   most)
    for j in range(len(moving)):
        q[moving[j]] = values[BEST, j]
    return found
