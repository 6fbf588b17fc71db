"""Functions of a robot's active joints, bound once as flat arrays for compiled loops."""

from collections.abc import Callable, Iterator, Sequence
import ctypes
from dataclasses import dataclass
from functools import cached_property, lru_cache
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions import KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.rows import evaluate, LINEAR, MASSES, moved, PYTHON
from ros2_ik.core.kernels.source import Formula
from ros2_ik.core.lru_cache import LRUCache
from ros2_ik.core.problem.active_joints import ActiveJoints
from ros2_ik.core.robot import Configuration, Joint, Robot
from ros2_ik.core.robot.tree import FLOATING, locked_q_indices, Tree, tree_of
from ros2_ik.core.shallow import shallow

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)


class Program:
    """
    The rows of several functions, one under the other, of the joints that are active.

    `evaluate(q)` gives f (m,) and J (m, n) for the columns of the active joints; the others stay
    at `start`. `rows[i]` is where function i stands, `parameter_places[i]` where its parameters
    do. Formulas and rows that are linear in joint values run compiled; rows that only Python can
    evaluate stand beside them. Loops take `arrays`: numbers, layout, parameters and addresses, see
    kernels/rows.py. One thread uses it at a time, unless it `is_shareable`.
    """

    def __init__(self, robot: Robot, functions: Sequence[Any], active: ActiveJoints,
                 start: Array) -> None:
        self.functions = tuple([function.bind(robot) for function in functions])    # may raise
        structure = tuple([_shape(robot, function) for function in self.functions])
        self.robot, self.active = robot, active
        self._start, self._structure = start, structure
        self._interrupted: Callable[[], Any] | None = None
        self._flag: Any = None
        self._error: BaseException | None = None
        self._at: tuple[Any, Any] = None, ()    # addresses of x, f and J, and these as arrays
        self.held = _frames(robot, active.names, structure)[1]
        key = robot, active.names, structure, start[self.held].tobytes()
        bound = _bindings.get(key, lambda: _bound(robot, active.names, structure, start))
        self.rows, self.size, self._values = bound.rows, bound.size, bound.values
        self.parameter_places = bound.parameters
        self._python = [(rows, function) for rows, function, shape
                        in zip(self.rows, self.functions, structure, strict=True)
                        if shape.formula == PYTHON] if bound.has_python else []
        self.arrays = (bound.numbers, bound.layout, self._all_parameters(),
                       self._addresses(bound))
        self._evaluate, self._step = evaluate.run, moved.run

    def again(self, functions: Sequence[Any], active: ActiveJoints, start: Array) -> 'Program':
        """Return the program of functions with other parameters, for other limits and start."""
        if self._python or not self.serves(start):
            return Program(self.robot, functions, active, start)
        program = shallow(self)
        program.functions, program.active, program._start = tuple(functions), active, start
        numbers, layout, _, addresses = self.arrays
        program.arrays = numbers, layout, program._all_parameters(), addresses
        return program

    def exchange(self, number: int, function: Any) -> None:
        """Put in place of function `number`, in this program alone, one with other parameters."""
        numbers, layout, parameters, addresses = self.arrays
        parameters = parameters.copy()
        parameters[self.parameter_places[number]] = self._parameters(
            function, self._structure[number])
        self.arrays = numbers, layout, parameters, addresses
        rows = self.rows[number]
        self.functions = (*self.functions[:number], function, *self.functions[number + 1:])
        self._python = [(place, function if place == rows else other)
                        for place, other in self._python]

    @property
    def is_shareable(self) -> bool:
        """Whether several threads may run it at once: nothing of it is Python's."""
        return not self._python

    def serves(self, start: Array) -> bool:
        """Return whether the joints that stay, and matter, are where `start` has them."""
        held = self.held
        return not len(held) or bool((start[held] == self._start[held]).all())

    def _all_parameters(self) -> Array:
        return _joined([self._parameters(function, shape) for function, shape
                        in zip(self.functions, self._structure, strict=True)])

    def _parameters(self, function: Any, shape: '_Shape') -> Array:
        if shape.formula == MASSES:
            masses: Array = function.masses(self.robot).parameters
            return masses
        if shape.formula != LINEAR:
            return function.parameters if shape.formula != PYTHON else _NONE
        f, J = function.evaluate(Configuration.of_checked(self.robot, self._start,
                                                          self.robot.scratch_data()))
        slopes = J[:, self.active.column]
        constant = f - slopes @ self._columns(self._start)
        return np.column_stack([function.turning(self.robot), constant, slopes]).reshape(-1)

    def _columns(self, q: Array) -> Array:
        """Return the values of the active joints by columns, 0 where a joint has several."""
        x = q[self.active.indices]
        return np.where(self._values >= 0, x[self._values], 0.0) if len(x) else x

    def _addresses(self, bound: '_Bound') -> Any:
        if not self._python:
            return bound.addresses
        self._callback = _CALLBACK(self._answer_at)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        return np.array([*bound.addresses[:-1], address], dtype=np.int64)

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return f (m,) and J (m, n) at q (nq,)."""
        f, J = np.empty(self.size), np.empty((self.size, len(self.active.columns)))
        self._evaluate(*self.arrays, np.array(q[self.active.place]), f, J)
        self._raise()
        return f, J

    def room(self, q: Array, farthest: Any) -> tuple[Array, Array]:
        """Return how far each active column may move down and up from q, at most `farthest`."""
        low, high = self.active.lower, self.active.upper
        position = self._columns(q)
        return (np.minimum(np.maximum(low - position, -farthest), 0.0),
                np.maximum(np.minimum(high - position, farthest), 0.0))

    def moved(self, q: Array, step: Array) -> Array:
        """Return q moved by a step (n,) of the active columns, within their limits."""
        x, result = np.array(q[self.active.place]), q.copy()
        self._step(*self.arrays[:2], x, step, self.active.limits)
        result[self.active.place] = x
        return result

    def run(self, loop: Callable[..., Any], interrupted: Callable[[], Any] | None,
            *given: Any) -> Any:
        """Run a loop that ends where `interrupted` is true; what it gave is then `flag`."""
        self._interrupted, self._flag = interrupted, None
        result = loop(*self.arrays, *given)
        self._interrupted = None
        self._raise()
        return result

    @property
    def flag(self) -> Any:
        """What ended the last loop that was watched, or None."""
        return self._flag

    def _raise(self) -> None:
        """Pass on what a user's function raised, which no compiled loop can."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _answer_at(self, *addresses: int) -> bool:
        if addresses != self._at[0]:    # they stay while a descent goes on
            n = len(self.active.columns)
            shapes = (len(self.active.indices),), (self.size,), (self.size, n)
            self._at = addresses, tuple(map(_array_at, addresses, shapes))
        return self._answer(*self._at[1])

    def _answer(self, x: Array, f: Array, J: Array) -> bool:
        """Fill the rows that only Python can evaluate; False where the loop must end."""
        try:
            if self._interrupted is not None:
                self._flag = self._interrupted()
            if self._flag:
                return False
            if self._python:
                self._fill(x, f, J)
        except BaseException as error:    # no exception gets through compiled code
            self._error = error
            return False
        return True

    def _fill(self, x: Array, f: Array, J: Array) -> None:
        q = self._start.copy()
        q[self.active.place] = x
        at = Configuration.of_checked(self.robot, q, self._own or self.robot.scratch_data())
        for rows, function in self._python:
            f[rows], jacobian = function.evaluate(at)
            J[rows] = jacobian[:, self.active.column]

    @cached_property
    def _own(self) -> Any:
        """Pinocchio's data where a user's function may use what the robot's functions share."""
        runs_user_code = any(function.is_user_code for function in self.functions)
        return self.robot.model.createData() if runs_user_code else None


_NONE = np.zeros(0)


def _array_at(address: int, shape: tuple[int, ...]) -> Array:
    buffer: Any = (ctypes.c_double * max(math.prod(shape), 1)).from_address(address)
    return np.ndarray(shape, buffer=buffer)


def _joined(parameters: Sequence[Array]) -> Array:
    """Return the parameters of all functions in a row; those of one are not copied."""
    return parameters[0] if len(parameters) == 1 else np.concatenate([_NONE, *parameters])


class _Shape(NamedTuple):
    """What the layout of a program depends on, of one function."""

    formula: Any        # a Formula, LINEAR, MASSES or PYTHON
    frame: str | None
    relative: str | None
    parameters: int
    rows: int
    lumps: tuple[str, ...] = ()     # frames that masses are fixed to


def _shape(robot: Robot, function: Any) -> _Shape:
    if isinstance(function, RelativeFunction):
        return _Shape(function.rows, function.frame, function.relative_to,
                      len(function.parameters), len(function.labels))
    masses = function.masses(robot) if isinstance(function, KinematicFunction) else None
    if masses is not None:
        return _Shape(MASSES, None, masses.relative_to, len(masses.parameters),
                      len(function.labels), masses.frames)
    return _Shape(PYTHON if function.turning(robot) is None else LINEAR, None, None, 0,
                  len(function.labels))


@dataclass(frozen=True, eq=False)
class _Bound:
    """A program without what changes from question to question; see `layout_of`."""

    numbers: Array
    layout: Any
    formulas: tuple[Formula, ...]
    values: Any         # the place among the active values of each column, -1 for floating joints
    rows: tuple[slice, ...]
    parameters: tuple[slice, ...]       # where those of each function stand
    size: int
    has_python: bool

    @cached_property
    def addresses(self) -> Any:
        """Where the compiled formulas are; the last stands for what Python evaluates."""
        return np.array([*(formula.address for formula in self.formulas), 0], dtype=np.int64)


@lru_cache(maxsize=256)
def _frames(robot: Robot, names: tuple[str, ...],
            structure: tuple[_Shape, ...]) -> tuple[dict[str | None, int], Indices]:
    """Return Pinocchio's indices of the frames by name, and the places in q of joints held."""
    frames: dict[str | None, int] = {None: 0}
    for shape in structure:
        for name in (shape.frame, shape.relative, *shape.lumps):
            if name is not None:
                frames[name] = robot.frame_id(name)
    return frames, locked_q_indices(robot, tuple(frames.values()), names)


_bindings: LRUCache[tuple[Any, ...], _Bound] = LRUCache(256)


def _bound(robot: Robot, names: tuple[str, ...], structure: tuple[_Shape, ...],
           start: Array) -> _Bound:
    """Bind functions to the joints in `names`; the others stay where `start` has them."""
    frames = _frames(robot, names, structure)[0]
    tree = tree_of(robot, tuple(frames.values()), names, start)
    place_of = list(frames)
    joints = [robot.joint(name) for name in names]
    values, n = _values(joints), sum(joint.velocity_size for joint in joints)
    floating, place, column = [], 0, 0
    for joint in joints:
        if joint.kind == 'floating':
            floating += [place, column]
        place, column = place + joint.size, column + joint.velocity_size
    formulas = tuple(dict.fromkeys(shape.formula for shape in structure
                                   if isinstance(shape.formula, Formula)))
    motions = np.cumsum([0, *(6 if kind == FLOATING else 1 for kind in tree.kind)])
    pairs = [(place_of.index(shape.frame), place_of.index(shape.relative)) for shape in structure]
    support, moved_by, signs = [0], [], []
    for pair in pairs:
        for body, sign in _moving(tree, *pair):
            moved_by.append(body)
            signs.append(sign)
        support.append(len(moved_by))
    sizes = [(n + 2) * shape.rows if shape.formula == LINEAR else shape.parameters
             for shape in structure]
    ends = np.cumsum([0, *(shape.rows for shape in structure)]).tolist()
    places = np.cumsum([0, *sizes]).tolist()
    layout = [n, len(tree.parent), len(tree.node), len(structure), len(floating) // 2, *values,
              *floating, *tree.parent, *tree.kind, *tree.place, *tree.column, *motions,
              *tree.node,
              *(formulas.index(shape.formula) if shape.formula in formulas else shape.formula
                for shape in structure),
              *(frame for frame, _ in pairs), *(relative for _, relative in pairs),
              *places, *ends, *support, *moved_by, *signs,
              *np.cumsum([0, *(len(shape.lumps) for shape in structure)]),
              *(place_of.index(name) for shape in structure for name in shape.lumps)]
    numbers = np.concatenate([tree.multiplier, tree.offset, tree.before.reshape(-1),
                              tree.mounting.reshape(-1)])
    return _Bound(numbers, np.array(layout, dtype=np.int64), formulas, values,
                  tuple(map(slice, ends[:-1], ends[1:])),
                  tuple(map(slice, places[:-1], places[1:])), ends[-1],
                  any(shape.formula == PYTHON for shape in structure))


def _moving(tree: Tree, frame: int, relative: int) -> Iterator[tuple[int, int]]:
    """Yield the bodies whose joints move one frame and not the other, with the sign."""
    carrying, under = tree.supports(frame), tree.supports(relative)
    for body in sorted(carrying ^ under):
        yield body, 1 if body in carrying else -1


def _values(joints: Sequence[Joint]) -> Any:
    """Return the place among the active values of each column, -1 for those of floating joints."""
    found: list[int] = []
    first = 0
    for joint in joints:
        single = joint.size == joint.velocity_size
        found += range(first, first + joint.size) if single else [-1] * joint.velocity_size
        first += joint.size
    return np.array(found, dtype=np.int64)
