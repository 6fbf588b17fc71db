"""Functions of a robot's active joints, stored as flat arrays for compiled loops."""

from collections.abc import Callable, Iterable, Sequence
import ctypes
from functools import cache, cached_property, lru_cache
from itertools import accumulate
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions import BoundJoints, KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.rows import evaluate, LINEAR, MASSES, PYTHON
from ros2_ik.core.kernels.source import Formula
from ros2_ik.core.problem.structure import ActiveJoints
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.tree import FLOATING, Tree, tree_of

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
_NONE = np.zeros(0)


class Program:
    """
    Several functions of the active joints of a robot, stacked and laid out for compiled loops.

    Inactive joints stay at their values in `start`; `locked_q_indices` are the indices in q of the
    inactive joints that move a frame of a function. `rows[i]` is the slice of function i in the
    values f and the Jacobian J; `parameter_slices[i]` is its slice in the parameters. `arrays` is
    the program for compiled loops: numbers, layout, parameters, addresses (see kernels/rows.py).
    Programs with the same formulas, frames, sizes and active joints share layout and addresses.
    If Python evaluates some functions (not `is_compiled`), only one thread may run the program at
    a time.
    """

    def __init__(self, robot: Robot, functions: Sequence[KinematicFunction], active: ActiveJoints,
                 start: Array) -> None:
        self.robot, self.active, self.start = robot, active, start
        self.functions = list(functions)
        entries = [_shape_and_parameters(function, robot, active, start) for function in functions]
        shapes = tuple([shape for shape, _ in entries])
        self._layout = layout = _layout(robot, active.names, shapes)
        self.rows, self.size = layout.rows, layout.size
        self.parameter_slices = layout.parameter_slices
        self.locked_q_indices = layout.locked_q_indices
        numbers = _numbers(layout, start[layout.locked_q_indices].tobytes())
        parameters = np.concatenate([_NONE, *(parameters for _, parameters in entries)])
        self.arrays = numbers, layout.table, parameters, layout.addresses
        self.is_compiled = not layout.python

    def replace_function(self, number: int, function: KinematicFunction) -> None:
        """Replace function `number` by a function that differs only in its parameters."""
        parameters = _shape_and_parameters(function, self.robot, self.active, self.start)[1]
        self.arrays[2][self.parameter_slices[number]] = parameters
        self.functions[number] = function

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return the values f (m,) at q (nq,), and their Jacobian (m, n) for n active columns."""
        f, J = np.empty(self.size), np.empty((self.size, len(self.active.columns)))
        self.run(evaluate.run, None, np.array(q[self.active.q_slice]), f, J)
        return f, J

    def run(self, loop: Callable[..., Any], interrupted: Callable[[], object] | None,
            *given: Any) -> Any:
        """
        Run a compiled loop with the arrays of this program and the `given` arguments.

        If Python evaluates some rows, the loop also ends when `interrupted` returns True, or when
        a Python function raises an exception, which is then raised again.
        """
        if self.is_compiled:
            return loop(self.arrays, *given)
        active, errors = self.active, list[BaseException]()
        shapes = (len(active.indices),), (self.size,), (self.size, len(active.columns))

        # cached: the addresses do not change during a descent
        arrays = cache(lambda *addresses: tuple(map(_array_at, addresses, shapes)))

        # called by the loop through a C function pointer
        def fill(*addresses: int) -> bool:
            """Fill the Python rows, given the addresses of x, f and J; return False to stop."""
            try:
                if interrupted is not None and interrupted():
                    return False
                self._fill(*arrays(*addresses))
            # an exception cannot pass through compiled code
            except BaseException as error:
                errors.append(error)
                return False
            return True
        # the last address is the callback's; `callback` must live until the loop has ended
        callback = _CALLBACK(fill)
        address = ctypes.cast(callback, ctypes.c_void_p).value or 0
        result = loop((*self.arrays[:-1], np.append(self.arrays[-1][:-1], address)), *given)
        if errors:
            raise errors[0]
        return result

    def _fill(self, x: Array, f: Array, J: Array) -> None:
        """Evaluate Python functions at the active values x (nx,) into their rows of f and J."""
        q = self.start.copy()
        q[self.active.q_slice] = x
        at = Configuration.of_checked(self.robot, q, self._data or self.robot.scratch_data())
        for number in self._layout.python:
            rows = self.rows[number]
            f[rows], jacobian = self.functions[number].evaluate(at)
            J[rows] = jacobian[:, self.active.v_slice]

    @cached_property
    def _data(self) -> pin.Data | None:
        """A separate pinocchio.Data if user functions run (they may use the shared one)."""
        runs_user_code = any(function.is_user_code for function in self.functions)
        return self.robot.model.createData() if runs_user_code else None


def _array_at(address: int, shape: tuple[int, ...]) -> Array:
    buffer: Any = (ctypes.c_double * max(math.prod(shape), 1)).from_address(address)
    return np.ndarray(shape, buffer=buffer)


# -- functions as entries of a program ------------------------------------------------------

class _Shape(NamedTuple):
    """Properties of one function that determine the layout of a program."""

    formula: Any        # a Formula, LINEAR, MASSES or PYTHON
    frame: str | None
    relative: str | None
    parameters: int     # number of parameters
    rows: int           # number of rows
    mass_frames: tuple[str, ...] = ()   # frames that the function's point masses are fixed to


def _shape_and_parameters(function: KinematicFunction, robot: Robot, active: ActiveJoints,
                          start: Array) -> tuple[_Shape, Array]:
    """Return the shape and the parameters of a bound function."""
    rows = len(function.labels)
    if isinstance(function, RelativeFunction):
        parameters = function.parameters
        return _Shape(function.rows, function.frame, function.relative_to, len(parameters),
                      rows), parameters
    if isinstance(function, BoundJoints) and not function.curved:
        parameters = _linear_parameters(function, active, start)
        return _Shape(LINEAR, None, None, len(parameters), rows), parameters
    if masses := function.masses(robot):
        return _Shape(MASSES, None, masses.relative_to, len(masses.parameters), rows,
                      masses.frames), masses.parameters
    return _Shape(PYTHON, None, None, 0, rows), _NONE


def _linear_parameters(function: BoundJoints, active: ActiveJoints, start: Array) -> Array:
    """
    Return for each row: 1 if the row ignores full turns (else 0), a constant, and slopes (n,).

    Compiled loops read these parameters with `kernels.rows.linear_rows`.
    """
    # f = slopes x + constant; joints that do not move contribute to the constant
    difference = start - function.reference
    difference[active.indices] = -function.reference[active.indices]
    slopes = function.A[:, active.v_slice]
    parameters = np.empty((len(slopes), 2 + slopes.shape[1]))
    parameters[:, 0] = function.turns
    parameters[:, 1] = function.offset + function.A @ difference[active.q_of_columns]
    parameters[:, 2:] = slopes
    return parameters.reshape(-1)


# -- the shared layout ----------------------------------------------------------------------

class _Layout:
    """Arrays that programs of equal shapes share; `kernels.rows.layout_of` describes `table`."""

    def __init__(self, robot: Robot, names: tuple[str, ...], shapes: tuple[_Shape, ...]) -> None:
        self.shapes, self.robot, self.names = shapes, robot, names
        # Pinocchio's index of each frame used; the root frame (None) has index 0
        frames: dict[str | None, int] = {None: 0}
        for shape in shapes:
            frames.update((name, robot.frame_id(name)) for name in (
                shape.frame, shape.relative, *shape.mass_frames) if name is not None)
        self.frames = tuple(frames.values())
        moving = frozenset[str]().union(*(robot.moving_joints(name) for name in frames
                                         if name is not None))
        self.locked_q_indices = np.array([
            joint.index + i for joint in robot.joints if joint.name in moving.difference(names)
            for i in range(joint.size)], np.intp)
        self._formulas = tuple(dict.fromkeys(shape.formula for shape in shapes
                                             if isinstance(shape.formula, Formula)))
        self.python = tuple(i for i, shape in enumerate(shapes) if shape.formula == PYTHON)
        # the slices of each function: in the stacked rows, and in the stacked parameters
        rows, parameters = (_offsets(shape.rows for shape in shapes),
                            _offsets(shape.parameters for shape in shapes))
        self.rows = tuple(map(slice, rows[:-1], rows[1:]))
        self.parameter_slices = tuple(map(slice, parameters[:-1], parameters[1:]))
        self.size = rows[-1]
        self.table = self._table({name: number for number, name in enumerate(frames)},
                                 [*parameters, *rows])

    def _table(self, frame_numbers: dict[str | None, int], ends: list[int]) -> Indices:
        """Return the integers of the layout, in the order in which `layout_of` reads them."""
        shapes = self.shapes
        tree = tree_of(self.robot, self.frames, self.names, self.robot.neutral)
        columns, floating = _columns(ActiveJoints(self.robot, self.names))
        numbers = {formula: number for number, formula in enumerate(self._formulas)}
        frames = [frame_numbers[shape.frame] for shape in shapes]
        relative = [frame_numbers[shape.relative] for shape in shapes]
        # a body has one joint axis (a unit twist) per velocity component of its joint
        motions = _offsets(6 if kind == FLOATING else 1 for kind in tree.kind)
        return np.array([
            len(columns), len(tree.parent), len(tree.frame_body), len(shapes), len(floating) // 2,
            *columns, *floating, *tree.parent, *tree.kind, *tree.value_index, *tree.column,
            *motions, *tree.frame_body, *(numbers.get(shape.formula, shape.formula)
                                          for shape in shapes), *frames, *relative, *ends,
            *_supports(tree, frames, relative), *_offsets(len(one.mass_frames) for one in shapes),
            *(frame_numbers[name] for shape in shapes for name in shape.mass_frames)],
            dtype=np.int64)

    @cached_property
    def addresses(self) -> Indices:
        """Addresses of the compiled formulas, then 0, the place of a Python callback's address."""
        return np.array([*(formula.address for formula in self._formulas), 0], dtype=np.int64)


@lru_cache(maxsize=256)
def _numbers(layout: _Layout, locked: bytes) -> Array:
    """Return the floats of the tree; `locked` are the values at `locked_q_indices`, as bytes."""
    start = layout.robot.neutral.copy()
    start[layout.locked_q_indices] = np.frombuffer(locked)
    tree = tree_of(layout.robot, layout.frames, layout.names, start)
    return np.concatenate([tree.multiplier, tree.offset, tree.joint_placement.reshape(-1),
                           tree.frame_placement.reshape(-1)])


_layout = lru_cache(maxsize=256)(_Layout)


def _offsets(sizes: Iterable[int]) -> list[int]:
    """Return 0 and the cumulative sums: the boundaries of consecutive blocks of these sizes."""
    return [0, *accumulate(sizes)]


def _columns(active: ActiveJoints) -> tuple[list[int], list[int]]:
    """
    Return, for each active column, the index of its value in x (-1 for floating joints).

    The second list has, for each floating joint, its first index in x and its first column.
    """
    columns = np.searchsorted(active.indices, active.q_of_columns[active.columns]).tolist()
    floating = [number for first in active.floating_starts.tolist()
                for number in (first, columns.index(first))]
    for column in floating[1::2]:
        columns[column:column + 6] = [-1] * 6
    return columns, floating


def _supports(tree: Tree, frames: list[int], relative: list[int]) -> list[int]:
    """
    Return, for each function, the bodies that move only one of its two frames, with signs.

    The sign is 1 for a body that moves `frame`, -1 for a body that moves `relative`. The list has
    the boundaries between the functions, then all bodies, then all signs.
    """
    ends, bodies, signs = [0], list[int](), list[int]()
    for frame, other in zip(frames, relative, strict=True):
        carrying, under = tree.supports(frame), tree.supports(other)
        moving = sorted(carrying ^ under)
        bodies += moving
        signs += [1 if body in carrying else -1 for body in moving]
        ends.append(len(bodies))
    return [*ends, *bodies, *signs]
