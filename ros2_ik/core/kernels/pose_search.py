"""Multi-start search for poses: descents from the seed, from starts near it, from random ones."""

import numpy as np

from ros2_ik.core.kernels.comparisons import turned
from ros2_ik.core.kernels.descents import CONVERGED
from ros2_ik.core.kernels.lm import (
    ADDRESSES,
    BOUNDS,
    descend_from,
    GIVEN,
    LAYOUT,
    NUMBERS,
    PARTS,
    ROWS,
    table_of,
    VALUES,
)
from ros2_ik.core.kernels.rows import fill_values, layout_of, work_of
from ros2_ik.core.kernels.source import inner_part, loop, part
from ros2_ik.core.kernels.starts import (
    draw_start,
    gather,
    LIMITS,
    N_NEAR,
    NARROW,
    NEAR,
    ROWS_OF_VALUES,
    SEED,
    TRIAL,
    X,
)

# distance [m] and angle [rad] of tip and target below which a solution near the seed is expected
CLOSE = (0.25, 0.7)


@part
def is_close(at, parameters, addresses, x, rows, work):
    """Return whether all tips at x (nx,) are within CLOSE of their targets."""
    f, J = np.empty(at.rows), np.zeros((at.rows, at.columns))
    fill_values(at, parameters, addresses, x, work, f, J)
    i = 0
    # an entry is a target; its first three rows are the position, the others the orientation
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
def turn_to_seed(own, turning, mine):
    """
    Add full turns to own[X] that bring it nearest to own[SEED]; return the largest difference.

    Only the values numbered in `turning` may be turned; `mine` (k,) are the numbers of own's
    columns, both ascending.
    """
    change, t = 0.0, 0
    for j in range(len(mine)):
        while t < len(turning) and turning[t] < mine[j]:
            t += 1
        if t < len(turning) and turning[t] == mine[j]:
            own[X, j] = turned(own[X, j], own[SEED, j], own[LIMITS, j], own[LIMITS + 1, j])
        change = max(change, abs(own[X, j] - own[SEED, j]))
    return change


@part
def search_part(at, parameters, addresses, rows, bounds, own, turning, mine, bases, options,
                limit, first, last, most, state):
    """
    Fill own[X] with the end of the first descent that reaches the targets, or else the best end.

    Starts are numbered from `first` to `last`: the seed, N_NEAR starts near it (only for close
    targets), then random ones. If a target is close but the descent from the seed ends far from
    the seed, the starts near the seed are tried before that end is accepted. Each descent takes up
    to `limit` iterations, all together up to `most`.

    Return the squared error, exit flag, iterations, number of starts used and the next start.
    """
    work, limits = work_of(at), own[LIMITS:LIMITS + 2]
    best, flag, iterations, used, k = np.inf, 0, 0, 0, first
    change = 0.0
    while k <= last:
        # skip the starts near the seed if a target is not close
        if k == 1 and not is_close(at, parameters, addresses, own[SEED], rows, work):
            k = N_NEAR + 1
            last = max(last, k)
            continue
        # no solution near the seed: accept the solution far from it
        if k > N_NEAR and flag == CONVERGED:
            break
        draw_start(k, state, own, bases)
        error, done, ended = descend_from(
            at, parameters, addresses, own[TRIAL],
            own[NARROW:NARROW + 2] if 0 < k <= N_NEAR else limits, rows, bounds, options,
            min(limit, most - iterations), work)
        iterations, used, k = iterations + done, used + 1, k + 1
        # keep the best end; any solution replaces what is not one
        if used == 1 or error < best and flag != CONVERGED or ended == CONVERGED:
            best, flag = error, ended
            own[X] = own[TRIAL]
            change = turn_to_seed(own, turning, mine)
        if flag == CONVERGED and (k > 1 or change <= NEAR) or iterations >= most:
            break
    return best, flag, iterations, used, k


@loop(f"Tuple((f8, i8, i8, i8, i8))({PARTS}, f8[:,:,::1], Array(f8, 1, 'C', True), f8[:,::1], "
      'i8[::1], i8[::1], f8[::1], i8, i8, i8, i8, i8[::1], f8[::1])')
def find_poses(places, numbers, addresses, poses, seed, ranges, indices, turning, options, limit,
               first, last, most, state, q):
    """
    Fill the moving values of q (nq,) with joint values that bring tips to `poses` (t, 4, 4).

    `places`, `numbers` and `addresses` are those of `Parts`, `options` those of `descend_from`.
    The n moving values have the indices `indices` (n,) in `seed` (nq,). The rows of `ranges`
    (4, n) are lower and upper limits, then lower and upper ends of random starts. Full turns may
    be added to the values numbered in `turning`. Parts of the problem that share no joint are
    searched separately. See `search_part` for the other arguments and the results, which are
    summed or maximal over the parts.
    """
    table, n_parts = table_of(places), places[0]
    # first values of floating joints; a problem with such joints has one part
    bases = places[table[n_parts, ROWS]:]
    error, flag, iterations, used, following = 0.0, CONVERGED, 0, 0, first
    for p in range(n_parts):
        # index arrays of the part: of moving values, of the numbers in `poses`, and of rows
        mine = places[table[p, VALUES]:table[p + 1, VALUES]]
        given = places[table[p, GIVEN]:table[p + 1, GIVEN]]
        rows = places[table[p, ROWS]:table[p + 1, ROWS]]
        own = np.empty((ROWS_OF_VALUES, len(mine)))
        parameters = np.empty(len(given))
        # parameters of a pose: its rotation row by row, then its position
        for j in range(len(given)):
            t, k = given[j] // 12, given[j] % 12
            parameters[j] = poses[t, k // 3, k % 3] if k < 9 else poses[t, k - 9, 3]
        gather(own, seed, ranges, indices, mine)
        away, end, done, starts, k = search_part(
            layout_of(numbers[table[p, NUMBERS]:table[p + 1, NUMBERS]],
                      places[table[p, LAYOUT]:table[p + 1, LAYOUT]]),
            parameters, addresses[table[p, ADDRESSES]:table[p + 1, ADDRESSES]], rows,
            numbers[table[p, BOUNDS]:table[p + 1, BOUNDS]].reshape(4, len(rows)),
            own, turning, mine, bases, options, limit, first, last,
            max(most - iterations, 0), state)
        # merge the results of the parts
        error, iterations, used = error + away, iterations + done, max(used, starts)
        following = max(following, k)
        if end != CONVERGED:
            flag = end
        for j in range(len(mine)):
            q[indices[mine[j]]] = own[X, j]
    return error, flag, iterations, used, following
