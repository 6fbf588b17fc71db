"""Values and Jacobians of functions, and steps of joint values, as loops take them."""

from collections import namedtuple
import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels.source import call, call_back, Formula, is_compiled, loop, part

PROGRAM = 'f8[::1], i8[::1], f8[::1], i8[::1]'    # numbers, layout, parameters, addresses
REVOLUTE, FLOATING = 1, 2       # kinds of joints, as in robot/tree.py; 0 is prismatic
LINEAR, PYTHON = -1, -2         # formulas of rows that have none
TURN = 2 * math.pi

Layout = namedtuple('Layout', (
    'values', 'floating', 'parent', 'kind', 'place', 'column', 'motion', 'multiplier', 'offset',
    'before', 'node', 'mounting', 'formula', 'frame', 'relative', 'parameter', 'row', 'support',
    'moved_by', 'sign'))
Work = namedtuple('Work', ('placed', 'twists', 'frames', 'W'))


@part
def take(numbers, first, count):
    """Return some numbers, and where the next ones begin."""
    return numbers[first:first + count], first + count


@part
def layout_of(numbers, layout):
    """
    Name the parts of a program's two buffers.

    `values` (n,) are the places in x of the columns, -1 for those of floating joints, of which
    `floating` (2 k,) has the first place in x and the first column. Bodies and
    frames: see `Tree`; `motion` is the first of a body's twists, of which each has a column.
    Entries: a formula, a frame and the one it is relative to, and where its parameters and rows
    begin; those of entry t are moved by the bodies `moved_by[support[t]:support[t + 1]]`.
    """
    n, bodies, frames, entries = layout[0], layout[1], layout[2], layout[3]
    values, at = take(layout, 5, n)
    floating, at = take(layout, at, 2 * layout[4])
    parent, at = take(layout, at, bodies)
    kind, at = take(layout, at, bodies)
    place, at = take(layout, at, bodies)
    column, at = take(layout, at, bodies)
    motion, at = take(layout, at, bodies + 1)
    node, at = take(layout, at, frames)
    formula, at = take(layout, at, entries)
    frame, at = take(layout, at, entries)
    relative, at = take(layout, at, entries)
    parameter, at = take(layout, at, entries + 1)
    row, at = take(layout, at, entries + 1)
    support, at = take(layout, at, entries + 1)
    moved_by, at = take(layout, at, support[entries])
    sign, _ = take(layout, at, support[entries])
    before = numbers[2 * bodies:14 * bodies].reshape(bodies, 12)
    mounting = numbers[14 * bodies:14 * bodies + 12 * frames].reshape(frames, 12)
    return Layout(values, floating, parent, kind, place, column, motion, numbers[:bodies],
                  numbers[bodies:2 * bodies], before, node, mounting, formula, frame, relative,
                  parameter, row, support, moved_by, sign)


@part
def work_of(at):
    """Make the scratch of one evaluation."""
    placed = np.zeros((len(at.parent) + 1, 12))
    placed[0, 0] = placed[0, 4] = placed[0, 8] = 1.0    # row 0 is the root
    return Work(placed, np.zeros((at.motion[len(at.parent)], 6)),
                np.empty((len(at.node), 12)), np.zeros((max(at.row[len(at.formula)], 1), 6)))


@part
def compose(one, other, out):
    """Fill the product of two placements (12,); `out` may be neither."""
    for r in range(3):
        a, b, c = one[3 * r], one[3 * r + 1], one[3 * r + 2]
        for s in range(3):
            out[3 * r + s] = a * other[s] + b * other[3 + s] + c * other[6 + s]
        out[9 + r] = a * other[9] + b * other[10] + c * other[11] + one[9 + r]


@part
def turn_about_z(X, value):
    """Turn a placement (12,) about its own z axis."""
    c, s = math.cos(value), math.sin(value)
    for r in range(3):
        first, second = X[3 * r], X[3 * r + 1]
        X[3 * r], X[3 * r + 1] = c * first + s * second, c * second - s * first


@part
def twist_along(X, axis, factor, out):
    """Fill the spatial velocity (6,) of moving along an axis of a placement (12,)."""
    for r in range(3):
        out[r] = factor * X[3 * r + axis]
        out[3 + r] = 0.0


@part
def twist_about(X, axis, factor, out):
    """Fill the spatial velocity (6,) of turning about an axis of a placement (12,)."""
    x, y, z = factor * X[axis], factor * X[3 + axis], factor * X[6 + axis]
    out[0], out[1], out[2] = X[10] * z - X[11] * y, X[11] * x - X[9] * z, X[9] * y - X[10] * x
    out[3], out[4], out[5] = x, y, z


@part
def floating_placement(x, first, out):
    """Fill the placement (12,) of seven values: a position and a quaternion x y z w."""
    a, b, c, w = x[first + 3], x[first + 4], x[first + 5], x[first + 6]
    out[0], out[1], out[2] = 1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)
    out[3], out[4], out[5] = 2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)
    out[6], out[7], out[8] = 2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)
    out[9], out[10], out[11] = x[first], x[first + 1], x[first + 2]


@part
def place_bodies(at, x, work):
    """Place bodies and frames in the root frame, and find the twist of each motion."""
    free = np.empty(12)
    for k in range(len(at.parent)):
        X, twist = work.placed[k + 1], work.twists[at.motion[k]:]
        compose(work.placed[at.parent[k] + 1], at.before[k], X)
        if at.kind[k] == FLOATING:
            hung = X.copy()
            floating_placement(x, at.place[k], free)
            compose(hung, free, X)
            for i in range(3):
                twist_along(X, i, 1.0, twist[i])
                twist_about(X, i, 1.0, twist[3 + i])
            continue
        value = at.multiplier[k] * x[at.place[k]] + at.offset[k]
        if at.kind[k] == REVOLUTE:
            turn_about_z(X, value)
            twist_about(X, 2, at.multiplier[k], twist[0])
        else:
            for r in range(3):
                X[9 + r] += value * X[3 * r + 2]
            twist_along(X, 2, at.multiplier[k], twist[0])
    for i in range(len(at.node)):
        compose(work.placed[at.node[i] + 1], at.mounting[i], work.frames[i])


@part
def linear_rows(at, entry, x, parameters, f, J):
    """Fill rows that are linear in x: for each whether it turns, a constant, and slopes."""
    n = len(at.values)
    for k in range(at.row[entry + 1] - at.row[entry]):
        row, first = at.row[entry] + k, at.parameter[entry] + (n + 2) * k
        f[row] = parameters[first + 1]
        for j in range(n):
            slope = parameters[first + 2 + j]
            J[row, j] = slope
            if slope != 0:
                f[row] += slope * x[at.values[j]]
        if parameters[first] > 0:    # in (-pi, pi], so that half a turn is pi from either side
            f[row] -= TURN * math.ceil(f[row] / TURN - 0.5)


@part
def jacobian_rows(at, entry, work, J):
    """Turn the wrenches of an entry's rows into rows of J."""
    for row in range(at.row[entry], at.row[entry + 1]):
        w0, w1, w2 = work.W[row, 0], work.W[row, 1], work.W[row, 2]
        w3, w4, w5 = work.W[row, 3], work.W[row, 4], work.W[row, 5]
        for j in range(J.shape[1]):
            J[row, j] = 0.0
        for i in range(at.support[entry], at.support[entry + 1]):
            k = at.moved_by[i]
            column = at.column[k] - at.motion[k]
            for motion in range(at.motion[k], at.motion[k + 1]):
                t = work.twists[motion]
                J[row, column + motion] += at.sign[i] * (
                    w0 * t[0] + w1 * t[1] + w2 * t[2] + w3 * t[3] + w4 * t[4] + w5 * t[5])


@part
def fill(at, parameters, addresses, x, work, f, J):
    """
    Fill the values f (m,) and the Jacobian J (m, n) of a program at x.

    The last of the addresses is that of what Python evaluates; False where it wants to end.
    """
    place_bodies(at, x, work)
    for entry in range(len(at.formula)):
        number = at.formula[entry]
        if number >= 0:
            first, last = at.row[entry], at.row[entry + 1]
            call(addresses[number], work.frames[at.frame[entry]],
                 work.frames[at.relative[entry]],
                 parameters[at.parameter[entry]:at.parameter[entry + 1]],
                 f[first:last], work.W[first:last])
            jacobian_rows(at, entry, work, J)
        elif number == LINEAR:
            linear_rows(at, entry, x, parameters, f, J)
    return call_back(addresses[len(addresses) - 1], x, f, J)


@part
def free_step(values, column, v, x):
    """Move the floating joint whose seven values begin at `values` by six of a step."""
    R, moved, after = np.empty(12), np.empty(12), np.empty(12)
    floating_placement(x, values, R)
    exp6(v[column:column + 6], moved)
    compose(R, moved, after)
    x[values], x[values + 1], x[values + 2] = after[9], after[10], after[11]
    quaternion(after, x[values + 3:values + 7])


@part
def exp6(v, out):
    """Fill the placement (12,) at the end of a screw motion v (6,), as pinocchio.exp6."""
    x, y, z = v[3], v[4], v[5]
    squared = x * x + y * y + z * z
    angle = math.sqrt(squared)
    if angle < 1e-4:
        sine, cosine, rest = 1 - squared / 6, 0.5 - squared / 24, 1.0 / 6 - squared / 120
    else:
        sine, cosine = math.sin(angle) / angle, (1 - math.cos(angle)) / squared
        rest = (1 - sine) / squared
    out[0], out[4], out[8] = (1 - cosine * (y * y + z * z), 1 - cosine * (x * x + z * z),
                              1 - cosine * (x * x + y * y))
    out[1], out[3] = cosine * x * y - sine * z, cosine * x * y + sine * z
    out[2], out[6] = cosine * x * z + sine * y, cosine * x * z - sine * y
    out[5], out[7] = cosine * y * z - sine * x, cosine * y * z + sine * x
    along = rest * (x * v[0] + y * v[1] + z * v[2])
    out[9] = sine * v[0] + cosine * (y * v[2] - z * v[1]) + along * x
    out[10] = sine * v[1] + cosine * (z * v[0] - x * v[2]) + along * y
    out[11] = sine * v[2] + cosine * (x * v[1] - y * v[0]) + along * z


@part
def quaternion(R, out):
    """Fill the quaternion x y z w (4,) of a placement's rotation, on the side where `out` was."""
    trace, largest = R[0] + R[4] + R[8], 0
    if R[4] > R[0]:
        largest = 1
    if R[8] > R[4 * largest]:
        largest = 2
    q = np.empty(4)
    if trace > 0:
        q[3] = 1 + trace
        q[0], q[1], q[2] = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q[i] = 1 + R[4 * i] - R[4 * j] - R[4 * k]
        q[j], q[k] = R[3 * i + j] + R[3 * j + i], R[3 * i + k] + R[3 * k + i]
        q[3] = R[3 * k + j] - R[3 * j + k]
    length = side = 0.0
    for i in range(4):
        length += q[i] * q[i]
        side += q[i] * out[i]
    length = math.copysign(math.sqrt(length), side)
    for i in range(4):
        out[i] = q[i] / length


@part
def move(at, x, step, limits):
    """Move x by a step (n,) of the tangent space, within its limits (2, nx)."""
    for j in range(len(step)):
        if at.values[j] >= 0:
            x[at.values[j]] += step[j]
    for k in range(0, len(at.floating), 2):
        free_step(at.floating[k], at.floating[k + 1], step, x)
    for i in range(len(x)):
        x[i] = min(max(x[i], limits[0, i]), limits[1, i])


@part
def room(at, x, limits, farthest, low, high):
    """Fill how far each column may move down and up (n,) from x, at most `farthest` (n,)."""
    for j in range(len(low)):
        low[j], high[j] = -farthest[j], farthest[j]
        i = at.values[j]
        if i >= 0:
            low[j] = min(max(limits[0, i] - x[i], low[j]), 0.0)
            high[j] = max(min(limits[1, i] - x[i], high[j]), 0.0)


@loop(f'b1({PROGRAM}, f8[::1], f8[::1], f8[:,::1])')
def evaluate(numbers, layout, parameters, addresses, x, f, J):
    """Fill the values f (m,) and the Jacobian J (m, n) of a program at x (nx,)."""
    at = layout_of(numbers, layout)
    return fill(at, parameters, addresses, x, work_of(at), f, J)


@loop('void(f8[::1], i8[::1], f8[::1], f8[::1], f8[:,::1])')
def moved(numbers, layout, x, step, limits):
    """Move x by a step, see `move`."""
    move(layout_of(numbers, layout), x, step, limits)


@loop('void(i8, f8[::1], f8[::1], f8[::1], f8[::1], f8[:,::1])')
def _measure(formula, B, A, parameters, f, W):
    call(formula, B, A, parameters, f, W)


def measure(formula: Formula, B: Array, A: Array, parameters: Array,
            rows: int) -> tuple[Array, Array]:
    """Return f (rows,) and the wrenches (rows, 6) of a formula at two placements (12,)."""
    f, W = np.empty(rows), np.empty((rows, 6))
    compiled = is_compiled()
    _measure.of(compiled)(formula.reference(compiled), B, A, parameters, f, W)
    return f, W
