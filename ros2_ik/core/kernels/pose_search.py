"""The search of poses: descents from the seed, from near it, then from random starts."""

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

CLOSE = (0.25, 0.7)     # a tip this near its target should get there near the seed [m, rad]


@part
def is_close(at, parameters, addresses, x, rows, work):
    """Return whether all targets are within CLOSE at x (nx,)."""
    f, J = np.empty(at.rows), np.zeros((at.rows, at.columns))
    fill_values(at, parameters, addresses, x, work, f, J)
    i = 0
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
def turn_back(own, turning, mine):
    """Add full turns to own[X] to be near the seed; return the largest change from that."""
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
    Fill own[X] with the first end of a descent that reaches the targets, else the best one.

    Starts are numbered from `first` to `last`: the seed, those near it (only for close targets),
    then random ones. Where the target is close but the descent from the seed ended far away, the
    starts near it are tried before that end is taken.
    Each descent takes up to `limit` iterations, all together up to `most`. Returns the squared
    error, exit flag, iterations, starts used and the next start.
    """
    work, limits = work_of(at), own[LIMITS:LIMITS + 2]
    best, flag, iterations, used, k = np.inf, 0, 0, 0, first
    change = 0.0
    while k <= last:
        if k == 1 and not is_close(at, parameters, addresses, own[SEED], rows, work):
            k = N_NEAR + 1
            last = max(last, k)
            continue
        if k > N_NEAR and flag == CONVERGED:
            break       # far from the seed, but there
        draw_start(k, state, own, bases)
        error, done, ended = descend_from(
            at, parameters, addresses, own[TRIAL],
            own[NARROW:NARROW + 2] if 0 < k <= N_NEAR else limits, rows, bounds, options,
            min(limit, most - iterations), work)
        iterations, used, k = iterations + done, used + 1, k + 1
        if used == 1 or error < best and flag != CONVERGED or ended == CONVERGED:
            best, flag = error, ended
            own[X] = own[TRIAL]
            change = turn_back(own, turning, mine)
        if flag == CONVERGED and (k > 1 or change <= NEAR) or iterations >= most:
            break
    return best, flag, iterations, used, k


@loop(f"Tuple((f8, i8, i8, i8, i8))({PARTS}, f8[:,:,::1], Array(f8, 1, 'C', True), f8[:,::1], "
      'i8[::1], i8[::1], f8[::1], i8, i8, i8, i8, i8[::1], f8[::1])')
def find_poses(places, numbers, addresses, poses, seed, ranges, indices, turning, options, limit,
               first, last, most, state, q):
    """
    Search for joint values that bring frames to `poses` (t, 4, 4), and fill q (nq,) with them.

    `places`, `numbers` and `addresses` are those of `Parts`, `options` those of `descend_from`.
    The moving values stand at `indices` (n,) of the seed (nq,); `ranges` (4, n) are their limits
    and the limits to draw from, and those numbered in `turning` may be turned to be near the seed.
    Parts of the problem that share no joint are searched by themselves. For the rest see
    `search_part`.
    """
    table, n_parts = table_of(places), places[0]
    all_bases = places[table[n_parts, ROWS]:]
    error, flag, iterations, used, following = 0.0, CONVERGED, 0, 0, first
    for p in range(n_parts):
        mine = places[table[p, VALUES]:table[p + 1, VALUES]]
        given = places[table[p, GIVEN]:table[p + 1, GIVEN]]
        rows = places[table[p, ROWS]:table[p + 1, ROWS]]
        own = np.empty((ROWS_OF_VALUES, len(mine)))
        parameters = np.empty(len(given))
        for j in range(len(given)):     # of each pose the rotation row by row, then the position
            t, k = given[j] // 12, given[j] % 12
            parameters[j] = poses[t, k // 3, k % 3] if k < 9 else poses[t, k - 9, 3]
        gather(own, seed, ranges, indices, mine)
        bases = all_bases
        if len(all_bases) > 0 and n_parts > 1:
            bases = np.searchsorted(mine, all_bases)
            bases = bases[mine[np.minimum(bases, len(mine) - 1)] == all_bases]
        away, end, done, starts, k = search_part(
            layout_of(numbers[table[p, NUMBERS]:table[p + 1, NUMBERS]],
                      places[table[p, LAYOUT]:table[p + 1, LAYOUT]]),
            parameters, addresses[table[p, ADDRESSES]:table[p + 1, ADDRESSES]], rows,
            numbers[table[p, BOUNDS]:table[p + 1, BOUNDS]].reshape(4, len(rows)),
            own, turning, mine, bases, options, limit, first, last,
            max(most - iterations, 0), state)
        error, iterations, used = error + away, iterations + done, max(used, starts)
        following = max(following, k)
        if end != CONVERGED:
            flag = end
        for j in range(len(mine)):
            q[indices[mine[j]]] = own[X, j]
    return error, flag, iterations, used, following
