"""
Acceptance check of joint values: joint limits, locked joints and pose errors.

Forward kinematics is a product of exponentials (Brockett, 1984), independent of the solvers.
"""

import math

import numpy as np

from ros2_ik.core.kernels.source import inner_part, loop

HUGE = 1e150    # upper bound of joint values' magnitudes; its square is still finite
PER_JOINT, PER_TARGET = 6, 14       # numbers in `screws` per joint and per target
OUT_OF_LIMITS, POSE_ERROR, WITHIN_TOLERANCE = range(3)    # results of `check_targets`


@inner_part
def displace(T, screws, s, value):
    """Move a pose T (12,), stored by columns, by the screw motion of a joint at `value`."""
    vx, vy, vz, wx, wy, wz = (screws[s], screws[s + 1], screws[s + 2], screws[s + 3],
                              screws[s + 4], screws[s + 5])
    # a revolute joint has a unit axis w and v . w = 0, a prismatic joint w = 0
    sine, versine = value, 0.0
    if wx != 0 or wy != 0 or wz != 0:
        sine, versine = math.sin(value), 1 - math.cos(value)
    for c in range(0, 12, 3):
        x, y, z = T[c], T[c + 1], T[c + 2]
        ux, uy, uz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        # the last column is a point, the others are directions
        if c == 9:
            ux, uy, uz = ux + vx, uy + vy, uz + vz
        # Rodrigues' formula
        T[c] = x + sine * ux + versine * (wy * uz - wz * uy)
        T[c + 1] = y + sine * uy + versine * (wz * ux - wx * uz)
        T[c + 2] = z + sine * uz + versine * (wx * uy - wy * ux)


@inner_part
def displace_base(T, q, i):
    """Move a pose T (12,), stored by columns, by the pose x y z qx qy qz qw in q[i:i + 7]."""
    x, y, z, w = q[i + 3], q[i + 4], q[i + 5], q[i + 6]
    squared = x * x + y * y + z * z + w * w
    # a quaternion of norm 0 is not a rotation: the errors become NaN
    double = 2 / squared if squared > 0 else math.nan
    for c in range(0, 12, 3):
        a, b, d = T[c], T[c + 1], T[c + 2]
        ux, uy, uz = double * (y * d - z * b), double * (z * a - x * d), double * (x * b - y * a)
        T[c] = a + w * ux + (y * uz - z * uy)
        T[c + 1] = b + w * uy + (z * ux - x * uz)
        T[c + 2] = d + w * uz + (x * uy - y * ux)
    for k in range(3):
        T[9 + k] += q[i + k]


@inner_part
def distance_between(T, pose):
    """
    Return distance [m] and angle [rad] between T (12,), stored by columns, and a pose (4, 4).

    The angle is atan2(sine, cosine), from the skew part and the trace of R_pose^T R_T.
    """
    squared = trace = x = y = z = 0.0
    for i in range(3):
        off, a, b, c = T[9 + i] - pose[i, 3], T[i], T[3 + i], T[6 + i]
        squared += off * off
        trace += pose[i, 0] * a + pose[i, 1] * b + pose[i, 2] * c
        x += pose[i, 2] * b - pose[i, 1] * c
        y += pose[i, 0] * c - pose[i, 2] * a
        z += pose[i, 1] * a - pose[i, 0] * b
    return math.sqrt(squared), math.atan2(math.sqrt(x * x + y * y + z * z), trace - 1.0)


@loop("i8(f8[::1], Array(f8, 1, 'C', True), i8[::1], f8[:,::1], i8[::1], "
      'Tuple((i8[::1], f8[::1])), f8[:,:,::1], f8[:,::1])')
def check_targets(q, start, indices, limits, inactive, chains, poses, errors):
    """
    Check whether q (nq,) is within limits and brings the tips to `poses` (t, 4, 4).

    Values at `indices` (n,) must be within `limits` (2, n), values at the indices `inactive`
    must equal those of `start`, and all magnitudes must be below HUGE. `chains` has two arrays
    with a block for each tip. In the first array, a block has the number of joints that move the
    tip, then their indices in q from the tip to the root; -1 - i: a floating base whose values
    begin at index i. In the second, it has PER_JOINT numbers per joint (screw axis [v, w] at
    q = 0), then PER_TARGET numbers: columns of the tip's pose at q = 0, tolerances [m] and [rad].

    Return OUT_OF_LIMITS if a value is not allowed; otherwise fill `errors` (t, 2) with the tips'
    errors [m] and [rad], and return POSE_ERROR or, within all tolerances, WITHIN_TOLERANCE.
    """
    for value in q:
        if not abs(value) < HUGE:
            return OUT_OF_LIMITS
    for i in range(len(indices)):
        if not limits[0, i] <= q[indices[i]] <= limits[1, i]:
            return OUT_OF_LIMITS
    for i in inactive:
        if q[i] != start[i]:
            return OUT_OF_LIMITS
    (joints, screws), T, result, c, s, t = chains, np.empty(12), WITHIN_TOLERANCE, 0, 0, 0
    while c < len(joints):
        count, home = joints[c], s + PER_JOINT * joints[c]
        for k in range(12):
            T[k] = screws[home + k]
        for k in range(count):
            index = joints[c + 1 + k]
            if index < 0:
                displace_base(T, q, -1 - index)
            else:
                displace(T, screws, s + PER_JOINT * k, q[index])
        errors[t, 0], errors[t, 1] = distance_between(T, poses[t])
        # written as `not ...` to count NaN as a miss
        if not (errors[t, 0] <= screws[home + 12] and errors[t, 1] <= screws[home + 13]):
            result = POSE_ERROR
        c, s, t = c + 1 + count, home + PER_TARGET, t + 1
    return result
