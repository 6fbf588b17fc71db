"""A task in a velocity program, with what changes while it runs."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import IKError, InvalidTargetError
from ros2_ik.core.functions import FramePose
from ros2_ik.core.functions.joint_positions import BoundJoints, JointPositions
from ros2_ik.core.kernels.velocity_rows import DAMPING, KIND, RATE, SHARE, TARGET, UNUSED, WEIGHT
from ros2_ik.core.poses import as_placement
from ros2_ik.core.problem.constraint import spread
from ros2_ik.core.problem.program import Program
from ros2_ik.core.robot.tree import se3_to_array
from ros2_ik.core.velocity.gain import Gain
from ros2_ik.core.velocity.task import checked_weight, Task


class BoundTask:
    """
    A task of one robot: entry `number` of a program, in `place` of its `rows`, of `kind`.

    A target or velocity that is not finite leaves the task out until it is replaced; `dropped`
    names them.
    """

    def __init__(self, task: Task, program: Program, rows: Array, number: int, kind: int,
                 dt: float) -> None:
        self.task, self.name, self.function = task, task.name, task.function
        self._program, self._rows, self._number = program, rows, number
        self.place, self._kind, self._dt = program.rows[number], kind, dt
        self.dropped = set[str]()
        if task.follows_previous and not isinstance(task.function, BoundJoints):
            raise InvalidTargetError(f"velocity 'previous' is for joints, not for {task.name}")
        has_target = task.target is not None
        numbers = rows[:, self.place]
        numbers[TARGET] = task.target if has_target else 0.0
        numbers[RATE], numbers[DAMPING] = task.velocity, task.lm_damping
        numbers[SHARE] = task.gain.in_step(dt) if has_target else 0.0
        self._enter_weight(task.weight)

    def set_target(self, target: Any, velocity: Any) -> None:
        """Replace the target, the velocity, or both; see `VelocityProgram.set_target`."""
        if target is not None:
            self._note('target', self._set_value(target))
        if velocity is not None:
            self._note('velocity', self._set_row(RATE, velocity, f'velocity of {self.name}'))

    def set_weight(self, weight: Any) -> None:
        """Replace the weight, a number or one for each row."""
        self._enter_weight(spread(checked_weight(weight, self.name), f'weight of {self.name}',
                                  self.function.labels, InvalidTargetError))

    def set_gain(self, gain: float, gain_per_second: float | None) -> None:
        """Replace the gain."""
        self._check_target()
        share = Gain.of(gain, gain_per_second, self.name).in_step(self._dt)
        self._rows[SHARE, self.place] = share

    def follow(self, velocity: Array) -> None:
        """Ask for the velocity (nv,) of the last step."""
        assert isinstance(self.function, BoundJoints)
        self._rows[RATE, self.place] = self.function.A @ velocity

    def _note(self, what: str, is_finite: bool) -> None:
        if is_finite == (what in self.dropped):
            self.dropped ^= {what}
            self._enter_kind()

    def _enter_weight(self, weight: Array) -> None:
        # without a target velocities are compared, not steps
        unit = 1.0 if self.task.target is not None else self._dt ** 2
        self._rows[WEIGHT, self.place] = weight / unit
        self._enter_kind()

    def _enter_kind(self) -> None:
        counts = self._rows[WEIGHT, self.place] > 0 if not self.dropped else False
        self._rows[KIND, self.place] = np.where(counts, self._kind, UNUSED)

    def _check_target(self) -> None:
        if self.task.target is None:
            raise InvalidTargetError(f'task {self.name} has a velocity and no target')

    def _set_value(self, target: Any) -> bool:
        """Replace the target, and return whether it is finite: else nothing is replaced."""
        self._check_target()
        what, is_pose = f'target of {self.name}', isinstance(self.function, FramePose)
        if not (is_pose or self.task.is_at_reference):
            return self._set_row(TARGET, target, what)
        by_name = isinstance(target, Mapping)
        parts = [floats(getattr(part, 'homogeneous', part), what, 'numbers', InvalidTargetError)
                 for part in (target.values() if by_name else (target,))]
        if not all(np.isfinite(part).all() for part in parts):
            return False
        if is_pose:
            self._parameters[:] = se3_to_array(as_placement(parts[0], what))
        elif self._is_posture and not by_name and parts[0].shape == (len(self.function.labels),):
            # 20 times as fast as another function
            self._parameters.reshape(len(parts[0]), -1)[:, 1] = -parts[0]
        else:
            self._exchange(target)
        return True

    @property
    def _parameters(self) -> Array:
        parameters: Array = self._program.arrays[2][self._program.parameter_places[self._number]]
        return parameters

    @cached_property
    def _is_posture(self) -> bool:
        """Whether the rows are f = q - target, of joints that have one value in q each."""
        function, robot = self.function, self._program.robot
        given = function.made_from if isinstance(function, BoundJoints) else None
        if not isinstance(given, JointPositions):
            return False
        names = given.names or robot.joint_names
        return len(names) == len(function.labels) and robot.mimics.keys().isdisjoint(names)

    def _exchange(self, reference: Any) -> None:
        try:
            function = self.task.toward(reference, self._program.robot)
        except IKError as error:
            raise InvalidTargetError(f'target of {self.name}: {error}') from None
        self._program.exchange(self._number, function)

    def _set_row(self, row: int, given: Any, what: str) -> bool:
        values = floats(given, what, 'numbers', InvalidTargetError)
        if not np.isfinite(values).all():
            return False
        self._rows[row, self.place] = spread(values, what, self.function.labels,
                                             InvalidTargetError)
        return True
