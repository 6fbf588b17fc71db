"""One step of velocity IK: a quadratic program for each priority, and the move it leads to."""

import math

import numpy as np

from ros2_ik.core.kernels.limbs import FADES, fill_calm, FLAT, learn_bends, swings
from ros2_ik.core.kernels.qp import factorize, least, solve_lower, solve_upper
from ros2_ik.core.kernels.rows import fill, layout_of, move, PROGRAM, work_of
from ros2_ik.core.kernels.source import inner_part, loop, part
from ros2_ik.core.kernels.velocity_rows import (
    ACCELERATION,
    BEFORE,
    BEND,
    BOUNDED,
    CARE,
    DAMPING,
    FASTEST,
    HARD,
    HIGH,
    LIMB,
    LOW,
    LOWER,
    NUMBERS,
    PUSH,
    RATE,
    SAFE,
    SCALED,
    SHARE,
    SLOWEST,
    SPEED,
    SWING,
    TARGET,
    UNUSED,
    UPPER,
    WEIGHT,
    WITHIN,
)

DONE, RELAXED, NOT_FINITE, INTERRUPTED = 0, 1, 2, 3

FAR = 1e6           # a step is never longer
STIFF = 1e7         # weight of the slack of gaps and bounds, where tasks weigh 1,
FIRM = 0.3          # and of hard tasks and those of higher priority, by the length of their rows,
YIELDING = 0.003    # which is this where bounds would be missed for them
EASE = 1e-7         # damping there is always: less would drown in the rounding of stiff rows,
EASINGS = 3         # and how often it is tried with a hundred times more
KEPT = 0.7          # part of the acceleration that tasks count on to brake
HARDER = 2          # times that accelerations are taken fourfold where a bound asks for more,
HELPS = 0.9999      # as long as it is missed by less then,
FREELY = 1e12       # and how often at once where it would be crossed even so,
RESCUES = 0.5       # if that leaves less than this part of it: what squeezes would be shaken
MISSED = 1e-6       # by which a bound may be missed before that is told
REVERSAL = 0.25     # a joint swings that turns back at once with this part of its speed,
LEAST_SWING = 1e-3  # if that was more than this [rad/s, m/s]
MORE_SWING = 30.0   # factor of the damping with each swing, from EASE on; relative to H's diagonal
MOST_SWING = 1e2
FIRST_SWING = 0.1   # from here on the damping lasts
LASTING, FADING = 0.95, 0.9   # factors of it in each other step
SLACK = 0.1         # part of its margin that a gap may miss before that is told
CARTESIAN = 3.0     # factor of the rows of frames' speed limits: stiffer than gaps
ASTRAY = 1e-6       # part of their way by which scaled tasks may leave it
SHARP = 1e-3        # larger slacks of firm rows are those of rows that contradict each other
BENDS = 4           # times that a step is corrected where a bent way would cross a bound,
SHORTER = 8         # and halved where that does not help
SCALE_COST = 1e-4   # of the way that scaled tasks leave, as a part of their rows' stiffness
LEVER = 0.1         # [units of f per rad or m] what moves a bounded value less needs less care
LONGEST = 10.0      # [units of f] that a task asks for in a step: more would drown the rest


@inner_part
def brake(distance, acceleration, dt):
    """
    Return the largest speed from which a joint comes to rest within a distance.

    It slows down by the acceleration in each step of dt: after the last one of n whole steps it
    rests exactly there, so that no step asks for more.
    """
    if not distance > 0:
        return 0.0
    if math.isinf(acceleration) or math.isinf(distance):
        return distance / dt
    x = distance / (acceleration * dt * dt)
    n = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * x) - 1.0))
    return acceleration * dt * (x / (n + 1) + 0.5 * n)


@inner_part
def accelerates(box):
    """Return whether any acceleration is limited."""
    for j in range(box.shape[1]):
        if 0 < box[ACCELERATION, j] < np.inf:
            return True
    return False


@inner_part
def narrow(low, high, lower, upper):
    """Return low..high within lower..upper, or its end that is nearest to that."""
    return min(max(low, lower), high), max(min(high, upper), low)


@part
def fill_box(at, x, box, dt, gain, times, low, high):
    """
    Fill how far each column may move down and up (n,) in a step of dt.

    Velocity comes before acceleration (`times` which), that before position: what is outside its
    limits comes back as fast as these allow.
    """
    for j in range(at.columns):
        most, a, before = min(box[SPEED, j] * dt, FAR), box[ACCELERATION, j], box[BEFORE, j]
        if not math.isinf(a):   # what is too fast already brakes
            most = max(most, (abs(before) - times * a * dt) * dt)
        low[j], high[j] = -most, most
        if not math.isinf(a):
            low[j], high[j] = narrow(low[j], high[j], (before - times * a * dt) * dt,
                                     (before + times * a * dt) * dt)
        i = at.table[at.values + j]
        if i < 0:
            continue
        down, up = x[i] - box[LOW, j], box[HIGH, j] - x[i]
        low[j], high[j] = narrow(
            low[j], high[j],
            -down if down < 0 else -min(gain * down, brake(down, a, dt) * dt),
            up if up < 0 else min(gain * up, brake(up, a, dt) * dt))


@inner_part
def row_acceleration(J, i, box, times):
    """Return how fast the joints may slow row i of a Jacobian down, all of them half-way."""
    a = 0.0
    for j in range(box.shape[1]):
        if J[i, j] != 0:
            a += 0.5 * times * box[ACCELERATION, j] * abs(J[i, j])
    return a


@inner_part
def least_change_of(left, share, push, acceleration, now, dt, times):
    """
    Return the least change in a step of what is `left` above a bound; back from below it.

    With more than the usual acceleration what comes nearer may brake later, but not go faster
    than it does `now`.
    """
    if left < 0:    # nothing is freed only to come back sooner, and no faster than it may
        if times >= FREELY or push <= 0:
            return 0.0
        return min(-share * left, push * dt, (max(now, 0.0) + acceleration * dt) * dt)
    change = -min(share * left, brake(left, acceleration, dt) * dt)
    if times > 1.0 and now * dt > change:
        usual = -min(share * left, brake(left, acceleration / times, dt) * dt)
        change = max(change, min(usual, now * dt))
    return change


@part
def rate_bounds(row, J, i, f, bend, box, dt, times):
    """Return the least and the largest change of a bounded row in a step, along a straight way."""
    a, now = row_acceleration(J, i, box, times), 0.0
    for j in range(J.shape[1]):
        now += J[i, j] * box[BEFORE, j]
    # what is too fast already brakes
    least_change = min(row[SLOWEST, i], now + a * dt) * dt
    most_change = max(row[FASTEST, i], now - a * dt) * dt
    share, push = row[SHARE, i], row[PUSH, i]
    if not math.isinf(row[LOWER, i]):
        least_change = max(least_change, least_change_of(
            f[i] - row[LOWER, i], share, push, a, now, dt, times))
    if not math.isinf(row[UPPER, i]):
        most_change = min(most_change, -least_change_of(
            row[UPPER, i] - f[i], share, push, a, -now, dt, times))
    if least_change > most_change:
        least_change = most_change = 0.5 * (least_change + most_change)
    return least_change - bend[i], most_change - bend[i]


@part
def add_task(row, J, i, step, H, g):
    """Add 1/2 weight |row dq - step|^2 of one row, of whose H the lower half counts."""
    weight = row[WEIGHT, i]
    for a in range(J.shape[1]):
        slope = weight * J[i, a]
        if slope != 0:
            g[a] -= slope * step
            for b in range(a + 1):
                H[a, b] += slope * J[i, b]


@part
def fill_slower(H, g, box, dt, limb, calm, slow):
    """
    Fill by which factors tasks have to be slowed down for joints to brake where they end.

    All joints of a limb are slowed down alike, so that the way stays one.
    """
    n, K, d = len(g), H.copy(), np.empty(len(g))
    largest = 0.0
    for a in range(n):
        largest = max(largest, H[a, a])
    for a in range(n):
        K[a, a] += 1e-6 * largest + 1e-12 + calm[a]
        d[a] = -g[a]
    if not factorize(K):
        return
    solve_lower(K, d, 0)
    solve_upper(K, d)
    for a in range(n):
        way, limit = abs(d[a]), box[ACCELERATION, a]
        if 0 < limit < np.inf and way > 0:   # 0: a driven joint, which keeps its velocity
            slow[limb[a]] = min(slow[limb[a]], brake(way, KEPT * limit, dt) * dt / way)


@part
def slow_firm_tasks(row, kinds, f, J, limb, box, dt):
    """Make the shares of hard and scaled tasks (in `row`) so small that joints can brake."""
    n, m = J.shape[1], len(kinds)
    H, g, slow = np.zeros((n, n)), np.zeros(n), np.ones(n)
    alike = np.ones((NUMBERS, m))
    for i in range(m):
        if (kinds[i] == HARD or kinds[i] == SCALED) and row[SHARE, i] > 0:
            add_task(alike, J, i, row[TARGET, i] - f[i], H, g)
    fill_slower(H, g, box, dt, limb, np.zeros(n), slow)
    for i in range(m):
        if kinds[i] == HARD or kinds[i] == SCALED:
            row[SHARE, i] = min(row[SHARE, i], slow[int(row[LIMB, i])])


@part
def with_slow_firm_tasks(row, kinds, f, J, limb, box, dt):
    """Return the numbers of rows, of which firm tasks go as fast as their joints can brake."""
    if not accelerates(box):
        return row
    for i in range(len(kinds)):
        if (kinds[i] == HARD or kinds[i] == SCALED) and row[SHARE, i] > 0:
            slower = row.copy()
            slow_firm_tasks(slower, kinds, f, J, limb, box, dt)
            return slower
    return row


@part
def scaled_length(row, kinds, f, dt):
    """Return the length of the step that all scaled tasks ask for, one under the other."""
    squared = 0.0
    for i in range(len(kinds)):
        if kinds[i] == SCALED:
            step = row[SHARE, i] * (row[TARGET, i] - f[i]) + row[RATE, i] * dt
            squared += step * step
    return math.sqrt(squared)


@inner_part
def unit_of_bound(row, i):
    """Return by how much the row of a bound is multiplied to be as stiff as it should."""
    return CARTESIAN if row[FASTEST, i] < np.inf else 1.0


@part
def firm_rows(row, kinds, f, J, bend, gaps, box, options, times, firm, length, A, lower, upper):
    """
    Fill the rows that come before all soft tasks; return how many they are, and their size.

    The last column is how far scaled tasks go, up to `length`: as it has the unit of a step, the
    direction is kept as well in short steps as in long ones.

    These are gaps, then bounds, hard and scaled tasks in their order, these `firm` times as
    stiff. The size is by how much they would add to H, at most, if they were soft.
    """
    n, dt, count, size = J.shape[1], options[0], 0, 0.0
    for i in range(len(gaps)):
        A[count, :n] = gaps[i, :n]
        now = -gaps[i, n + 1]
        for j in range(n):
            now += gaps[i, j] * box[BEFORE, j]
        lower[count] = gaps[i, n + 1] * dt + least_change_of(
            gaps[i, n], gaps[i, n + 2], gaps[i, n + 3], row_acceleration(gaps, i, box, times), now,
            dt, times)
        upper[count] = FAR
        count += 1
    for i in range(len(kinds)):
        if kinds[i] == BOUNDED:
            unit = unit_of_bound(row, i)
            A[count, :n] = unit * J[i]
            low, high = rate_bounds(row, J, i, f, bend, box, dt, times)
            lower[count], upper[count] = max(unit * low, -FAR), min(unit * high, FAR)
            count += 1
        elif kinds[i] == HARD or kinds[i] == SCALED:
            step = row[SHARE, i] * (row[TARGET, i] - f[i]) + row[RATE, i] * dt
            for j in range(n):
                A[count, j] = firm * J[i, j]
            if kinds[i] == SCALED:
                A[count, n] = -firm * step / length if length > 0 else 0.0
                step = 0.0
            lower[count] = upper[count] = firm * step
            count += 1
    for j in range(n):
        squared = 0.0
        for i in range(len(kinds)):
            if kinds[i] == HARD or kinds[i] == SCALED:
                squared += J[i, j] * J[i, j]
        size = max(size, squared)
    return count, size


@inner_part
def care_for(J, i, n, gain):
    """Return gain / |J|^2 of one row, and less where what joints change by it is little."""
    squared = 0.0
    for j in range(n):
        squared += J[i, j] * J[i, j]
    larger = max(squared, LEVER * LEVER)
    return gain * squared / (larger * larger)


@inner_part
def care_of(row, kinds, f, J, gaps):
    """Return the weight of the way between a step and the safe one, by what needs most care."""
    n, weight = J.shape[1], 0.0
    for i in range(len(gaps)):
        if gaps[i, n + 6] > 0:
            weight = max(weight, care_for(gaps, i, n, gaps[i, n + 6]))
    for i in range(len(kinds)):
        if kinds[i] == BOUNDED and row[CARE, i] > 0:
            left = min(f[i] - row[LOWER, i], row[UPPER, i] - f[i])
            near = min(1.0 - left / row[WITHIN, i], 1.0)
            if near > 0:
                weight = max(weight, care_for(J, i, n, row[CARE, i] * near * near))
    return weight


@part
def soft_tasks(row, kinds, level, f, J, limb, calm, care, box, options, inertia,
               accelerated, size, scale_cost, length, H, g):
    """
    Fill the quadratic form of the tasks of a priority, brought to size one, `size` at least.

    `calm` (n,) is what each joint is damped with beyond all else, `care` the weight of the way
    to the safe step.
    """
    n, dt, unit = J.shape[1], options[0], size
    of_limbs = np.zeros((3, n))
    slow, longest, isotropic = of_limbs[0], of_limbs[1], of_limbs[2]
    slow[:] = 1.0
    H[:] = 0.0
    g[:] = 0.0
    if accelerated:     # the way to where the targets are, then how fast to go it
        for i in range(len(kinds)):
            if kinds[i] == level and row[SHARE, i] > 0:
                add_task(row, J, i, row[TARGET, i] - f[i], H, g)
        fill_slower(H[:n, :n], g[:n], box, dt, limb, calm, slow)
        H[:] = 0.0
        g[:] = 0.0
    for i in range(len(kinds)):
        if kinds[i] == level:
            one = int(row[LIMB, i])
            longest[one] = max(longest[one], abs(
                min(row[SHARE, i], slow[one]) * (row[TARGET, i] - f[i]) + row[RATE, i] * dt))
    for i in range(len(kinds)):
        if kinds[i] == level:
            one = int(row[LIMB, i])
            part_of = 1.0 if longest[one] <= LONGEST else LONGEST / longest[one]
            step = part_of * min(row[SHARE, i], slow[one]) * (row[TARGET, i] - f[i])
            isotropic[one] += row[DAMPING, i] * row[WEIGHT, i] * step * step
            add_task(row, J, i, step + part_of * row[RATE, i] * dt, H, g)
    for a in range(n):
        for b in range(len(inertia)):
            H[a, b] += inertia[a, b] / (dt * dt)
        H[a, a] += options[1] + isotropic[limb[a]] + calm[a] + care
        g[a] -= care * box[SAFE, a] * dt
        unit = max(unit, H[a, a])
    for a in range(n):
        g[a] /= unit
        for b in range(a + 1):
            H[a, b] /= unit
            H[b, a] = H[a, b]
        H[a, a] += EASE + box[SWING, a]
    for a in range(n, len(g)):      # how far scaled tasks go
        H[a, a], g[a] = scale_cost, -scale_cost * length


@part
def solve_priorities(row, kinds, f, J, limbs, calm, bend, gaps, box, options, inertia,
                     times, firm, low, high, d, out):
    """
    Fill d (n,) with the step; gives the scale of scaled tasks, NaN where numbers do not suffice.

    `bend` (m,) is by how much bounded rows change beyond what their Jacobians say. `out` (m + k,)
    is filled with by how much hard rows, bounds and gaps are missed.
    """
    (m, n), k, scaled, levels = J.shape, len(gaps), 0, len(calm)
    accelerated = accelerates(box)
    for i in range(m):
        scaled = max(scaled, 1 if kinds[i] == SCALED else 0)
    N = n + scaled
    A, lower, upper = np.zeros((2 * m + k, N)), np.empty(2 * m + k), np.empty(2 * m + k)
    lower_again, upper_again = np.empty(2 * m + k), np.empty(2 * m + k)
    wide_low, wide_high = np.zeros(N), np.ones(N)
    length = scaled_length(row, kinds, f, options[0])
    wide_low[:n], wide_high[:n], wide_high[n:] = low, high, length
    slack = FIRM * (min(MISSED, ASTRAY * length) if length > 0 else MISSED)
    x, y, H, g = np.zeros(N), np.empty(N + 2 * m + k), np.zeros((N, N)), np.zeros(N)
    # beside firm rows damping must stay small where no task is soft
    count, size = firm_rows(row, kinds, f, J, bend, gaps, box, options, times, firm, length, A,
                            lower, upper)
    solved, care = x.copy(), care_of(row, kinds, f, J, gaps)
    for level in range(levels):
        if level and not np.any(kinds == level):
            continue
        soft_tasks(row, kinds, level, f, J, limbs[level], calm[level], care, box, options,
                   inertia, accelerated, size, SCALE_COST * STIFF * firm * firm, length, H, g)
        found = False
        for _ in range(EASINGS):
            found = least(H, g, A[:count], lower[:count], upper[:count], STIFF, wide_low,
                          wide_high, x, y)
            if found:
                break
            for a in range(n):
                H[a, a] += 100.0 * EASE
        if not found:
            if level == 0:
                return np.nan
            break       # those of higher priority have their step
        solved[:] = x
        if sharpen(A[:count], lower, upper, x, slack, lower_again, upper_again) and least(
                H, g, A[:count], lower_again[:count], upper_again[:count], STIFF, wide_low,
                wide_high, x, y):
            solved[:] = x
        if level + 1 < levels:
            count = hold(row, kinds, level, J, solved, A, lower, upper, count)
    d[:] = solved[:n]
    at_row = 0
    out[:] = 0.0
    for i in range(k):
        missed_by(A, at_row, lower, upper, solved, 1.0, out, m + i)
        at_row += 1
    for i in range(m):
        if kinds[i] == BOUNDED or kinds[i] == HARD or kinds[i] == SCALED:
            unit = unit_of_bound(row, i) if kinds[i] == BOUNDED else firm
            missed_by(A, at_row, lower, upper, solved, unit, out, i)
            at_row += 1
    return min(solved[n] / length, 1.0) if scaled and length > 0 else 1.0


@part
def hold(row, kinds, level, J, x, A, lower, upper, count):
    """Add the tasks of a priority to the rows, at what x makes of them; return how many rows."""
    for i in range(len(kinds)):
        if kinds[i] == level and row[WEIGHT, i] > 0:
            value = 0.0
            for j in range(J.shape[1]):
                A[count, j] = FIRM * J[i, j]
                value += A[count, j] * x[j]
            lower[count] = upper[count] = value
            count += 1
    return count


@part
def sharpen(A, lower, upper, x, least_slack, lower_again, upper_again):
    """
    Fill bounds that make up for the slack that strong tasks leave; return whether there is any.

    Less than `least_slack` is none.

    A slack is in proportion to its row's multiplier: what was a bit short was asked for too
    little. (The method of multipliers, one step of it.) What contradicts each other stays.
    """
    found = False
    for i in range(len(A)):
        value = 0.0
        for j in range(len(x)):
            value += A[i, j] * x[j]
        away = value - min(max(value, lower[i]), upper[i])
        if not least_slack < abs(away) < SHARP:
            away = 0.0
        found = found or away != 0
        lower_again[i], upper_again[i] = lower[i] - away, upper[i] - away
    return found


@part
def missed_by(A, i, lower, upper, x, unit, out, place):
    """Fill by how much a row is outside its bounds, by its sign."""
    value = 0.0
    for j in range(len(x)):
        value += A[i, j] * x[j]
    away = value - min(max(value, lower[i]), upper[i])
    out[place] = away / unit if abs(away) > MISSED * unit else 0.0


@part
def learn_swings(d, box, dt):
    """
    Damp joints that go to and fro from step to step, as no smooth motion does.

    They do where a row's gradient is another one on the other side, as that of a gap between two
    round things which the joints turn about: each step leads across. The less the joints go, the
    more they are damped, until that is no more than LEAST_SWING.
    """
    for j in range(len(d)):
        before, now = box[BEFORE, j], d[j] / dt
        if abs(before) > LEAST_SWING and now * before < -REVERSAL * before * before:
            box[SWING, j] = min(max(MORE_SWING * box[SWING, j], EASE), MOST_SWING)
        else:
            box[SWING, j] *= LASTING if box[SWING, j] > FIRST_SWING else FADING


@part
def miss_limits(at, x, box, d, dt, out):
    """Fill by how much a step d exceeds accelerations and speeds, and positions are outside."""
    out[:] = 0.0
    for j in range(at.columns):
        a = box[ACCELERATION, j]
        if not math.isinf(a):
            over = abs(d[j] / dt - box[BEFORE, j]) / dt - a
            if over > MISSED * (1.0 + a) / dt:
                out[0] = max(out[0], over)
        over = abs(d[j] / dt) - box[SPEED, j]
        if over > MISSED * (1.0 + box[SPEED, j]):
            out[1] = max(out[1], over)
        i = at.table[at.values + j]
        if i >= 0:
            outside = max(box[LOW, j] - x[i], x[i] - box[HIGH, j])
            if outside > MISSED:
                out[2] = max(out[2], outside)


@part
def crosses(row, kinds, before, after):
    """Return whether a bounded row went from within its bounds to outside, or further out."""
    for i in range(len(kinds)):
        if kinds[i] == BOUNDED:
            if (after[i] < min(row[LOWER, i] - MISSED, before[i])
                    or after[i] > max(row[UPPER, i] + MISSED, before[i])):
                return True
    return False


@inner_part
def has_firm_tasks(kinds):
    """Return whether there are hard or scaled tasks."""
    for i in range(len(kinds)):
        if kinds[i] == HARD or kinds[i] == SCALED:
            return True
    return False


@inner_part
def misses_bounds(kinds, missed, total):
    """Return whether a bound or a gap is missed."""
    for i in range(total):
        if missed[i] != 0 and (i >= len(kinds) or kinds[i] == BOUNDED):
            return True
    return False


@part
def missing(row, kinds, f, J, bend, gaps, d, box, dt, missed):
    """
    Return by how much bounds and gaps are missed, in sum, that are worth more acceleration.

    Of gaps those that would end in contact though all joints brake: margins are worth none. What
    is beyond its bound already counts only as far as it goes further: nothing goes beyond its
    limits only to come back sooner. Speed limits of frames never count.
    """
    n, short = len(d), 0.0
    for i in range(len(kinds) + len(gaps)):
        change = 0.0
        if i >= len(kinds):
            gap = gaps[i - len(kinds)]
            for j in range(n):
                change += gap[j] * d[j]
            further = gap[n + 1] * dt - change
            if gap[n + 4] > 0:
                most = 2.0 * row_acceleration(gaps, i - len(kinds), box, 1.0)
                short += max(further - brake(gap[n + 4] - further, most, dt) * dt, 0.0)
                continue
        elif kinds[i] == BOUNDED:
            if row[FASTEST, i] < np.inf:
                continue
            below, above = f[i] < row[LOWER, i], f[i] > row[UPPER, i]
            if not (below or above):
                short += abs(missed[i])
                continue
            change = bend[i]
            for j in range(n):
                change += J[i, j] * d[j]
            further = -change if below else change
        else:
            continue
        short += further if further > MISSED else 0.0
    return short


@part
def worse(row, kinds, f, J, bend, gaps, d, dt):
    """Return by how much, in sum, a step crosses bounds and runs into things."""
    n, sum_of = len(d), 0.0
    for i in range(len(kinds) + len(gaps)):
        change = 0.0
        if i >= len(kinds):
            gap = gaps[i - len(kinds)]
            for j in range(n):
                change += gap[j] * d[j]
            sum_of += max(min(gap[n + 4], 0.0) - gap[n + 4] - change + gap[n + 1] * dt, 0.0)
        elif kinds[i] == BOUNDED:
            change = bend[i]
            for j in range(n):
                change += J[i, j] * d[j]
            below, above = f[i] - row[LOWER, i], row[UPPER, i] - f[i]
            sum_of += max(min(below, 0.0) - below - change, 0.0)
            sum_of += max(min(above, 0.0) - above + change, 0.0)
    return sum_of


@part
def give_up_pushes(gaps, n, missed):
    """
    Take the pushes from gaps that cannot be made wider; return whether there are any.

    They contradict each other, or the build of the robot: pushed on they would only swing. What
    is in each other is pushed on.
    """
    found = False
    for i in range(len(gaps)):
        if gaps[i, n] < 0 <= gaps[i, n + 4] and gaps[i, n + 3] > 0 and missed[i] != 0:
            gaps[i, n + 3] = 0.0
            found = True
    return found


@part
def miss_pushes(gaps, d, dt, missed):
    """Fill by how much less than they should gaps well within their margins are made wider."""
    n = len(d)
    for i in range(len(gaps)):
        if gaps[i, n] < -SLACK * (gaps[i, n + 4] - gaps[i, n]):
            change = -gaps[i, n + 1] * dt
            for j in range(n):
                change += gaps[i, j] * d[j]
            away = change - min(-gaps[i, n + 2] * gaps[i, n], gaps[i, n + 5] * dt)
            if away < -MISSED:
                missed[i] = away


@part
def solve_within(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                 inertia, low, high, d, missed):
    """
    Fill the step, with more acceleration where bounds ask for it, as long as that helps them.

    Hard and scaled tasks yield before. Returns how many times the acceleration it takes, how firm
    these tasks are, and the scale; see `solve_priorities`.
    """
    accelerated = accelerates(box)
    times, firm, total = 1.0, FIRM, len(kinds) + len(gaps)
    scale = solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                        inertia, times, firm, low, high, d, missed)
    if give_up_pushes(gaps, len(d), missed[len(kinds):]):
        scale = solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                            inertia, times, firm, low, high, d, missed)
    short = missing(row, kinds, f, J, bend, gaps, d, box, options[0], missed)
    if misses_bounds(kinds, missed, total) and has_firm_tasks(kinds):
        firm = YIELDING
        scale = solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                            inertia, times, firm, low, high, d, missed)
        short = missing(row, kinds, f, J, bend, gaps, d, box, options[0], missed)
    before, missed_before = np.empty((3, len(d))), np.empty(total)
    helps = True
    for turn in range(HARDER + 1):
        if not (short > 0 and accelerated):
            break
        if not helps and turn < HARDER:
            continue
        more = 4.0 * times if turn < HARDER else FREELY
        crossed = 0.0
        if more == FREELY:
            crossed = worse(row, kinds, f, J, bend, gaps, d, options[0])
            if crossed <= MISSED:
                break
        before[0], before[1], before[2], missed_before[:] = d, low, high, missed[:total]
        harder = solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box,
                             options, inertia, more, firm, low, high, d, missed)
        if more == FREELY:
            short, now = crossed, worse(row, kinds, f, J, bend, gaps, d, options[0])
        else:
            now = missing(row, kinds, f, J, bend, gaps, d, box, options[0], missed)
        helps = now < (RESCUES if more == FREELY else HELPS) * short
        if helps:
            times, scale, short = more, harder, now
            continue
        d[:], low[:], high[:], missed[:total] = before[0], before[1], before[2], missed_before
    return times, firm, scale


@part
def solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                inertia, times, firm, low, high, d, missed):
    """Fill the step with `times` the acceleration; see `solve_priorities`."""
    fill_box(at, x, box, options[0], options[2], times, low, high)
    return solve_priorities(row, kinds, f, J, limbs, calm, bend, gaps, box, options,
                            inertia, times, firm, low, high, d, missed)


@loop(f'Tuple((i8, f8))({PROGRAM}, f8[::1], i8[::1], i8[:,::1], f8[:,::1], f8[:,::1], '
      'f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1])')
def velocity_step(numbers, layout, parameters, addresses, x, kinds, limbs, row, gaps,
                  box, options, inertia, result, f, missed):
    """
    Find the step of dt from x (nx,), which is moved by it.

    `kinds` (m,) say what the rows are for, `row` (NUMBERS, m) what they are to do. `limbs`
    (levels + 1, n) are the joints that tasks of each priority, and last firm ones, move together,
    each by the number of one of them. `gaps` (k, n + 7) are Jacobian, distance above the one to
    keep, speed at which the other side approaches, gain, speed with which they are made wider,
    distance, speed with which they should be made wider, and the care with which they are neared.
    `box` (8, n) are the limits of the columns, their velocities before, what is learnt of how much
    ways bend, safe velocities, and how much joints are damped because they swing. `options` are
    dt, damping and the gain of limits. `inertia` (n, n), or (0, 0), is added to the damping of
    velocities.

    `result` (3, n) is filled with the step and how far columns could have gone down and up, f (m,)
    with the values at x, `missed` (m + k + 3,) with by how much rows are missed, and limits of
    acceleration, velocity and position. Returns a code (DONE ...) and the scale of scaled tasks.
    """
    at = layout_of(numbers, layout)
    n, m = at.columns, at.rows
    work, J, J_after = work_of(at), np.zeros((m, n)), np.zeros((m, n))
    d, low, high = result[0], result[1], result[2]
    result[:], missed[:] = 0.0, 0.0
    if not fill(at, parameters, addresses, x, work, f, J):
        return INTERRUPTED, 0.0
    levels = 1
    bounded = False
    total = 0.0
    for i in range(m):
        if kinds[i] == UNUSED:
            continue
        levels = max(levels, kinds[i] + 1)
        bounded = bounded or kinds[i] == BOUNDED
        total += f[i]
        for j in range(n):
            total += J[i, j]
    if total - total != 0:
        return NOT_FINITE, 0.0
    begin, free, after, bend = x.copy(), np.empty((2, len(x))), np.empty(m), np.zeros(m)
    free[0], free[1] = -np.inf, np.inf
    calm, bent = np.zeros((levels, n)), False
    for a in range(n):
        box[BEND, a] *= FADES
        bent = bent or box[BEND, a] > FLAT
    if bent:
        fill_calm(row, kinds, f, limbs, box, calm)
    row = with_slow_firm_tasks(row, kinds, f, J, limbs[-1], box, options[0])
    times = scale = 1.0
    firm = FIRM
    for turn in range(BENDS + SHORTER + 1):
        if turn == BENDS + 1:   # half of a corrected step is none that is half corrected
            bend[:] = 0.0
        if turn == 0:
            times, firm, scale = solve_within(
                at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options, inertia, low,
                high, d, missed)
            if scale == scale and swings(row, kinds, f, limbs, box, d):
                move(at, x, d, free)
                if not fill(at, parameters, addresses, x, work, after, J_after):
                    return INTERRUPTED, 0.0
                x[:] = begin
                if learn_bends(row, kinds, f, J, limbs, box, d, after):
                    fill_calm(row, kinds, f, limbs, box, calm)
                    times, firm, scale = solve_within(
                        at, x, kinds, row, f, J, limbs, calm, bend, gaps, box, options,
                        inertia, low, high, d, missed)
        elif turn <= BENDS + 1:
            scale = solve_times(at, x, kinds, row, f, J, limbs, calm, bend, gaps, box,
                                options, inertia, times, firm, low, high, d, missed)
        if turn <= BENDS + 1:
            if scale != scale:
                d[:] = 0.0
                return NOT_FINITE, 0.0
        if turn > BENDS:
            for j in range(n):
                d[j] *= 0.5
        move(at, x, d, free)
        if not bounded:
            break
        if not fill(at, parameters, addresses, x, work, after, J_after):
            return INTERRUPTED, 0.0
        if not crosses(row, kinds, f, after):
            break
        if turn == BENDS + SHORTER:
            for i in range(m):
                if kinds[i] == BOUNDED:
                    missed[i] = after[i] - min(max(after[i], row[LOWER, i]), row[UPPER, i])
            break
        x[:] = begin
        for i in range(m):
            if kinds[i] == BOUNDED:
                bend[i] = after[i] - f[i]
                for j in range(n):
                    bend[i] -= J[i, j] * d[j]
    learn_swings(d, box, options[0])
    miss_pushes(gaps, d, options[0], missed[m:])
    miss_limits(at, x, box, d, options[0], missed[m + len(gaps):])
    for i in range(len(missed)):
        if missed[i] != 0:
            return RELAXED, scale
    return DONE, scale


@loop(f'i8({PROGRAM}, f8[::1], i8[::1], i8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], '
      'f8[::1], f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1])')
def velocity_qp(numbers, layout, parameters, addresses, x, kinds, limbs, row, gaps,
                box, options, inertia, f, H, g, A, bounds, ends):
    """
    Fill the quadratic program of the first priority at x; see `velocity_step` and `least`.

    H (N, N) and g (N,), A (m + k, N) with its bounds (2, m + k), and the ends (2, N) of the box;
    N is one more than n where tasks are scaled. Returns how many rows count, -1 where numbers are
    not finite.
    """
    at = layout_of(numbers, layout)
    n, m = at.columns, at.rows
    J = np.zeros((m, n))
    if not fill(at, parameters, addresses, x, work_of(at), f, J):
        return -1
    row = with_slow_firm_tasks(row, kinds, f, J, limbs[-1], box, options[0])
    length = scaled_length(row, kinds, f, options[0])
    A[:], ends[0], ends[1] = 0.0, 0.0, length
    fill_box(at, x, box, options[0], options[2], 1.0, ends[0], ends[1])
    count, size = firm_rows(row, kinds, f, J, np.zeros(m), gaps, box, options, 1.0, FIRM, length,
                            A, bounds[0], bounds[1])
    soft_tasks(row, kinds, 0, f, J, limbs[0], np.zeros(n), care_of(row, kinds, f, J, gaps), box,
               options, inertia, accelerates(box), size, SCALE_COST * STIFF * FIRM * FIRM, length,
               H, g)
    return count
