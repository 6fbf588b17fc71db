"""Tasks bound to a velocity program, and limbs: groups of joints that tasks couple."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, Indices
from ros2_ik.core.checks import row_numbers
from ros2_ik.core.errors import IKError, InvalidTargetError
from ros2_ik.core.functions import FramePose, KinematicFunction
from ros2_ik.core.functions.joint_functions import BoundJoints, JointPositions
from ros2_ik.core.kernels.velocity_rows import DAMPING, GAIN, KIND, RATE, TARGET, UNUSED, WEIGHT
from ros2_ik.core.poses import as_placement
from ros2_ik.core.problem.constraint import spread
from ros2_ik.core.problem.program import Program
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import se3_to_array
from ros2_ik.core.velocity.task import checked_weight, step_gain, Task


class BoundTask:
    """
    A task, bound as function `number` of a program: target, velocity, weight and gain can be set.

    `rows` (NUMBERS, m), see `velocity_rows`, has a column for each row of the program. The task
    fills the columns `row_slice`; their element KIND is `kind`, or UNUSED if the weight is 0.
    """

    def __init__(self, task: Task, program: Program, rows: Array, number: int, kind: int,
                 dt: float) -> None:
        self.task, self.name, self.function = task, task.name, task.function
        self._program, self._rows, self._number = program, rows, number
        self.row_slice, self._kind, self._dt = program.rows[number], kind, dt
        if task.follows_previous and not isinstance(task.function, BoundJoints):
            raise InvalidTargetError(f"velocity 'previous' is for joints, not for '{task.name}'")
        # without a target, the gain is 0 and only the velocity counts
        has_target = task.target is not None
        numbers = rows[:, self.row_slice]
        numbers[TARGET] = task.target if has_target else 0.0
        numbers[RATE], numbers[DAMPING] = task.velocity, task.lm_damping
        numbers[GAIN] = (step_gain(task.gain, task.gain_per_second, self.name, dt)
                         if has_target else 0.0)
        self._enter_weight(task.weight)

    def set_target(self, target: object, velocity: object) -> None:
        """Replace the target, the velocity, or both; see `VelocityProgram.set_target`."""
        # check the velocity before writing the target: a rejected call must change nothing
        rates = (self._rows[RATE, self.row_slice] if velocity is None
                 else self._row_numbers(velocity, f'velocity of {self.name}'))
        if target is not None:
            self._set_target(target)
        self._rows[RATE, self.row_slice] = rates

    def set_weight(self, weight: 'ArrayLike') -> None:
        """Replace the weight: one number, or one for each row (m,)."""
        self._enter_weight(spread(checked_weight(weight, self.name), f'weight of {self.name}',
                                  self.function.labels, InvalidTargetError))

    def set_gain(self, gain: float | None, gain_per_second: float | None) -> None:
        """Replace the gain; see `VelocityProgram.set_gain`."""
        self._check_target()
        gain = 1.0 if gain is None and gain_per_second is None else gain
        self._rows[GAIN, self.row_slice] = step_gain(gain, gain_per_second, self.name, self._dt)

    def follow(self, velocity: Array) -> None:
        """Set the task's velocity from the joint velocities of the last step, `velocity` (nv,)."""
        assert isinstance(self.function, BoundJoints)
        self._rows[RATE, self.row_slice] = self.function.A @ velocity

    def _enter_weight(self, weight: Array) -> None:
        # The program minimizes |J dq - step|^2. A task without target stands for
        # |J v - velocity|^2 with v = dq / dt, so its weight is divided by dt^2.
        unit = 1.0 if self.task.target is not None else self._dt ** 2
        self._rows[WEIGHT, self.row_slice] = weight / unit
        self._rows[KIND, self.row_slice] = np.where(weight > 0, self._kind, UNUSED)

    def _check_target(self) -> None:
        if self.task.target is None:
            raise InvalidTargetError(f'task {self.name} has a velocity, but no target')

    def _set_target(self, target: object) -> None:
        self._check_target()
        what = f'target of {self.name}'
        parameters = self._program.arrays[2][self._program.parameter_slices[self._number]]
        if isinstance(self.function, FramePose):
            parameters[:] = se3_to_array(as_placement(target, what))
        elif not self.task.is_at_reference:
            self._rows[TARGET, self.row_slice] = self._row_numbers(target, what)
        elif self._is_posture and not isinstance(target, Mapping):
            # written in place: 5 times as fast as binding a new function
            values = self._row_numbers(target, what)
            parameters.reshape(len(values), -1)[:, 1] = -values
        # functions with a reference on a manifold: bind the function with the new reference
        else:
            try:
                function = self.task.with_reference(target, self._program.robot).function
            except IKError as error:
                raise InvalidTargetError(f'{what}: {error}') from None
            self._program.replace_function(self._number, function)

    @cached_property
    def _is_posture(self) -> bool:
        """True if the rows are f = q - target, for joints with one value each."""
        spec = self.function.spec
        return isinstance(spec, JointPositions) and len(self.function.labels) == len(
            spec.names or self._program.robot.joint_names)

    def _row_numbers(self, value: object, what: str) -> Array:
        labels = self.function.labels
        numbers = row_numbers(value, what, InvalidTargetError, count=len(labels))
        return spread(numbers, what, labels, InvalidTargetError)


def limbs(robot: Robot, levels: Sequence[Iterable[tuple[KinematicFunction, slice]]], rows: int
          ) -> tuple[Indices, Indices]:
    """
    Return limb numbers of tangent-space columns at each level (levels, nv), and of rows (rows,).

    `levels` has one item for each priority, and a last item for hard and scaled tasks. An item has
    bound functions, each with the slice of its rows. At a level, two joints are in one limb if a
    row depends on both joints, or if a chain of such rows connects them. A limb's number is the
    index of one of its columns.
    """
    # connected components by relabelling: initially each joint is a limb of its own
    of_joints = np.tile(np.arange(robot.nv), (len(levels), 1))
    of_rows = np.zeros(rows, dtype=np.int64)
    for limb, functions in zip(of_joints, levels, strict=True):
        depends = np.zeros((rows, robot.nv), dtype=bool)
        for function, row_slice in functions:
            if isinstance(function, BoundJoints):
                depends[row_slice] = function.A != 0
            else:
                for name in function.joints(robot):
                    depends[row_slice, robot.joint(name).columns] = True
        # a row joins the limbs of all its columns
        used = depends.any(axis=1)
        for row in depends[used]:
            limb[np.isin(limb, limb[row])] = limb[row][0]
        if used.any():
            of_rows[used] = limb[depends[used].argmax(axis=1)]
    return of_joints, of_rows
