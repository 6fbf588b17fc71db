"""Evaluation of a `Program` (values, Jacobian), and application of steps to joint values."""

from collections import namedtuple
import math

import numpy as np

from ros2_ik.core.kernels.source import call, call_back, inner_part, loop, part

ARRAYS = 'f8[::1], i8[::1], f8[::1], i8[::1]'    # numbers, layout, parameters, addresses
PROGRAM = f'Tuple(({ARRAYS}))'    # type of a program
REVOLUTE, FLOATING = 1, 2       # kinds of joints, as in robot/tree.py; 0 is prismatic
# values of `formula` for entries (see `layout_of`) without a formula
(LINEAR,                    # rows that are linear in x
 PYTHON,                    # rows that a Python callback fills
 MASSES) = -1, -2, -3       # coordinates of a centre of mass
TURN = 2 * math.pi

Layout = namedtuple('Layout', (
    'table numbers placements columns bodies frames entries rows values floating floatings parent '
    'kind value_index column motion frame_body formula frame relative parameter row support '
    'moved_by sign first_mass point_mass'))
Functions = namedtuple('Functions', ('layout', 'parameters', 'addresses'))
Work = namedtuple('Work', ('placed', 'twists', 'scratch', 'frame_placed', 'W', 'mass'))


@part
def layout_of(numbers, layout):
    """
    Return the `Layout` of a program: its sizes, and the offset of each table in its buffer.

    The buffer `table` has all integer tables, at the offsets computed here, because each array
    passed to a function costs reference counting. `numbers` has each body's joint `multiplier`,
    then each `offset` (see `Tree`). `placements` (bodies + frames, 12) has the pose of each body
    in its parent at joint position 0, then of each frame in its body.

    An entry is a function of the program; it has a formula, or is LINEAR, PYTHON or MASSES.
    """
    n, bodies, frames, entries, floatings = layout[0], layout[1], layout[2], layout[3], layout[4]
    # per column: index of its value in x, -1 for columns of floating joints
    values = 5
    # per floating joint: index of its first value in x, and its first column
    floating = values + n
    # per body: see `Tree`
    parent = floating + 2 * floatings
    kind = parent + bodies
    value_index = kind + bodies
    column = value_index + bodies
    # per body: index of its first twist; a body has a twist for each column of its joint
    motion = column + bodies
    # per frame: the body that carries it
    frame_body = motion + bodies + 1
    # per entry: number of its formula, frame, relative frame, first parameter, first row
    formula = frame_body + frames
    frame = formula + entries
    relative = frame + entries
    parameter = relative + entries
    row = parameter + entries + 1
    # per entry t: the bodies that move only one of its two frames, at support[t]:support[t + 1] in
    # `moved_by`; their `sign` is 1 if they move `frame`, -1 if they move `relative`
    support = row + entries + 1
    moved_by = support + entries + 1
    sign = moved_by + layout[support + entries]
    # per entry t: the frames of its masses, at first_mass[t]:first_mass[t + 1] in `point_mass`
    first_mass = sign + layout[support + entries]
    return Layout(layout, numbers, numbers[2 * bodies:].reshape(bodies + frames, 12), n, bodies,
                  frames, entries, layout[row + entries], values, floating, floatings, parent,
                  kind, value_index, column, motion, frame_body, formula, frame, relative,
                  parameter, row, support, moved_by, sign, first_mass, first_mass + entries + 1)


@part
def functions_of(program):
    """Return the `Functions` of a program: its `Layout`, parameters, and addresses."""
    numbers, layout, parameters, addresses = program
    return Functions(layout_of(numbers, layout), parameters, addresses)


@part
def work_of(at):
    """Allocate scratch arrays for the evaluation of a program."""
    placed = np.zeros((at.bodies + 1, 12))
    placed[0, 0] = placed[0, 4] = placed[0, 8] = 1.0    # row 0 is the root
    return Work(placed, np.zeros((at.table[at.motion + at.bodies], 6)), np.empty((2, 12)),
                np.empty((at.frames, 12)), np.zeros((max(at.rows, 1), 6)),
                np.empty((at.bodies + 1, 4)))


# A placement is passed as an array (k, 12) and a row number. Views of one row, which cost
# reference counting, made forward kinematics four times as slow.

@inner_part
def compose(one, i, other, j, out, k):
    """Fill out[k] with the product of the placements one[i] and other[j]."""
    xx, xy, xz = other[j, 0], other[j, 1], other[j, 2]
    yx, yy, yz = other[j, 3], other[j, 4], other[j, 5]
    zx, zy, zz = other[j, 6], other[j, 7], other[j, 8]
    x, y, z = other[j, 9], other[j, 10], other[j, 11]
    for r in range(3):
        a, b, c, p = one[i, 3 * r], one[i, 3 * r + 1], one[i, 3 * r + 2], one[i, 9 + r]
        out[k, 3 * r] = a * xx + b * yx + c * zx
        out[k, 3 * r + 1] = a * xy + b * yy + c * zy
        out[k, 3 * r + 2] = a * xz + b * yz + c * zz
        out[k, 9 + r] = a * x + b * y + c * z + p


@inner_part
def turn_about_z(placed, i, value):
    """Rotate placement i about its own z axis by `value` [rad]."""
    c, s = math.cos(value), math.sin(value)
    for r in range(3):
        first, second = placed[i, 3 * r], placed[i, 3 * r + 1]
        placed[i, 3 * r], placed[i, 3 * r + 1] = c * first + s * second, c * second - s * first


@inner_part
def twist_along(placed, i, axis, factor, twists, k):
    """Fill twist k with a translation along an axis of placement i, at the rate `factor`."""
    for r in range(3):
        twists[k, r] = factor * placed[i, 3 * r + axis]
        twists[k, 3 + r] = 0.0


@inner_part
def twist_about(placed, i, axis, factor, twists, k):
    """Fill twist k with a rotation about an axis of placement i, at the rate `factor`."""
    # [p x w, w]: the linear part is the velocity at the root frame's origin
    x, y, z = (factor * placed[i, axis], factor * placed[i, 3 + axis],
               factor * placed[i, 6 + axis])
    px, py, pz = placed[i, 9], placed[i, 10], placed[i, 11]
    twists[k, 0], twists[k, 1], twists[k, 2] = py * z - pz * y, pz * x - px * z, px * y - py * x
    twists[k, 3], twists[k, 4], twists[k, 5] = x, y, z


@part
def floating_placement(x, first, out, i):
    """Fill placement i from x[first:first + 7]: a position and a quaternion x y z w."""
    a, b, c, w = x[first + 3], x[first + 4], x[first + 5], x[first + 6]
    out[i, 0], out[i, 1], out[i, 2] = (1 - 2 * (b * b + c * c), 2 * (a * b - c * w),
                                       2 * (a * c + b * w))
    out[i, 3], out[i, 4], out[i, 5] = (2 * (a * b + c * w), 1 - 2 * (a * a + c * c),
                                       2 * (b * c - a * w))
    out[i, 6], out[i, 7], out[i, 8] = (2 * (a * c - b * w), 2 * (b * c + a * w),
                                       1 - 2 * (a * a + b * b))
    out[i, 9], out[i, 10], out[i, 11] = x[first], x[first + 1], x[first + 2]


@inner_part
def place_bodies(at, x, work):
    """Compute forward kinematics: placements (bodies, frames) in the root frame, and twists."""
    table, before, placed, twists, scratch = (at.table, at.placements, work.placed, work.twists,
                                              work.scratch)
    for k in range(at.bodies):
        parent, kind, value_index, motion = (table[at.parent + k] + 1, table[at.kind + k],
                                             table[at.value_index + k], table[at.motion + k])
        if kind == FLOATING:
            # six twists, along and about the body's own axes
            compose(placed, parent, before, k, scratch, 0)
            floating_placement(x, value_index, scratch, 1)
            compose(scratch, 0, scratch, 1, placed, k + 1)
            for i in range(3):
                twist_along(placed, k + 1, i, 1.0, twists, motion + i)
                twist_about(placed, k + 1, i, 1.0, twists, motion + 3 + i)
            continue
        # one joint value: rotation about z or translation along z
        compose(placed, parent, before, k, placed, k + 1)
        multiplier = at.numbers[k]
        value = multiplier * x[value_index] + at.numbers[at.bodies + k]
        if kind == REVOLUTE:
            turn_about_z(placed, k + 1, value)
            twist_about(placed, k + 1, 2, multiplier, twists, motion)
        else:
            for r in range(3):
                placed[k + 1, 9 + r] += value * placed[k + 1, 3 * r + 2]
            twist_along(placed, k + 1, 2, multiplier, twists, motion)
    for i in range(at.frames):
        compose(placed, table[at.frame_body + i] + 1, before, at.bodies + i, work.frame_placed, i)


@inner_part
def linear_rows(at, entry, x, parameters, f, J):
    """
    Fill f and J of an entry that is linear in x.

    Parameters of each row: 1 if the row is an angle modulo 2 pi (else 0), a constant, and the
    slopes (columns,).
    """
    table, first = at.table, at.table[at.parameter + entry]
    for row in range(table[at.row + entry], table[at.row + entry + 1]):
        f[row] = parameters[first + 1]
        for j in range(at.columns):
            slope = parameters[first + 2 + j]
            J[row, j] = slope
            if slope != 0:
                f[row] += slope * x[table[at.values + j]]
        # wrap to (-pi, pi]: half a turn is always +pi, never -pi
        if parameters[first] > 0:
            f[row] -= TURN * math.ceil(f[row] / TURN - 0.5)
        first += at.columns + 2


@part
def mass_rows(at, entry, work, parameters, f, J):
    """
    Fill f and J of an entry that measures a centre of mass along directions of its relative frame.

    Parameters: for each point mass, fixed to a frame, its fraction of the total mass and its
    position in the frame; the contribution (3,) of masses fixed to the root; for each row its
    direction (3,) in the relative frame and an offset that is subtracted.
    """
    table, mass, twists, placed = at.table, work.mass, work.twists, work.frame_placed
    first, relative = table[at.parameter + entry], table[at.relative + entry]
    # mass and first moment in the root frame, per body: [fraction, fraction * position]
    mass[:] = 0.0
    for i in range(table[at.first_mass + entry], table[at.first_mass + entry + 1]):
        k = table[at.point_mass + i]
        body, share = table[at.frame_body + k] + 1, parameters[first]
        x, y, z = parameters[first + 1], parameters[first + 2], parameters[first + 3]
        mass[body, 0] += share
        for r in range(3):
            mass[body, 1 + r] += share * (placed[k, 3 * r] * x + placed[k, 3 * r + 1] * y
                                          + placed[k, 3 * r + 2] * z + placed[k, 9 + r])
        first += 4
    # from the leaves to the root: add the numbers of each body to those of its parent
    for k in range(at.bodies, 0, -1):
        parent = table[at.parent + k - 1] + 1
        for r in range(4):
            mass[parent, r] += mass[k, r]
    cx, cy, cz = (mass[0, 1] + parameters[first], mass[0, 2] + parameters[first + 1],
                  mass[0, 3] + parameters[first + 2])
    first += 3
    for row in range(table[at.row + entry], table[at.row + entry + 1]):
        # f: the centre relative to the frame, along the direction a in the root frame
        x, y, z = parameters[first], parameters[first + 1], parameters[first + 2]
        ax = placed[relative, 0] * x + placed[relative, 1] * y + placed[relative, 2] * z
        ay = placed[relative, 3] * x + placed[relative, 4] * y + placed[relative, 5] * z
        az = placed[relative, 6] * x + placed[relative, 7] * y + placed[relative, 8] * z
        f[row] = (ax * (cx - placed[relative, 9]) + ay * (cy - placed[relative, 10])
                  + az * (cz - placed[relative, 11]) - parameters[first + 3])
        first += 4
        # J in the root frame: a . (fraction * v + w x first moment) for each twist [v, w]
        for j in range(at.columns):
            J[row, j] = 0.0
        for k in range(at.bodies):
            share, sx, sy, sz = mass[k + 1, 0], mass[k + 1, 1], mass[k + 1, 2], mass[k + 1, 3]
            mx, my, mz = sy * az - sz * ay, sz * ax - sx * az, sx * ay - sy * ax
            column, begin = table[at.column + k], table[at.motion + k]
            for t in range(begin, table[at.motion + k + 1]):
                J[row, column + t - begin] += (
                    share * (ax * twists[t, 0] + ay * twists[t, 1] + az * twists[t, 2])
                    + mx * twists[t, 3] + my * twists[t, 4] + mz * twists[t, 5])
        # wrench of a force a at the centre, to subtract the motion of the relative frame
        work.W[row, 0], work.W[row, 1], work.W[row, 2] = ax, ay, az
        work.W[row, 3], work.W[row, 4], work.W[row, 5] = (cy * az - cz * ay, cz * ax - cx * az,
                                                          cx * ay - cy * ax)
    add_jacobian_rows(at, entry, work, J)


@inner_part
def add_jacobian_rows(at, entry, work, J):
    """Add sign * wrench . twist to an entry's rows of J, for each body in `moved_by`."""
    table, twists, W = at.table, work.twists, work.W
    top, end = table[at.row + entry], table[at.row + entry + 1]
    for i in range(table[at.support + entry], table[at.support + entry + 1]):
        k, sign = table[at.moved_by + i], table[at.sign + i]
        column, first = table[at.column + k], table[at.motion + k]
        for t in range(first, table[at.motion + k + 1]):
            t0, t1, t2 = sign * twists[t, 0], sign * twists[t, 1], sign * twists[t, 2]
            t3, t4, t5 = sign * twists[t, 3], sign * twists[t, 4], sign * twists[t, 5]
            for row in range(top, end):
                J[row, column + t - first] += (
                    W[row, 0] * t0 + W[row, 1] * t1 + W[row, 2] * t2
                    + W[row, 3] * t3 + W[row, 4] * t4 + W[row, 5] * t5)


@inner_part
def fill(functions, x, work, f, J):
    """
    Fill the values f (m,) and the Jacobian J (m, n) of functions at x (nx,).

    The last of their `addresses` is that of the callback for rows that Python fills (0: none).
    Return False if the callback interrupts.
    """
    is_filled = fill_values(functions, x, work, f, J)
    fill_slopes(functions.layout, work, J)
    return is_filled


@inner_part
def fill_values(functions, x, work, f, J):
    """Fill f; fill wrenches of entries with a formula, rows of J of the others. See `fill`."""
    at, parameters, addresses = functions
    table = at.table
    place_bodies(at, x, work)
    for entry in range(at.entries):
        number = table[at.formula + entry]
        if number >= 0:
            call(addresses[number], work.frame_placed,
                 (table[at.frame + entry], table[at.relative + entry]), parameters,
                 table[at.parameter + entry], f, work.W, table[at.row + entry])
        elif number == LINEAR:
            linear_rows(at, entry, x, parameters, f, J)
        elif number == MASSES:
            mass_rows(at, entry, work, parameters, f, J)
    return call_back(addresses[len(addresses) - 1], x, f, J)


@inner_part
def fill_slopes(at, work, J):
    """Fill the rows of J that belong to entries with a formula; call `fill_values` first."""
    for entry in range(at.entries):
        if at.table[at.formula + entry] >= 0:
            for row in range(at.table[at.row + entry], at.table[at.row + entry + 1]):
                for j in range(at.columns):
                    J[row, j] = 0.0
            add_jacobian_rows(at, entry, work, J)


@part
def integrate_floating(values, column, v, x):
    """
    Move a floating joint by a step of its tangent space: T -> T exp6(v[column:column + 6]).

    The joint's seven values are x[values:values + 7].
    """
    # linear part (a, b, c), rotation vector (i, j, k)
    a, b, c, i, j, k = (v[column], v[column + 1], v[column + 2], v[column + 3], v[column + 4],
                        v[column + 5])
    squared = i * i + j * j + k * k
    angle = math.sqrt(squared)
    # (1 - cos(t)) / t^2, (t - sin(t)) / t^3, sin(t / 2) / t; their series near zero
    if angle < 1e-4:
        cosine, rest, half = 0.5 - squared / 24, 1.0 / 6 - squared / 120, 0.5 - squared / 48
    else:
        cosine, rest = (1 - math.cos(angle)) / squared, (angle - math.sin(angle)) / angle**3
        half = math.sin(0.5 * angle) / angle
    # translation: the left Jacobian of SO(3) times the linear part, in the axes of the joint
    sine, along = 1 - squared * rest, rest * (i * a + j * b + k * c)
    ahead = (sine * a + cosine * (j * c - k * b) + along * i,
             sine * b + cosine * (k * a - i * c) + along * j,
             sine * c + cosine * (i * b - j * a) + along * k)
    before = np.empty((1, 12))
    floating_placement(x, values, before, 0)
    for r in range(3):
        x[values + r] += (before[0, 3 * r] * ahead[0] + before[0, 3 * r + 1] * ahead[1]
                          + before[0, 3 * r + 2] * ahead[2])
    # rotation: product of the quaternions x y z w, normalized
    first = values + 3
    p, q, s, w = x[first], x[first + 1], x[first + 2], x[first + 3]
    i, j, k, turn = half * i, half * j, half * k, math.cos(0.5 * angle)
    x[first] = w * i + p * turn + q * k - s * j
    x[first + 1] = w * j - p * k + q * turn + s * i
    x[first + 2] = w * k + p * j - q * i + s * turn
    x[first + 3] = w * turn - p * i - q * j - s * k
    length = 0.0
    for n in range(first, first + 4):
        length += x[n] * x[n]
    for n in range(first, first + 4):
        x[n] /= math.sqrt(length)


@inner_part
def move(at, x, step, limits):
    """Move x (nx,) by a step (n,) of the tangent space, then clamp x to its limits (2, nx)."""
    for j in range(at.columns):
        i = at.table[at.values + j]
        if i >= 0:
            x[i] += step[j]
    for k in range(at.floating, at.floating + 2 * at.floatings, 2):
        integrate_floating(at.table[k], at.table[k + 1], step, x)
    for i in range(len(x)):
        x[i] = min(max(x[i], limits[0, i]), limits[1, i])


@inner_part
def step_bounds(at, x, limits, farthest, low, high):
    """Fill the box low..high (n,) of steps within x's limits (2, nx) and +-`farthest` (n,)."""
    for j in range(at.columns):
        low[j], high[j] = -farthest[j], farthest[j]
        i = at.table[at.values + j]
        if i >= 0:
            low[j] = min(max(limits[0, i] - x[i], low[j]), 0.0)
            high[j] = max(min(limits[1, i] - x[i], high[j]), 0.0)


@loop(f'b1({PROGRAM}, f8[::1], f8[::1], f8[:,::1])')
def evaluate(program, x, f, J):
    """Fill the values f (m,) and the Jacobian J (m, n) of a program at x (nx,)."""
    functions = functions_of(program)
    return fill(functions, x, work_of(functions.layout), f, J)


@loop('void(i8, f8[:,:], f8[:,:], f8[::1], f8[::1], f8[:,::1])')
def measure_formula(formula, B, A, parameters, f, W):
    """Fill f (m,) and the wrenches W (m, 6) of a formula, for poses B and A (4, 4)."""
    placed = np.empty((2, 12))
    for j in range(3):
        for k in range(3):
            placed[0, 3 * j + k], placed[1, 3 * j + k] = B[j, k], A[j, k]
        placed[0, 9 + j], placed[1, 9 + j] = B[j, 3], A[j, 3]
    call(formula, placed, (0, 1), parameters, 0, f, W, 0)
