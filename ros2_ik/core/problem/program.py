"""Functions of a robot's active joints, bound as flat arrays for compiled loops."""

from collections.abc import Callable, Iterable, Sequence
import ctypes
from functools import cached_property, lru_cache
from itertools import accumulate
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions import BoundJoints, KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.rows import evaluate, LINEAR, MASSES, PYTHON
from ros2_ik.core.kernels.source import Formula
from ros2_ik.core.problem.structure import ActiveJoints
from ros2_ik.core.robot import Configuration, Joint, Robot
from ros2_ik.core.robot.tree import FLOATING, locked_q_indices, Tree, tree_of

if TYPE_CHECKING:
    import pinocchio as pin

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
_NONE = np.zeros(0)


class Program:
    """
    The rows of several functions, bound to a robot, of the joints that are active.

    The other joints stay at `start`, which matters for those at `locked_q_indices`. `rows[i]` are
    the rows of function i, `parameter_places[i]` its parameters. Compiled loops take `arrays`:
    numbers, layout, parameters and addresses, see kernels/rows.py. Programs of one structure
    (kinds and frames of functions, active joints) share all but the parameters. Rows that only
    Python can evaluate stand beside the compiled ones: a program that has some is run by one
    thread at a time.
    """

    def __init__(self, robot: Robot, functions: Sequence[KinematicFunction], active: ActiveJoints,
                 start: Array) -> None:
        self.robot, self.active, self.start = robot, active, start
        self.functions = list(functions)
        entries = [_entry(function, robot, active, start) for function in functions]
        self._lay_out(tuple([shape for shape, _ in entries]),
                      np.concatenate([_NONE, *(parameters for _, parameters in entries)]))

    def _lay_out(self, shapes: tuple['_Shape', ...], parameters: Array) -> None:
        self._layout = layout = _layout(self.robot, self.active.names, shapes)
        self.rows, self.size = layout.rows, layout.size
        self.parameter_places = layout.parameter_places
        self.locked_q_indices = layout.locked_q_indices
        numbers = _numbers(layout, self.start[layout.locked_q_indices].tobytes())
        self.arrays = numbers, layout.table, parameters, layout.addresses

    def first(self, count: int) -> 'Program':
        """Return the program of the first functions alone."""
        program = object.__new__(Program)   # copy.copy takes 2 us
        program.__dict__.update(self.__dict__)
        program.functions = self.functions[:count]
        program._lay_out(self._layout.shapes[:count], self.arrays[2])
        return program

    def exchange(self, number: int, function: KinematicFunction) -> None:
        """Put in place of function `number` one with other parameters."""
        parameters = _entry(function, self.robot, self.active, self.start)[1]
        self.arrays[2][self.parameter_places[number]] = parameters
        self.functions[number] = function

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return f (m,) and J (m, n) at q (nq,)."""
        f, J = np.empty(self.size), np.empty((self.size, len(self.active.columns)))
        self.run(evaluate.run, None, np.array(q[self.active.place]), f, J)
        return f, J

    def run(self, loop: Callable[..., Any], interrupted: Callable[[], object] | None,
            *given: Any) -> Any:
        """
        Run a loop; where Python evaluates rows, the loop also ends when `interrupted` is true.

        Raises what a user's function raised, which no compiled loop can.
        """
        numbers, layout, parameters, addresses = self.arrays
        if not self._layout.python:
            return loop(numbers, layout, parameters, addresses, *given)
        active, errors = self.active, list[BaseException]()
        shapes = (len(active.indices),), (self.size,), (self.size, len(active.columns))

        def fill(*addresses: int) -> bool:
            """Fill the rows of x, f and J at addresses; False where the loop must end."""
            try:
                if interrupted is not None and interrupted():
                    return False
                self.fill_python_rows(*map(_array_at, addresses, shapes))
            except BaseException as error:    # no exception gets through compiled code
                errors.append(error)
                return False
            return True
        callback = _CALLBACK(fill)
        address = ctypes.cast(callback, ctypes.c_void_p).value or 0
        result = loop(numbers, layout, parameters, np.append(addresses[:-1], address), *given)
        if errors:
            raise errors[0]
        return result

    def fill_python_rows(self, x: Array, f: Array, J: Array) -> None:
        """Fill the rows that only Python can evaluate at the active joints' values."""
        q = self.start.copy()
        q[self.active.place] = x
        at = Configuration.of_checked(self.robot, q, self._data or self.robot.scratch_data())
        for number in self._layout.python:
            rows = self.rows[number]
            f[rows], jacobian = self.functions[number].evaluate(at)
            J[rows] = jacobian[:, self.active.column]

    @cached_property
    def _data(self) -> 'pin.Data | None':
        """Pinocchio's data where a user's function may use what the robot's functions share."""
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
    parameters: int
    rows: int
    lumps: tuple[str, ...] = ()     # frames that masses are fixed to


def _entry(function: KinematicFunction, robot: Robot, active: ActiveJoints,
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
    masses = function.masses(robot) if isinstance(function, KinematicFunction) else None
    if masses is not None:
        return _Shape(MASSES, None, masses.relative_to, len(masses.parameters), rows,
                      masses.frames), masses.parameters
    return _Shape(PYTHON, None, None, 0, rows), _NONE


def _linear_parameters(function: BoundJoints, active: ActiveJoints, start: Array) -> Array:
    """Return for each row whether it turns, its constant and its slopes; see `linear_rows`."""
    at_rest = np.where(active.is_locked, start, 0.0) - function.reference
    slopes = function.A[:, active.column]
    parameters = np.empty((len(slopes), 2 + slopes.shape[1]))
    parameters[:, 0] = function.turns
    parameters[:, 1] = function.offset + function.A @ at_rest[active.column_places]
    parameters[:, 2:] = slopes
    return parameters.reshape(-1)


# -- the layout of a structure --------------------------------------------------------------

class _Layout:
    """Arrays shared by programs of one structure; `table` is described at `layout_of`."""

    def __init__(self, robot: Robot, names: tuple[str, ...], shapes: tuple[_Shape, ...]) -> None:
        self.shapes, self.robot, self._names = shapes, robot, names
        frames: dict[str | None, int] = {None: 0}
        for shape in shapes:
            frames.update((name, robot.frame_id(name)) for name in (
                shape.frame, shape.relative, *shape.lumps) if name is not None)
        self._frames = tuple(frames.values())
        self.locked_q_indices = locked_q_indices(robot, self._frames, names)
        self._formulas = tuple(dict.fromkeys(shape.formula for shape in shapes
                                             if isinstance(shape.formula, Formula)))
        self.python = tuple(i for i, shape in enumerate(shapes) if shape.formula == PYTHON)
        rows, parameters = (_sums(shape.rows for shape in shapes),
                            _sums(shape.parameters for shape in shapes))
        self.rows = tuple(map(slice, rows[:-1], rows[1:]))
        self.parameter_places = tuple(map(slice, parameters[:-1], parameters[1:]))
        self.size = rows[-1]
        self.table = self._table({name: place for place, name in enumerate(frames)},
                                 [*parameters, *rows])

    def _table(self, place_of: dict[str | None, int], ends: list[int]) -> Indices:
        shapes, tree = self.shapes, self._tree(self.robot.neutral)
        columns, floating = _columns([self.robot.joint(name) for name in self._names])
        numbers = {formula: number for number, formula in enumerate(self._formulas)}
        frames = [place_of[shape.frame] for shape in shapes]
        relative = [place_of[shape.relative] for shape in shapes]
        motions = _sums(6 if kind == FLOATING else 1 for kind in tree.kind)
        return np.array([
            len(columns), len(tree.parent), len(tree.node), len(shapes), len(floating) // 2,
            *columns, *floating, *tree.parent, *tree.kind, *tree.place, *tree.column, *motions,
            *tree.node, *(numbers.get(shape.formula, shape.formula) for shape in shapes), *frames,
            *relative, *ends, *_supports(tree, frames, relative),
            *_sums(len(shape.lumps) for shape in shapes),
            *(place_of[name] for shape in shapes for name in shape.lumps)], dtype=np.int64)

    def _tree(self, start: Array) -> Tree:
        return tree_of(self.robot, self._frames, self._names, start)

    def numbers(self, start: Array) -> Array:
        """Return the numbers of the tree, which depend on where the joints at rest are."""
        tree = self._tree(start)
        return np.concatenate([tree.multiplier, tree.offset, tree.before.reshape(-1),
                               tree.mounting.reshape(-1)])

    @cached_property
    def addresses(self) -> Indices:
        """Addresses of the compiled formulas; the last one is for functions in Python."""
        return np.array([*(formula.address for formula in self._formulas), 0], dtype=np.int64)


@lru_cache(maxsize=256)
def _numbers(layout: _Layout, locked: bytes) -> Array:
    start = layout.robot.neutral.copy()
    start[layout.locked_q_indices] = np.frombuffer(locked)
    return layout.numbers(start)


@lru_cache(maxsize=256)
def _layout(robot: Robot, names: tuple[str, ...], shapes: tuple[_Shape, ...]) -> _Layout:
    return _Layout(robot, names, shapes)


def _sums(sizes: Iterable[int]) -> list[int]:
    """Return where each of several parts in a row begins, and where the last one ends."""
    return [0, *accumulate(sizes)]


def _columns(joints: Sequence[Joint]) -> tuple[list[int], list[int]]:
    """
    Return the place among the active values of each column, -1 for those of floating joints.

    And of each of these joints its first place and its first column.
    """
    columns: list[int] = []
    floating: list[int] = []
    place = 0
    for joint in joints:
        if joint.size == joint.velocity_size:
            columns += range(place, place + joint.size)
        else:
            floating += [place, len(columns)]
            columns += [-1] * joint.velocity_size
        place += joint.size
    return columns, floating


def _supports(tree: Tree, frames: list[int], relative: list[int]) -> list[int]:
    """Return which bodies move one frame of an entry and not the other, and their signs."""
    ends, bodies, signs = [0], list[int](), list[int]()
    for frame, other in zip(frames, relative, strict=True):
        carrying, under = tree.supports(frame), tree.supports(other)
        moving = sorted(carrying ^ under)
        bodies += moving
        signs += [1 if body in carrying else -1 for body in moving]
        ends.append(len(bodies))
    return [*ends, *bodies, *signs]
