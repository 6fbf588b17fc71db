"""Limits of a velocity IK step: for joints (table `joints`) and bounded rows (table `rows`)."""

import math

from ros2_ik.core.kernels import velocity_rows as row
from ros2_ik.core.kernels.qp import row_times
from ros2_ik.core.kernels.source import inner_part, part

LONGEST_STEP = 1e6  # largest step of a joint without a velocity limit [rad, m]


@inner_part
def braking_speed(distance, acceleration, dt):
    """
    Return the largest speed from which a joint can stop within a distance.

    The speed drops by at most acceleration * dt in each step of dt [s]. The distances moved in
    these steps add up to exactly `distance`, so that no later step needs more deceleration.
    """
    if not distance > 0:
        return 0.0
    if math.isinf(acceleration) or math.isinf(distance):
        return distance / dt
    # the joint stops in n + 1 steps; n is the largest integer with n (n + 1) / 2 <= x
    x = distance / (acceleration * dt * dt)
    n = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * x) - 1.0))
    return acceleration * dt * (x / (n + 1) + 0.5 * n)


@inner_part
def has_acceleration_limits(joints):
    """Return whether any joint has an acceleration limit (0: driven joint, inf: no limit)."""
    for j in range(joints.shape[1]):
        if 0 < joints[row.ACCELERATION, j] < math.inf:
            return True
    return False


@inner_part
def clamp_bounds(low, high, lower, upper):
    """Return `lower` and `upper`, each clamped to [low, high]."""
    return min(max(low, lower), high), max(min(high, upper), low)


@part
def fill_step_limits(joints, options):
    """
    Fill the least and the largest step of each joint (rows MIN_STEP and MAX_STEP of `joints`).

    Velocity and acceleration limits take precedence over position limits: a joint outside its
    position limits returns as fast as its velocity and acceleration limits allow.
    """
    dt, gain = options[0], options[2]
    for j in range(joints.shape[1]):
        most, a = min(joints[row.SPEED, j] * dt, LONGEST_STEP), joints[row.ACCELERATION, j]
        before, position = joints[row.LAST_VELOCITY, j], joints[row.POSITION, j]
        # velocity and acceleration limits
        low, high = -most, most
        if not math.isinf(a):
            # a joint above its velocity limit brakes at its acceleration limit
            most = max(most, (abs(before) - a * dt) * dt)
            low, high = clamp_bounds(-most, most, (before - a * dt) * dt, (before + a * dt) * dt)
        # position limits: at most the fraction `gain` of the distance, slow enough to stop in time
        down, up = position - joints[row.LOW, j], joints[row.HIGH, j] - position
        joints[row.MIN_STEP, j], joints[row.MAX_STEP, j] = clamp_bounds(
            low, high,
            -down if down < 0 else -min(gain * down, braking_speed(down, a, dt) * dt),
            up if up < 0 else min(gain * up, braking_speed(up, a, dt) * dt))


@inner_part
def row_acceleration(J, i, joints):
    """Return the acceleration of row i if all joints use half their acceleration limits."""
    a = 0.0
    for j in range(joints.shape[1]):
        if J[i, j] != 0:
            a += 0.5 * joints[row.ACCELERATION, j] * abs(J[i, j])
    return a


@inner_part
def least_change_of(left, gain, push, acceleration, now, dt):
    """
    Return the least change that a step allows a row whose value is `left` above its lower bound.

    Below the bound (left < 0) this change is positive: the value returns to the bound, but no
    faster than `push`, and no faster than the joints can move it in this step. `now` is the
    present rate.
    """
    if left < 0:
        return min(-gain * left, push * dt, (max(now, 0.0) + acceleration * dt) * dt)
    return -min(gain * left, braking_speed(left, acceleration, dt) * dt)


@part
def rate_bounds(problem, i):
    """Return the least and the largest linearized change that a step allows the bounded row i."""
    rows, J, joints, dt = problem.rows, problem.J, problem.joints, problem.options[0]
    a, approach = row_acceleration(J, i, joints), rows[row.APPROACH, i]
    now = row_times(J, i, joints[row.LAST_VELOCITY]) - approach
    # limits of the rate; a row that is already too fast brakes
    least_change = min(rows[row.MIN_RATE, i], now + a * dt) * dt
    most_change = max(rows[row.MAX_RATE, i], now - a * dt) * dt
    # bounds of the value: stop at the bound, or return to a violated bound
    gain, push = rows[row.GAIN, i], rows[row.PUSH, i]
    if not math.isinf(rows[row.LOWER, i]):
        least_change = max(least_change, approach * dt + least_change_of(
            rows[row.VALUE, i] - rows[row.LOWER, i], gain, push, a, now, dt))
    if not math.isinf(rows[row.UPPER, i]):
        most_change = min(most_change, -least_change_of(
            rows[row.UPPER, i] - rows[row.VALUE, i], gain, push, a, -now, dt))
    # if the bounds contradict each other: halfway between them
    if least_change > most_change:
        least_change = most_change = 0.5 * (least_change + most_change)
    return least_change - rows[row.CURVED, i], most_change - rows[row.CURVED, i]
