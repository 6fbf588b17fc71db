"""Limits of a step of velocity IK: of joints, and of rows."""

import math

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import row_times
from ros2_ik.core.kernels.source import inner_part, part

LONGEST_STEP = 1e6  # [rad, m]


@inner_part
def brake(distance, acceleration, dt):
    """
    Return the largest speed from which a joint comes to rest within a distance.

    It slows down by at most acceleration * dt in each step of dt, and a whole number of steps
    ends exactly at the distance, so that no step asks for more.
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
        if 0 < box[row.ACCELERATION, j] < math.inf:
            return True
    return False


@inner_part
def narrow(low, high, lower, upper):
    """Return low..high within lower..upper, or its end that is nearest to that."""
    return min(max(low, lower), high), max(min(high, upper), low)


@part
def fill_box(box, options):
    """
    Fill how far each joint may move down and up in a step of dt (LEAST, MOST of the box).

    Velocity comes before acceleration, that before position: what is outside its limits comes
    back as fast as these allow.
    """
    dt, gain = options[0], options[2]
    for j in range(box.shape[1]):
        most, a, before = min(box[row.SPEED, j] * dt, LONGEST_STEP), box[row.ACCELERATION, j], \
            box[row.BEFORE, j]
        low, high = -most, most
        if not math.isinf(a):
            # what is too fast already brakes
            most = max(most, (abs(before) - a * dt) * dt)
            low, high = narrow(-most, most, (before - a * dt) * dt, (before + a * dt) * dt)
        down, up = box[row.POSITION, j] - box[row.LOW, j], box[row.HIGH, j] - box[row.POSITION, j]
        box[row.LEAST, j], box[row.MOST, j] = narrow(
            low, high,
            -down if down < 0 else -min(gain * down, brake(down, a, dt) * dt),
            up if up < 0 else min(gain * up, brake(up, a, dt) * dt))


@inner_part
def row_acceleration(J, i, box):
    """Return how fast the joints may slow row i of a Jacobian down, all of them half-way."""
    a = 0.0
    for j in range(box.shape[1]):
        if J[i, j] != 0:
            a += 0.5 * box[row.ACCELERATION, j] * abs(J[i, j])
    return a


@inner_part
def least_change_of(left, share, push, acceleration, now, dt):
    """
    Return the least change in a step for the distance `left` to a bound; negative: back to it.

    It returns at most at the speed that joints reach in the step.
    """
    if left < 0:
        return min(-share * left, push * dt, (max(now, 0.0) + acceleration * dt) * dt)
    return -min(share * left, brake(left, acceleration, dt) * dt)


@part
def rate_bounds(problem, i):
    """Return the least and the largest change of a bounded row in a step, along a straight way."""
    rows, J, box, dt = problem.rows, problem.J, problem.box, problem.options[0]
    a, approach = row_acceleration(J, i, box), rows[row.APPROACH, i]
    now = row_times(J, i, box[row.BEFORE]) - approach
    # what is too fast already brakes
    least_change = min(rows[row.SLOWEST, i], now + a * dt) * dt
    most_change = max(rows[row.FASTEST, i], now - a * dt) * dt
    share, push = rows[row.SHARE, i], rows[row.PUSH, i]
    if not math.isinf(rows[row.LOWER, i]):
        least_change = max(least_change, approach * dt + least_change_of(
            rows[row.VALUE, i] - rows[row.LOWER, i], share, push, a, now, dt))
    if not math.isinf(rows[row.UPPER, i]):
        most_change = min(most_change, -least_change_of(
            rows[row.UPPER, i] - rows[row.VALUE, i], share, push, a, -now, dt))
    if least_change > most_change:
        least_change = most_change = 0.5 * (least_change + most_change)
    return least_change - rows[row.CURVED, i], most_change - rows[row.CURVED, i]
