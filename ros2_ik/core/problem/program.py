"""Functions of a robot's free joints, bound once as flat arrays for compiled loops."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import ctypes
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import RelativeFunction
from ros2_ik.core.kernels.rows import evaluate, LINEAR, moved, PYTHON
from ros2_ik.core.kernels.source import Formula, is_compiled
from ros2_ik.core.problem.free_joints import FreeJoints
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.tree import FLOATING, Tree, tree_of

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_double)] * 3)


class Program:
    """
    The rows of several functions, one under the other, of the joints that are free.

    `evaluate(q)` gives f (m,) and J (m, n) for the columns of the free joints; the others stay
    at `start`. `rows[i]` is where function i stands. Formulas and rows that are linear in joint
    values run compiled; what only Python can evaluate stands beside them. Loops take `arrays`:
    numbers, layout, parameters and addresses, see kernels/rows.py. They run `compiled` by
    default if that is loaded by now. One thread uses it at a time.
    """

    def __init__(self, robot: Robot, functions: Sequence[Any], free: FreeJoints,
                 start: Array, compiled: bool | None = None) -> None:
        for function in functions:
            function.joints(robot)     # unknown frames are told before the first step
        self.robot, self.functions, self.free = robot, tuple(functions), free
        ends = np.cumsum([0, *(len(function.labels) for function in functions)]).tolist()
        self.rows = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        self.size = ends[-1]
        self.compiled = is_compiled() if compiled is None else compiled
        self._start = start
        self._interrupted: Callable[[], Any] | None = None
        self._flag: Any = None
        self._error: BaseException | None = None
        formulas = _formulas(self.functions)
        self._python = [(rows, function) for rows, function, number
                        in zip(self.rows, self.functions, _numbers(robot, functions, formulas),
                               strict=True) if number == PYTHON]
        self.arrays = (*self._flattened(formulas), self._addresses(formulas))
        self._run, self._step = evaluate.of(self.compiled), moved.of(self.compiled)
        self._limits = free.lower, free.upper

    def _flattened(self, formulas: list[Formula]) -> tuple[Array, Any, Array]:
        """Lay the program out, see `layout_of`."""
        robot, functions = self.robot, self.functions
        pairs = [(function.frame, function.relative_to)
                 if isinstance(function, RelativeFunction) else (None, None)
                 for function in functions]
        names = list(dict.fromkeys([None, *(name for pair in pairs for name in pair)]))
        tree = tree_of(robot, tuple(0 if name is None else robot.frame_id(name)
                                    for name in names), self.free.names, self._start)
        frames = [(names.index(frame), names.index(relative)) for frame, relative in pairs]
        parameters = [self._parameters(function) for function in functions]
        motions = np.cumsum([0, *(6 if kind == FLOATING else 1 for kind in tree.kind)])
        support, moved_by, signs = [0], [], []
        for pair in frames:
            for body, sign in _moving(tree, *pair):
                moved_by.append(body)
                signs.append(sign)
            support.append(len(moved_by))
        free = self.free
        floating = [start for joint, start in zip(free.joints, _starts(free), strict=True)
                    if joint.kind == 'floating']
        layout = [len(free.columns), len(tree.parent), len(names), len(functions),
                  len(floating), *_values(free), *(number for pair in floating for number in pair),
                  *tree.parent, *tree.kind, *tree.place, *tree.column,
                  *motions, *tree.node, *_numbers(robot, functions, formulas),
                  *(frame for frame, _ in frames), *(relative for _, relative in frames),
                  *np.cumsum([0, *map(len, parameters)]), 0, *(rows.stop for rows in self.rows),
                  *support, *moved_by, *signs]
        numbers = np.concatenate([tree.multiplier, tree.offset, tree.before.reshape(-1),
                                  tree.mounting.reshape(-1)])
        return (numbers, np.array(layout, dtype=np.int64),
                np.concatenate([np.zeros(0), *parameters]))

    def _parameters(self, function: Any) -> Array:
        if isinstance(function, RelativeFunction):
            return function.parameters
        turning = function.turning(self.robot)
        if turning is None:
            return np.zeros(0)
        f, J = function.evaluate(Configuration(self.robot, self._start))
        slopes = J[:, self.free.column]
        constant = f - slopes @ self._columns(self._start)
        return np.column_stack([turning, constant, slopes]).reshape(-1)

    def _columns(self, q: Array) -> Array:
        """Return the values of the free joints by columns, 0 where a joint has several."""
        values = _values(self.free)
        x = q[self.free.indices]
        return np.where(values >= 0, x[np.maximum(values, 0)] if len(x) else 0.0, 0.0)

    def _addresses(self, formulas: list[Formula]) -> Any:
        found = [each.reference(self.compiled) for each in formulas]
        if not self.compiled:
            return [*found, self._answer]
        self._callback = _CALLBACK(self._answer_at) if self._python else None
        address = ctypes.cast(self._callback, ctypes.c_void_p).value if self._callback else 0
        return np.array([*found, address], dtype=np.int64)

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return f (m,) and J (m, n) at q (nq,)."""
        f, J = np.empty(self.size), np.empty((self.size, len(self.free.columns)))
        self._run(*self.arrays, np.array(q[self.free.place]), f, J)
        self._raise()
        return f, J

    def room(self, q: Array, farthest: Any) -> tuple[Array, Array]:
        """Return how far each free column may move down and up from q, at most `farthest`."""
        low, high = self._limits
        position = self._columns(q)
        return (np.minimum(np.maximum(low - position, -farthest), 0.0),
                np.maximum(np.minimum(high - position, farthest), 0.0))

    def moved(self, q: Array, step: Array) -> Array:
        """Return q moved by a step (n,) of the free columns, within their limits."""
        x, result = np.array(q[self.free.place]), q.copy()
        place = self.free.place
        self._step(*self.arrays[:2], x, step, np.array([bound[place]
                                                        for bound in self.free.bounds]))
        result[place] = x
        return result

    @contextmanager
    def watched(self, interrupted: Callable[[], Any] | None) -> Iterator[None]:
        """Let a loop end where `interrupted` is true; what it gave is then `flag`."""
        self._interrupted, self._flag = interrupted, None
        try:
            yield
        finally:
            self._interrupted = None
        self._raise()

    @property
    def flag(self) -> Any:
        """What ended the last loop that was watched, or None."""
        return self._flag

    def _raise(self) -> None:
        """Pass on what a user's function raised, which no compiled loop can."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _answer_at(self, x: Any, f: Any, J: Any) -> bool:
        n = len(self.free.columns)
        return self._answer(np.ctypeslib.as_array(x, (len(self.free.indices),)),
                            np.ctypeslib.as_array(f, (self.size,)),
                            np.ctypeslib.as_array(J, (self.size, n)))

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
        q[self.free.place] = x
        data = self._own or self.robot.scratch_data()
        pin.computeJointJacobians(self.robot.model, data, q)
        at = Configuration.computed(self.robot, q, data)
        for rows, function in self._python:
            f[rows], jacobian = function.evaluate(at)
            J[rows] = jacobian[:, self.free.column]

    @cached_property
    def _own(self) -> Any:
        """Pinocchio's data where a user's function may use what the robot's functions share."""
        runs_user_code = any(function.is_user_code for function in self.functions)
        return self.robot.model.createData() if runs_user_code else None


def _formulas(functions: Sequence[Any]) -> list[Formula]:
    return list(dict.fromkeys(function.rows for function in functions
                              if isinstance(function, RelativeFunction)))


def _numbers(robot: Robot, functions: Sequence[Any], formulas: list[Formula]) -> list[int]:
    """Return for each function which of the formulas is its own, or LINEAR, or PYTHON."""
    return [formulas.index(function.rows) if isinstance(function, RelativeFunction)
            else PYTHON if function.turning(robot) is None else LINEAR for function in functions]


def _moving(tree: Tree, frame: int, relative: int) -> Iterator[tuple[int, int]]:
    """Give the bodies whose joints move one frame and not the other, with the sign."""
    carrying, under = tree.supports(frame), tree.supports(relative)
    for body in sorted(carrying ^ under):
        yield body, 1 if body in carrying else -1


def _values(free: FreeJoints) -> Any:
    """Return the place among the free values of each column, -1 for those of floating joints."""
    found: list[int] = []
    for joint, (first, _) in zip(free.joints, _starts(free), strict=True):
        single = joint.size == joint.velocity_size
        found += range(first, first + joint.size) if single else [-1] * joint.velocity_size
    return np.array(found, dtype=np.int64)


def _starts(free: FreeJoints) -> list[tuple[int, int]]:
    """Return where the values and where the columns of each free joint begin."""
    sizes = [(joint.size, joint.velocity_size) for joint in free.joints]
    return [(sum(size for size, _ in sizes[:i]), sum(size for _, size in sizes[:i]))
            for i in range(len(sizes))]
