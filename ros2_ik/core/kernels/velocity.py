"""A step of velocity IK: a quadratic program for each priority, and the resulting move."""

import math

import numpy as np

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import row_times, solve_qp
from ros2_ik.core.kernels.rows import fill, layout_of, move, PROGRAM, work_of
from ros2_ik.core.kernels.source import inner_part, loop, part
from ros2_ik.core.kernels.velocity_limits import fill_box
from ros2_ik.core.kernels.velocity_rows import Problem
from ros2_ik.core.kernels.velocity_tasks import (
    EASE,
    firm_rows,
    is_firm,
    scaled_length,
    slow_firm_tasks,
    soft_tasks,
    unit_of,
)

DONE, RELAXED, NOT_FINITE, INTERRUPTED = 0, 1, 2, 3

STIFF = 1e7         # weight of the slack of gaps and bounds; tasks weigh 1
FIRM = 0.3          # length of the rows of hard tasks and held priorities; those of bounds have 1
YIELDING = 0.003    # the same where a bound would be missed
# without it an arm stands still while another one, which is driven, comes too near
EASINGS = 3         # times that a program is solved, each with a hundred times the damping
MISSED = 1e-6       # by which a bound may be missed before that is reported
ASTRAY = 1e-6       # part of their way by which scaled tasks may leave it
SHARP = 1e-3        # larger slacks of firm rows are those of rows that contradict each other
CORRECTIONS = 4     # of a step whose curved path crosses a bound
HALVINGS = 8        # of a step that still crosses one
SCALE_COST = 1e-4   # of the way that scaled tasks leave, as a part of their rows' stiffness
SLACK = 0.1         # part of its margin that a gap may miss before that is reported
REVERSAL = 0.25     # part of its last speed with which a joint that swings turns back
LEAST_SWING = 1e-4  # [rad/s, m/s] slowest swing that is damped
SWING_GROWTH = 30   # factor of the damping with each swing
MOST_SWING = 1e2    # largest damping of swings, relative to the diagonal of H
FADING = 0.9        # factor of the damping in each step without a swing


@part
def solve_priorities(problem, firm, step, missed):
    """
    Fill the step, with hard tasks so `firm`; return the scale of scaled tasks.

    NaN where numbers do not suffice. `missed` (m + k,) gets the amounts by which hard rows,
    bounds and gaps are missed.
    """
    rows, J, box, dt = problem.rows, problem.J, problem.box, problem.options[0]
    (m, n), length = J.shape, scaled_length(rows, dt)
    fill_box(box, problem.options)
    N = n if length < 0 else n + 1
    A, bounds, ends = np.zeros((2 * m, N)), np.empty((2, 2 * m)), np.zeros((2, N))
    ends[0, :n], ends[1, :n], ends[1, n:] = box[row.LEAST], box[row.MOST], length
    x, H, g = np.zeros(N), np.zeros((N, N)), np.zeros(N)
    slack = FIRM * (min(MISSED, ASTRAY * length) if length > 0 else MISSED)
    # beside firm rows damping must stay small where no task is soft
    count, size = firm_rows(problem, firm, length, A, bounds[0], bounds[1])
    for level in range(len(problem.limbs) - 1):
        if level and not np.any(rows[row.KIND] == level):
            continue
        soft_tasks(problem, level, size, SCALE_COST * STIFF * firm * firm, length, H, g)
        if not solve_level(H, g, A[:count], bounds[0, :count], bounds[1, :count], ends, slack, x):
            if level == 0:
                return math.nan
            break       # those of higher priority have their step
        count = hold_level(problem, level, x, A, bounds, count)
        for a in range(n, N):   # tasks of lower priority do not slow scaled ones
            ends[0, a] = min(x[a], length)
    step[:] = x[:n]
    fill_missed(problem, A, bounds, x, firm, missed)
    return min(x[n] / length, 1.0) if length > 0 else 1.0


@part
def solve_level(H, g, A, lower, upper, ends, slack, x):
    """Fill x with the optimum of one priority; return whether numbers suffice."""
    found, y, more = x.copy(), np.empty(len(g) + len(A)), np.empty((2, len(A)))
    for turn in range(EASINGS):
        if solve_qp(H, g, A, lower, upper, STIFF, ends[0], ends[1], found, y):
            break
        if turn == EASINGS - 1:
            return False
        for a in range(len(g)):
            H[a, a] += 100.0 * EASE
    x[:] = found
    if sharpen(A, lower, upper, x, slack, more) and solve_qp(
            H, g, A, more[0], more[1], STIFF, ends[0], ends[1], found, y):
        x[:] = found
    return True


@inner_part
def outside(A, i, lower, upper, x):
    """Return by how much a row is outside its bounds, by its sign."""
    value = row_times(A, i, x)
    return value - min(max(value, lower[i]), upper[i])


@part
def sharpen(A, lower, upper, x, least_slack, more):
    """
    Fill bounds that make up for the slack that strong tasks leave; return whether there is any.

    A slack is in proportion to its row's multiplier: what was a bit short was asked for too
    little. (The method of multipliers, one step of it.) What contradicts each other stays.
    """
    found = False
    for i in range(len(A)):
        away = outside(A, i, lower, upper, x)
        if not least_slack < abs(away) < SHARP:
            away = 0.0
        found = found or away != 0
        more[0, i], more[1, i] = lower[i] - away, upper[i] - away
    return found


@part
def hold_level(problem, level, x, A, bounds, count):
    """Add the tasks of a priority to the rows that must hold; return how many rows."""
    rows, J = problem.rows, problem.J
    for i in range(len(J)):
        if rows[row.KIND, i] == level and rows[row.WEIGHT, i] > 0:
            for j in range(J.shape[1]):
                A[count, j] = FIRM * J[i, j]
            bounds[:, count] = row_times(A, count, x)
            count += 1
    return count


@part
def fill_missed(problem, A, bounds, x, firm, missed):
    """Fill by how much each row that must hold is outside its bounds."""
    rows, at_row = problem.rows, 0
    missed[:] = 0.0
    for i in range(len(problem.J)):
        if rows[row.KIND, i] == row.BOUNDED or is_firm(rows[row.KIND, i]):
            unit, away = unit_of(rows, i, firm), outside(A, at_row, bounds[0], bounds[1], x)
            missed[i] = away / unit if abs(away) > MISSED * unit else 0.0
            at_row += 1


@part
def misses_bounds(rows, missed):
    """Return whether there are hard or scaled tasks and some bound or gap is missed."""
    bound = firm = False
    for i in range(len(missed)):
        bound = bound or missed[i] != 0 and rows[row.KIND, i] == row.BOUNDED
        firm = firm or is_firm(rows[row.KIND, i])
    return bound and firm


@part
def rows_with_pairs(given, gaps, n):
    """Return the rows (NUMBERS, m + k) of functions and of pairs, and J, of pairs filled."""
    m, k = given.shape[1], len(gaps)
    rows, J = np.zeros((row.NUMBERS, m + k)), np.zeros((m + k, n))
    rows[:, :m] = given
    rows[row.UPPER, m:], rows[row.FASTEST, m:], rows[row.SLOWEST, m:] = np.inf, np.inf, -np.inf
    for i in range(k):
        for j in range(n):
            J[m + i, j] = gaps[i, j]
        rows[row.KIND, m + i], rows[row.VALUE, m + i] = row.BOUNDED, gaps[i, row.DISTANCE]
        rows[row.LOWER, m + i], rows[row.SHARE, m + i] = gaps[i, row.MARGIN], gaps[i, row.GAP_GAIN]
        rows[row.PUSH, m + i] = gaps[i, row.GAP_PUSH]
        rows[row.APPROACH, m + i] = gaps[i, row.GAP_SPEED]
    return rows, J


@part
def are_finite(rows, J):
    """Return whether values and Jacobian of the rows that count are finite."""
    total = 0.0
    for i in range(len(J)):
        if rows[row.KIND, i] != row.UNUSED:
            total += rows[row.VALUE, i]
            for j in range(J.shape[1]):
                total += J[i, j]
    return total - total == 0


@part
def crosses(rows, after):
    """Return whether a bounded row went from within its bounds to outside, or further out."""
    for i in range(len(after)):
        if rows[row.KIND, i] == row.BOUNDED:
            if (after[i] < min(rows[row.LOWER, i] - MISSED, rows[row.VALUE, i])
                    or after[i] > max(rows[row.UPPER, i] + MISSED, rows[row.VALUE, i])):
                return True
    return False


@part
def miss_limits(box, step, dt, out):
    """Fill by how much a step exceeds accelerations and speeds, and positions are outside."""
    out[:] = 0.0
    for j in range(len(step)):
        a, speed, v = box[row.ACCELERATION, j], box[row.SPEED, j], step[j] / dt
        if not math.isinf(a):
            over = abs(v - box[row.BEFORE, j]) / dt - a
            if over > MISSED * (1.0 + a) / dt:
                out[0] = max(out[0], over)
        if abs(v) - speed > MISSED * (1.0 + speed):
            out[1] = max(out[1], abs(v) - speed)
        at = box[row.POSITION, j] + step[j]
        outside_by = max(box[row.LOW, j] - at, at - box[row.HIGH, j])
        if outside_by > MISSED:
            out[2] = max(out[2], outside_by)


@part
def give_up_pushes(rows, missed, first):
    """
    Take the pushes from pairs (rows from `first` on) that cannot part; return whether any did.

    They contradict each other, or the build of the robot: pushed on they would only swing. Pairs
    in contact keep their pushes.
    """
    found = False
    for i in range(first, len(missed)):
        inside = 0 <= rows[row.VALUE, i] < rows[row.LOWER, i]
        if inside and rows[row.PUSH, i] > 0 and missed[i] != 0:
            rows[row.PUSH, i] = 0.0
            found = True
    return found


@part
def miss_pushes(rows, J, gaps, step, dt, missed):
    """Fill by how much less than they should gaps well within their margins are widened."""
    first = len(J) - len(gaps)
    for i in range(first, len(J)):
        inside = rows[row.LOWER, i] - rows[row.VALUE, i]
        if inside > SLACK * rows[row.LOWER, i]:
            change = row_times(J, i, step) - rows[row.APPROACH, i] * dt
            away = change - min(rows[row.SHARE, i] * inside, gaps[i - first, row.GAP_PUSH] * dt)
            if away < -MISSED:
                missed[i] = away


@part
def learn_swings(step, box, dt):
    """
    Damp joints that go to and fro from step to step, as no smooth motion does.

    They do beside a singularity, and where a row's gradient is another one on the other side of a
    step. Each swing raises the damping, SWING_GROWTH times; steps without one let it fade.
    Without it 6 of 96 hands that are pulled into the arm's column shake for good at up to
    1.2 rad/s, and targets beside singularities end in swings of up to 1.4 rad/s.
    """
    for j in range(len(step)):
        before, now = box[row.BEFORE, j], step[j] / dt
        if abs(before) > LEAST_SWING and now * before < -REVERSAL * before * before:
            box[row.SWING, j] = min(max(SWING_GROWTH * box[row.SWING, j], EASE), MOST_SWING)
        else:
            box[row.SWING, j] *= FADING


@part
def solve_bounded(problem, first, step, missed):
    """
    Fill the step; where bounds are missed, without pushes in vain, then with hard tasks yielding.

    Returns how firm hard tasks are, and the scale. (Without the latter a tool that a hard task
    leads into a wall broke its limits of acceleration 25 times over.)
    """
    scale = solve_priorities(problem, FIRM, step, missed)
    if give_up_pushes(problem.rows, missed, first):
        scale = solve_priorities(problem, FIRM, step, missed)
    if not misses_bounds(problem.rows, missed):
        return FIRM, scale
    return YIELDING, solve_priorities(problem, YIELDING, step, missed)


@loop(f'Tuple((i8, f8))({PROGRAM}, f8[::1], i8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], '
      'f8[:,::1], f8[::1], f8[::1])')
def velocity_step(numbers, layout, parameters, addresses, x, limbs, given, gaps, box, options,
                  inertia, step, missed):
    """
    Find the step (n,) of dt from x (nx,), which is moved by it.

    `given` (NUMBERS, m) are the rows of functions, see `velocity_rows`, whose values are filled.
    `limbs` (levels + 1, n) are the joints that tasks of each priority, and last firm ones, move
    together, each by the number of one of them. `gaps` (k, n + GAP_NUMBERS) are the pairs, `box`
    (COLUMN_NUMBERS, n) the joints. `options` are dt, damping and the gain of limits. `inertia`
    (n, n), or (0, 0), is added to the damping of velocities.

    `missed` (m + k + 3,) is filled with the amounts by which rows and limits of joints are missed.
    Returns a code (DONE ...) and the scale of scaled tasks.
    """
    at = layout_of(numbers, layout)
    n, m, dt = at.columns, at.rows, options[0]
    work, after, J_after, free = work_of(at), np.empty(m), np.zeros((m, n)), np.empty((2, len(x)))
    free[0], free[1] = -np.inf, np.inf
    step[:], missed[:] = 0.0, 0.0
    rows, J = rows_with_pairs(given, gaps, n)
    if not fill(at, parameters, addresses, x, work, rows[row.VALUE], J):
        return INTERRUPTED, 0.0
    given[row.VALUE] = rows[row.VALUE, :m]
    if not are_finite(rows, J):
        return NOT_FINITE, 0.0
    for j in range(n):      # floating joints have no limits
        i = at.table[at.values + j]
        box[row.POSITION, j] = x[i] if i >= 0 else 0.0
    begin, missed_rows = x.copy(), missed[:len(J)]
    problem = Problem(rows, J, limbs, box, options, inertia)
    slow_firm_tasks(problem)
    firm, scale = solve_bounded(problem, m, step, missed_rows)
    bounded = np.any(given[row.KIND] == row.BOUNDED)
    for turn in range(CORRECTIONS + HALVINGS + 1):
        if scale != scale:
            step[:] = 0.0
            return NOT_FINITE, 0.0
        if turn > CORRECTIONS:
            step *= 0.5
            scale *= 0.5
        x[:] = begin
        move(at, x, step, free)
        if not bounded:
            break
        if not fill(at, parameters, addresses, x, work, after, J_after):
            return INTERRUPTED, 0.0
        if not crosses(rows, after):
            break
        # a path that curves crosses a bound: correct the step, and where that does not help,
        # shorten the first one (shortening alone broke limits of acceleration 2.5 times as often)
        if turn < CORRECTIONS:
            for i in range(m):      # how much the values differ from what their Jacobian says
                if rows[row.KIND, i] == row.BOUNDED:
                    rows[row.CURVED, i] = after[i] - rows[row.VALUE, i] - row_times(J, i, step)
            scale = solve_priorities(problem, firm, step, missed_rows)
        elif turn == CORRECTIONS:
            rows[row.CURVED] = 0.0
            scale = solve_priorities(problem, firm, step, missed_rows)
    else:
        for i in range(m):
            if rows[row.KIND, i] == row.BOUNDED:
                missed[i] = after[i] - min(max(after[i], rows[row.LOWER, i]), rows[row.UPPER, i])
    learn_swings(step, box, dt)
    miss_pushes(rows, J, gaps, step, dt, missed)
    miss_limits(box, step, dt, missed[len(J):])
    return (RELAXED if np.any(missed != 0) else DONE), scale
