"""The functions of a problem as the table that compiled loops take."""

from collections.abc import Callable, Sequence
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import (
    AngleBetweenVectors,
    AxisAlignment,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    HalfSpaces,
    JointCoupling,
    JointPositions,
    KinematicFunction,
    LookAt,
    OrientationAngle,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    RelativeFunction,
)
from ros2_ik.core.kernels import kernel
from ros2_ik.core.kernels.trees import Tree, tree_of
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.robot import Configuration

(HEIGHTS, DISTANCE, LINE_DISTANCE, ROTATION, ROTATION_ANGLE, DIRECTION_ANGLE, DIRECTION_VECTOR,
 SIGHT_ANGLE, SIGHT_VECTOR, LINEAR) = range(10)      # as in kernels/rows.py


class Entry(NamedTuple):
    """One line of the table: a code, its parameters, and which rows of it are the function's."""

    code: int
    params: list[float]
    rows: tuple[int, ...]


def compiled_rows(problem: IKProblem, functions: Sequence[KinematicFunction]
                  ) -> 'CompiledRows | None':
    """
    Prepare functions for compiled evaluation.

    None before `load_kernels()`, for functions without a compiled form, and where a joint of
    several numbers moves what is measured: a FunctionStack does those.
    """
    if kernel('rows') is None:
        return None
    found = [_entries(problem, function) for function in functions]
    entries = [part for part in found if part is not None]
    if len(entries) < len(found):
        return None
    robot = problem.robot
    pairs = [_frames(function) for function in functions]
    names = list(dict.fromkeys([None, *(name for pair in pairs for name in pair)]))
    tree = tree_of(robot, tuple(0 if name is None else robot.frame_id(name) for name in names),
                   problem.joint_names, problem.start)
    if tree is None:
        return None
    frames = [(names.index(pair[0]), names.index(pair[1])) for pair in pairs]
    return CompiledRows(problem, tree, list(zip(frames, entries, strict=True)))


class CompiledRows:
    """
    What a FunctionStack does, compiled.

    The table may have more rows than the functions, which `picked` leaves out. `arrays` are the
    first arguments of the compiled loops.
    """

    def __init__(self, problem: IKProblem, tree: Tree,
                 functions: list[tuple[tuple[int, int], list[Entry]]]) -> None:
        table, params, picked = [], [], []
        first = row = 0
        for frames, entries in functions:
            for entry in entries:
                count = _ROWS[entry.code]
                table.append((entry.code, *frames, first, row, count))
                params += entry.params
                picked += [row + i for i in entry.rows]
                first, row = first + len(entry.params), row + count
        self.arrays = (*tree, np.array(table, dtype=np.intp).reshape(-1, 6),
                       np.array(params, dtype=float))
        self.size = row
        self.picked = np.array(picked, dtype=np.intp)
        self._all = row == len(picked)
        self._place = problem.free.place
        self._columns = len(problem.free.columns)
        self._evaluate = kernel('rows')

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Give f (m,) and J (m, n) at q (nq,), for the free columns."""
        f, J = np.empty(self.size), np.empty((self.size, self._columns))
        self._evaluate(np.ascontiguousarray(q[self._place]), *self.arrays, f, J)
        return (f, J) if self._all else (f[self.picked], J[self.picked])


def _frames(function: KinematicFunction) -> tuple[str | None, str | None]:
    if isinstance(function, RelativeFunction):
        return function.frame, function.relative_to
    return None, None


def _entries(problem: IKProblem, function: KinematicFunction) -> list[Entry] | None:
    if isinstance(function, (JointPositions, JointCoupling)):
        return _linear(problem, function)
    write = _WRITERS.get(type(function))
    return None if write is None else write(function)


def _linear(problem: IKProblem, function: KinematicFunction) -> list[Entry] | None:
    """Rows that are linear in the free values: no floating joints, no turns taken away."""
    robot, free = problem.robot, problem.free
    if any(joint.kind == 'floating' for joint in robot.joints):
        return None
    if isinstance(function, JointPositions) and function.wrap and any(
            robot.joint(name).rotary and not math.isfinite(
                robot.joint(name).upper - robot.joint(name).lower)
            for name in function.joints(robot)):
        return None
    f, J = function.evaluate(Configuration(robot, problem.start))
    J = J[:, free.column]
    constant = f - J @ problem.start[free.place]
    return [Entry(LINEAR, [constant[i], *J[i]], (0,)) for i in range(len(f))]


def _height(point: Array, normal: Array, offset: Any) -> Entry:
    return Entry(HEIGHTS, [1.0, offset, *point, *normal], (0,))


def _position(function: FramePosition) -> list[Entry]:
    A = function.T_relative_A
    R, p = (np.eye(3), np.zeros(3)) if A is None else (A.rotation, A.translation)
    return [_height(function.point, R[:, i], R[:, i] @ p)
            for i in ('xyz'.index(axis) for axis in function.axes)]


def _pose(function: FramePose) -> list[Entry]:
    R, p = function.reference.rotation, function.reference.translation
    return [*(_height(np.zeros(3), R[:, i], R[:, i] @ p) for i in range(3)),
            Entry(ROTATION, [*R.reshape(-1), *_NO_TURN], (0, 1, 2))]


def _half_spaces(function: HalfSpaces) -> list[Entry]:
    points = function.points
    return [Entry(HEIGHTS, [len(points), 0.0,
                            *np.hstack([points, row.reshape(-1, 3)]).reshape(-1)], (0,))
            for row in function.A]


def _rotation(function: FrameOrientation) -> list[Entry]:
    return [Entry(ROTATION, [*function.reference.reshape(-1), *function.offset.reshape(-1)],
                  tuple('xyz'.index(axis) for axis in function.axes))]


def _angle(function: OrientationAngle) -> list[Entry]:
    return [Entry(ROTATION_ANGLE, [*function.reference.reshape(-1),
                                   *function.offset.reshape(-1)], (0,))]


def _plane(function: PointToPlane) -> list[Entry]:
    return [_height(function.point, function.normal, function.normal @ function.plane_point)]


def _distance(function: PointToPointDistance) -> list[Entry]:
    return [Entry(DISTANCE, [*function.point, *function.other_point], (0,))]


def _line(function: PointToLineDistance) -> list[Entry]:
    return [Entry(LINE_DISTANCE, [*function.point, *function.line_point,
                                  *function.across.reshape(-1)], (0,))]


def _direction(code: int) -> Callable[[Any], list[Entry]]:
    def write(function: Any) -> list[Entry]:
        deviation = function.deviation
        return [Entry(code, [*function.vector, *deviation.axis, *deviation.across.reshape(-1)],
                      tuple(range(_ROWS[code])))]
    return write


def _sight(code: int) -> Callable[[Any], list[Entry]]:
    def write(function: Any) -> list[Entry]:
        deviation = function.deviation
        return [Entry(code, [*deviation.axis, *deviation.across.reshape(-1), *function.origin,
                             *function.target], tuple(range(_ROWS[code])))]
    return write


_NO_TURN = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_ROWS = {HEIGHTS: 1, DISTANCE: 1, LINE_DISTANCE: 1, ROTATION: 3, ROTATION_ANGLE: 1,
         DIRECTION_ANGLE: 1, DIRECTION_VECTOR: 2, SIGHT_ANGLE: 1, SIGHT_VECTOR: 2, LINEAR: 1}
_WRITERS: dict[type[KinematicFunction], Callable[[Any], list[Entry]]] = {
    FramePosition: _position, FramePose: _pose, HalfSpaces: _half_spaces,
    FrameOrientation: _rotation, OrientationAngle: _angle, PointToPlane: _plane,
    PointToPointDistance: _distance, PointToLineDistance: _line,
    AngleBetweenVectors: _direction(DIRECTION_ANGLE), AxisAlignment: _direction(DIRECTION_VECTOR),
    GazeAngle: _sight(SIGHT_ANGLE), LookAt: _sight(SIGHT_VECTOR)}
