"""A step of velocity IK: one quadratic program per priority, then the motion of the joints."""

import math

import numpy as np

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import QP, row_times, solve_qp
from ros2_ik.core.kernels.rows import ARRAYS, fill, functions_of, move, work_of
from ros2_ik.core.kernels.source import inner_part, loop, part
from ros2_ik.core.kernels.velocity_limits import fill_step_limits
from ros2_ik.core.kernels.velocity_rows import Problem
from ros2_ik.core.kernels.velocity_tasks import (
    firm_rows,
    is_firm,
    MIN_DAMPING,
    row_scale,
    scaled_length,
    slow_firm_tasks,
    soft_tasks,
)

DONE, RELAXED, NOT_FINITE, INTERRUPTED = 0, 1, 2, 3

SLACK_WEIGHT = 1e7          # slack weight of bounds and distances, for tasks scaled to H[j,j] <= 1
FIRM_SCALE = 0.3            # scale of firm rows and solved priorities; bounds: see `row_scale`
# scale of firm rows (hard and scaled tasks) if the step would otherwise violate a bound: low, so
# that they yield. An arm with a hard task then evades an arm that another controller moves
YIELDING_SCALE = 0.003
DAMPING_TRIES = 3           # tries to solve a program; a retry adds 100 MIN_DAMPING to the damping
BOUND_TOLERANCE = 1e-6      # violation of a bound above which it is reported [units of f]
DIRECTION_TOLERANCE = 1e-6  # tolerance of the direction of scaled tasks, relative to their length
MAX_CORRECTED_SLACK = 1e-3  # slack above which a row is taken to contradict other rows
CORRECTIONS = 4             # most corrections of a step whose curved path crosses a bound
HALVINGS = 8                # most halvings of a step that still crosses a bound
SCALE_COST = 1e-4           # weight of the undone part of scaled tasks, relative to firm rows
SLACK = 0.1                 # largest unreported shortfall of a distance, relative to its margin
REVERSAL = 0.25             # least reverse velocity / last velocity that counts as an oscillation
MIN_OSCILLATION_SPEED = 1e-4    # slowest oscillation that is damped [rad/s, m/s]
DAMPING_GROWTH = 30             # factor of the damping in each solve with a reversal
MAX_DAMPING = 1e2               # largest damping of oscillations, relative to the largest H[j, j]
DAMPING_DECAY = 0.9             # factor of the damping in each solve without a reversal


@part
def solve_priorities(problem, firm, step, violations):
    """
    Fill step (n,) by one QP per priority; return the scale (0 to 1) of scaled tasks.

    `firm` is the scale of firm rows. Fill `violations` (m + k,) for firm rows, bounds and
    distances. If the first QP fails numerically, return NaN; if a later QP fails, stop there.
    """
    rows, J, joints, dt = problem.rows, problem.J, problem.joints, problem.options[0]
    (m, n), length = J.shape, scaled_length(rows, dt)
    fill_step_limits(joints, problem.options)
    # variables: the step and, if there are scaled tasks, the length by which they move
    N = n if length < 0 else n + 1
    A, bounds, ends = np.zeros((2 * m, N)), np.empty((2, 2 * m)), np.zeros((2, N))
    ends[0, :n], ends[1, :n], ends[1, n:] = joints[row.MIN_STEP], joints[row.MAX_STEP], length
    x, H, g = np.zeros(N), np.zeros((N, N)), np.zeros(N)
    tolerance = (min(BOUND_TOLERANCE, DIRECTION_TOLERANCE * length) if length > 0
                 else BOUND_TOLERANCE)
    # `size` keeps damping small compared with firm rows if no task is soft
    count, size = firm_rows(problem, firm, length, A, bounds[0], bounds[1])
    for level in range(len(problem.limbs) - 1):
        if level and not np.any(rows[row.KIND] == level):
            continue
        soft_tasks(problem, level, size, SCALE_COST * SLACK_WEIGHT * firm * firm, length, H, g)
        if not solve_level(QP(H, g, A[:count], bounds[0, :count], bounds[1, :count], SLACK_WEIGHT,
                              ends[0], ends[1]), FIRM_SCALE * tolerance, x):
            if level == 0:
                return math.nan
            # keep the step of the higher priorities
            break
        # lower priorities must not change the result of this priority or slow down scaled tasks
        count = fix_level(problem, level, x, A, bounds, count)
        for a in range(n, N):
            ends[0, a] = min(x[a], length)
    step[:] = x[:n]
    fill_violations(problem, A, bounds, x, firm, violations)
    return min(x[n] / length, 1.0) if length > 0 else 1.0


@part
def solve_level(qp, slack, x):
    """Fill x with a QP's minimizer, compensating slacks > `slack`; False on numerical failure."""
    found, y, more = x.copy(), np.empty(len(qp.g) + len(qp.A)), np.empty((2, len(qp.A)))
    # more damping if H is numerically not positive definite
    for turn in range(DAMPING_TRIES):
        if solve_qp(qp, found, y):
            break
        if turn == DAMPING_TRIES - 1:
            return False
        for a in range(len(qp.g)):
            qp.H[a, a] += 100.0 * MIN_DAMPING
    x[:] = found
    # solve once more with bounds that compensate for small slacks
    if compensate_slack(qp.A, qp.lower, qp.upper, x, slack, more) and solve_qp(
            QP(qp.H, qp.g, qp.A, more[0], more[1], qp.weight, qp.low, qp.high), found, y):
        x[:] = found
    return True


@inner_part
def violation(A, i, lower, upper, x):
    """Return the signed violation of row i at x: positive above, negative below its bounds."""
    value = row_times(A, i, x)
    return value - min(max(value, lower[i]), upper[i])


@part
def compensate_slack(A, lower, upper, x, least_slack, more):
    """
    Fill `more` (2, len(A)) with bounds that compensate for slacks; return whether any changed.

    One step of the method of multipliers: a row exceeds its bound by a slack proportional to its
    multiplier. If the bound is tightened by this slack, the row exceeds the new bound by about the
    same slack and so ends at the original bound. Slacks above MAX_CORRECTED_SLACK are not
    compensated, because their rows contradict each other.
    """
    found = False
    for i in range(len(A)):
        excess = violation(A, i, lower, upper, x)
        if not least_slack < abs(excess) < MAX_CORRECTED_SLACK:
            excess = 0.0
        found = found or excess != 0
        more[0, i], more[1, i] = lower[i] - excess, upper[i] - excess
    return found


@part
def fix_level(problem, level, x, A, bounds, count):
    """Append a priority's tasks to rows A, fixed at their values at x; return the row count."""
    rows, J = problem.rows, problem.J
    for i in range(len(J)):
        if rows[row.KIND, i] == level and rows[row.WEIGHT, i] > 0:
            for j in range(J.shape[1]):
                A[count, j] = FIRM_SCALE * J[i, j]
            bounds[:, count] = row_times(A, count, x)
            count += 1
    return count


@part
def fill_violations(problem, A, bounds, x, firm, violations):
    """Fill `violations` (m + k,) with violations > BOUND_TOLERANCE of bounds and of firm rows."""
    rows, at_row, violations[:] = problem.rows, 0, 0.0
    for i in range(len(problem.J)):
        if rows[row.KIND, i] == row.BOUNDED or is_firm(rows[row.KIND, i]):
            unit, excess = row_scale(rows, i, firm), violation(A, at_row, bounds[0], bounds[1], x)
            violations[i] = excess / unit if abs(excess) > BOUND_TOLERANCE * unit else 0.0
            at_row += 1


@part
def crosses_bound(rows, after):
    """Return whether values `after` (m,) leave the bounds of a row or increase a violation."""
    for i in range(len(after)):
        if rows[row.KIND, i] == row.BOUNDED:
            if (after[i] < min(rows[row.LOWER, i] - BOUND_TOLERANCE, rows[row.VALUE, i])
                    or after[i] > max(rows[row.UPPER, i] + BOUND_TOLERANCE, rows[row.VALUE, i])):
                return True
    return False


@part
def fill_exceeded_limits(joints, step, dt, out):
    """Write the largest excesses over the limits to `out` (3,), in the order of row.LIMITS."""
    out[:] = 0.0
    for j in range(len(step)):
        a, speed, v = joints[row.ACCELERATION, j], joints[row.SPEED, j], step[j] / dt
        if not math.isinf(a):
            over = abs(v - joints[row.LAST_VELOCITY, j]) / dt - a
            if over > BOUND_TOLERANCE * (1.0 + a) / dt:
                out[0] = max(out[0], over)
        if abs(v) - speed > BOUND_TOLERANCE * (1.0 + speed):
            out[1] = max(out[1], abs(v) - speed)
        at = joints[row.POSITION, j] + step[j]
        outside_by = max(joints[row.LOW, j] - at, at - joints[row.HIGH, j])
        if outside_by > BOUND_TOLERANCE:
            out[2] = max(out[2], outside_by)


@part
def drop_futile_pushes(rows, violations, first):
    """
    Zero the push of distances (rows from `first` on) that cannot grow; return whether any changed.

    Their rows contradict each other or the robot's kinematics; pushing further would only make the
    robot oscillate. Pairs in contact are still pushed apart.
    """
    found = False
    for i in range(first, len(violations)):
        inside = 0 <= rows[row.VALUE, i] < rows[row.LOWER, i]
        if inside and rows[row.PUSH, i] > 0 and violations[i] != 0:
            rows[row.PUSH, i] = 0.0
            found = True
    return found


@part
def fill_push_violations(rows, J, gaps, step, dt, violations):
    """Fill `violations` for distances far below their margin that a step increases too little."""
    first = len(J) - len(gaps)
    for i in range(first, len(J)):
        inside = rows[row.LOWER, i] - rows[row.VALUE, i]
        if inside > SLACK * rows[row.LOWER, i]:
            change = row_times(J, i, step) - rows[row.APPROACH, i] * dt
            excess = change - min(rows[row.GAIN, i] * inside, gaps[i - first, row.PUSH] * dt)
            if excess < -BOUND_TOLERANCE:
                violations[i] = excess


@part
def damp_oscillations(step, joints, dt):
    """
    Damp joints that reverse from step to step, which no smooth motion does.

    Joints oscillate near a singularity, and where a row's gradient changes within a step.
    A solve that reverses a joint multiplies the joint's damping by DAMPING_GROWTH; all other
    solves lower it. A step that is solved again with more pairs counts as several solves.
    (Measured without damping: of 96 arms whose hand was pulled into the base column, 6 oscillated
    without end, at up to 1.2 rad/s; arms near singularities oscillated at up to 1.4 rad/s.)
    """
    damping = joints[row.OSCILLATION_DAMPING]
    for j in range(len(step)):
        before, now = joints[row.LAST_VELOCITY, j], step[j] / dt
        if abs(before) > MIN_OSCILLATION_SPEED and now * before < -REVERSAL * before * before:
            damping[j] = min(max(DAMPING_GROWTH * damping[j], MIN_DAMPING), MAX_DAMPING)
        else:
            damping[j] *= DAMPING_DECAY


@part
def solve_bounded(problem, first, step, violations):
    """
    Fill the step; if it violates bounds, drop futile pushes, then let firm tasks yield.

    Return the scales of firm rows and of scaled tasks. (Measured without yielding: an
    arm with a hard task that moved its tool into a wall exceeded its acceleration limits 24-fold.)
    """
    scale = solve_priorities(problem, FIRM_SCALE, step, violations)
    if drop_futile_pushes(problem.rows, violations, first):
        scale = solve_priorities(problem, FIRM_SCALE, step, violations)
    kinds = problem.rows[row.KIND]
    if not (np.any(violations[kinds == row.BOUNDED])
            and np.any((kinds == row.HARD) | (kinds == row.SCALED))):
        return FIRM_SCALE, scale
    return YIELDING_SCALE, solve_priorities(problem, YIELDING_SCALE, step, violations)


# separate arguments: a step with tuples of arrays takes 5 % longer
@loop(f'Tuple((i8, f8))({ARRAYS}, f8[::1], i8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], '
      'f8[:,::1], f8[::1], f8[::1])')
def velocity_step(numbers, layout, parameters, addresses, x, limbs, given, gaps, joints, options,
                  inertia, step, violations):
    """
    Fill step (n,) with the joints' motion in dt, and move x (nx,) by it.

    `given` (NUMBERS, m), `gaps` (k, NUMBERS + n) and `joints` (COLUMN_NUMBERS, n) are tables of
    functions, pairs and joints (see `velocity_rows`). The row VALUE of `given` is an output.
    Joints that the tasks of one priority move together form a limb, numbered by one of its joints.
    Row i of `limbs` (levels + 1, n) has the limb of each joint for priority i, the last row for
    the firm tasks. `options` are dt [s], the damping, and the gain of position limits. `inertia`
    (n, n), or (0, 0) for none, adds the kinetic energy to the cost.

    Fill `violations` (m + k + 3,) for rows, pairs and the limits in LIMITS. Return DONE,
    RELAXED, NOT_FINITE or INTERRUPTED, and the scale of scaled tasks.
    """
    functions = functions_of((numbers, layout, parameters, addresses))
    at, n, m, dt = functions.layout, len(step), given.shape[1], options[0]
    work, after, J_after, free = work_of(at), np.empty(m), np.zeros((m, n)), np.empty((2, len(x)))
    free[0], free[1] = -np.inf, np.inf
    step[:], violations[:] = 0.0, 0.0
    # rows of functions, then of pairs; values and Jacobian at x
    rows = np.hstack((given, gaps[:, :row.NUMBERS].T))
    J = np.vstack((np.zeros((m, n)), gaps[:, row.NUMBERS:]))
    if not fill(functions, x, work, rows[row.VALUE], J):
        return INTERRUPTED, 0.0
    given[row.VALUE] = rows[row.VALUE, :m]
    # one sum tests all numbers: it is not finite if a number is not finite, or if it overflows
    is_used = rows[row.KIND] != row.UNUSED
    if not math.isfinite(rows[row.VALUE][is_used].sum() + J[is_used].sum()):
        return NOT_FINITE, 0.0
    # positions of the joints; floating joints have no limits
    for j in range(n):
        i = at.table[at.values + j]
        joints[row.POSITION, j] = x[i] if i >= 0 else 0.0
    # the linearized step
    begin, row_violations = x.copy(), violations[:len(J)]
    problem = Problem(rows, J, limbs, joints, options, inertia)
    slow_firm_tasks(problem)
    firm, scale = solve_bounded(problem, m, step, row_violations)
    bounded = np.any(given[row.KIND] == row.BOUNDED)
    for turn in range(CORRECTIONS + HALVINGS + 1):
        if scale != scale:
            step[:] = 0.0
            return NOT_FINITE, 0.0
        if turn > CORRECTIONS:
            # driven joints (acceleration limit 0) keep their velocity
            step *= np.where(joints[row.ACCELERATION] == 0, 1.0, 0.5)
            scale *= 0.5
        x[:] = begin
        move(at, x, step, free)
        if not bounded:
            break
        if not fill(functions, x, work, after, J_after):
            return INTERRUPTED, 0.0
        if not crosses_bound(rows, after):
            break
        # the curved path crosses a bound: correct the step by the error of its linearization; if
        # that fails, halve the uncorrected step (halving alone exceeded acceleration limits 2.5
        # times as often)
        if turn < CORRECTIONS:
            for i in range(m):
                if rows[row.KIND, i] == row.BOUNDED:
                    rows[row.CURVED, i] = after[i] - rows[row.VALUE, i] - row_times(J, i, step)
            scale = solve_priorities(problem, firm, step, row_violations)
        elif turn == CORRECTIONS:
            rows[row.CURVED] = 0.0
            scale = solve_priorities(problem, firm, step, row_violations)
    else:
        # even the shortest step crosses a bound: report the violations
        for i in range(m):
            if rows[row.KIND, i] == row.BOUNDED:
                low, high = rows[row.LOWER, i], rows[row.UPPER, i]
                violations[i] = after[i] - min(max(after[i], low), high)
    damp_oscillations(step, joints, dt)
    fill_push_violations(rows, J, gaps, step, dt, violations)
    fill_exceeded_limits(joints, step, dt, violations[len(J):])
    # a halved step may miss hard tasks
    return (RELAXED if np.any(violations != 0) or turn > CORRECTIONS else DONE), scale
