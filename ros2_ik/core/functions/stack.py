"""Values and Jacobians of many functions at once, for loops."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.kinematic_function import KinematicFunction
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.functions.user_function import UserFunction
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.carried import column_count, columns_carrying, follower_reduction


class FunctionStack:
    """
    The rows of several functions, one under the other, of one robot.

    `evaluate(q)` gives f (m,) and J (m, n) for the `columns` of the tangent space asked for
    (default: all). `rows[i]` is where function i stands. Wrenches become Jacobians in one
    product: J_row = (w @ J of all bodies) where the joint carries the one body and not the
    other, with the sign of the one it carries.
    """

    def __init__(self, robot: Robot, functions: Sequence[KinematicFunction],
                 columns: Any = slice(None)) -> None:
        for function in functions:
            function.joints(robot)     # unknown frames are told before the first step
        self.robot, self.functions, self.columns = robot, tuple(functions), columns
        self.rows: list[slice] = []
        for function in self.functions:
            first = self.rows[-1].stop if self.rows else 0
            self.rows.append(slice(first, first + len(function.labels)))
        self.size = self.rows[-1].stop if self.rows else 0
        self._relative = [(i, *self._frames(f)) for i, f in enumerate(self.functions)
                          if isinstance(f, RelativeFunction)]
        self._others = [(i, f) for i, f in enumerate(self.functions)
                        if not isinstance(f, RelativeFunction)]
        self._used = sorted({frame for _, _, *frames in self._relative for frame in frames} - {0})
        # a user's function may use what the robot's functions share
        self._own = (robot.model.createData() if any(isinstance(f, UserFunction)
                                                     for f in self.functions) else None)
        self._prepare()

    def _frames(self, function: RelativeFunction) -> tuple[Any, int, int]:
        relative = function.relative_to
        return (function.measure, self.robot.frame_id(function.frame),
                0 if relative is None else self.robot.frame_id(relative))

    def _prepare(self) -> None:
        """Find which column of Pinocchio's Jacobian moves which row, and with which sign."""
        robot, frames = self.robot, self.robot.model.frames
        columns = column_count(robot)
        self._mask = np.zeros((self.size, columns))
        for i, _, *pair in self._relative:
            carrying, under = (columns_carrying(robot, frames[frame].parentJoint)
                               for frame in pair)
            self._mask[self.rows[i]] = carrying - under
        self._wrenches = np.zeros((self.size, 6))
        self._reduction = follower_reduction(robot)
        if self._reduction is None:
            self._mask = np.ascontiguousarray(self._mask[:, self.columns])
        else:
            self._reduction = np.ascontiguousarray(self._reduction[:, self.columns])
        self._flat = columns == 1     # Pinocchio 4.1 then gives shape (6,)

    def value(self, q: Array) -> Array:
        """Give f (m,) at q (nq,)."""
        f, at = self._begun(q)
        for i, function in self._others:
            f[self.rows[i]] = function.value(at)
        return f

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Give f (m,) and J (m, n) at q (nq,)."""
        f, at = self._begun(q)
        data = self._own or self.robot.scratch_data()
        twists = data.J.reshape(6, 1) if self._flat else data.J
        if self._reduction is None:
            J = (self._wrenches @ twists[:, self.columns]) * self._mask
        else:
            J = ((self._wrenches @ twists) * self._mask) @ self._reduction
        for i, function in self._others:
            f[self.rows[i]], jacobian = function.evaluate(at)
            J[self.rows[i]] = jacobian[:, self.columns]
        return f, J

    def _begun(self, q: Array) -> tuple[Array, Configuration]:
        """Give f with the rows that have wrenches, leaving forward kinematics and these behind."""
        model, data = self.robot.model, self._own or self.robot.scratch_data()
        pin.computeJointJacobians(model, data, q)
        placements = {frame: pin.updateFramePlacement(model, data, frame) for frame in self._used}
        placements[0] = _ORIGIN
        f, W, rows = np.empty(self.size), self._wrenches, self.rows
        for i, measure, frame, relative in self._relative:
            part = rows[i]
            f[part], W[part] = measure(placements[frame], placements[relative])
        return f, Configuration.computed(self.robot, q, data)


_ORIGIN = pin.SE3.Identity()
