"""Differences of joint values from a reference, and linear combinations of joint values."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
import math
from typing import Annotated, cast

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues, Mask
from ros2_ik.core.checks import row_numbers
from ros2_ik.core.errors import counted, InvalidConstraintError
from ros2_ik.core.functions.fields import (
    FieldType,
    FieldValue,
    Flag,
    Matrix,
    Names,
    read_row,
    RowNumbers,
)
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Joint, Robot

_PARTS = {'floating': (*('x [m]', 'y [m]', 'z [m]'), *('rx [rad]', 'ry [rad]', 'rz [rad]')),
          'planar': ('x [m]', 'y [m]', 'theta [rad]')}


def _written(given: FieldValue) -> dict[str, float] | list[float] | None:
    """Read a list of values (in the order of the field `names`), or values by joint name."""
    if len(given.numbers) and given.names:
        same = len(given.numbers) == len(given.names)
        return dict(zip(given.names, given.numbers, strict=True)) if same else None
    return read_row(given)


def _checked(reference: object, name: str) -> dict[str, Array] | Array:
    """Return a copy of the reference; `bind` checks its sizes and names against a robot."""
    if reference is None:
        return {}
    if isinstance(reference, Mapping):
        return {joint: row_numbers(value, f"the {name} of '{joint}'", InvalidConstraintError)
                for joint, value in reference.items()}
    return row_numbers(reference, name, InvalidConstraintError).reshape(-1)


Reference = Annotated[JointValues | None, FieldType(
    'joint values [rad, m] in the order of names, or by name', _written, _checked)]


class JointFunction(KinematicFunction):
    """A function of joint values; its rows depend on the robot, so `bind` returns BoundJoints."""

    @abstractmethod
    def bind(self, robot: Robot) -> 'BoundJoints':
        """Return the function bound to one robot."""

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.bind(robot).moved_by

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        return self.bind(at.robot).evaluate(at)


@register_function('joint_positions')
@dataclass(frozen=True, eq=False)
class JointPositions(JointFunction):
    """
    Difference of joint values from a reference, one row per degree of freedom.

        f = q - reference     [rad] or [m]

    `names` are joints of the robot, by default all joints in q. `reference` is an array in the
    order of `names`, or a mapping from joint names to values (other joints: 0). With `wrap` the
    difference of a continuous joint is taken modulo full turns, in (-pi, pi], and jumps at half a
    turn. A planar joint has three rows: x, y, theta. A floating joint has six: the displacement
    from the reference along the reference's axes (`Configuration.difference`), which also jumps at
    half a turn. Smooth elsewhere.

    `bind` returns a `BoundJoints`. It raises UnknownJointError, InvalidConstraintError for a mimic
    joint or a reference array of the wrong size, and InvalidStateError for other invalid values.
    """

    names: Names | None = None
    reference: Reference = None
    wrap: Flag = True
    reference_field = 'reference'
    labels = ()

    def bind(self, robot: Robot) -> 'BoundJoints':
        # cached, because constraints and costs bind the same function often
        return _bound(robot, self)


@dataclass(frozen=True, eq=False)
class BoundJoints(JointFunction):
    """
    Function of one robot's joint values, linear except for full turns and floating joints.

        f = A difference(reference, q) + offset     offset (m,)

    A is (m, nv), `reference` (nq,). Rows in the mask `turns` (m,) are taken modulo full turns.
    `moved_by` are the names of the joints that change f; `curved` is True if one of them is a
    floating joint. `unbound` is the function before it was bound to the robot.
    """

    unbound: JointFunction
    robot_key: str
    A: Array
    reference: Array
    offset: Array
    turns: Mask
    curved: bool
    moved_by: frozenset[str]
    labels: tuple[str, ...] = ()

    def bind(self, robot: Robot) -> 'BoundJoints':
        return self if robot.key == self.robot_key else self.unbound.bind(robot)

    @property
    def spec(self) -> KinematicFunction:
        return self.unbound

    def value(self, at: Configuration) -> Array:
        f: Array = self.A @ pin.difference(at.robot.model, self.reference, at.q) + self.offset
        # wrap to (-pi, pi]: half a turn is always +pi, never -pi
        f[self.turns] -= 2 * math.pi * np.ceil(f[self.turns] / (2 * math.pi) - 0.5)
        return f

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        if not self.curved:
            return self.value(at), self.A
        return self.value(at), self.A @ pin.dDifference(at.robot.model, self.reference, at.q,
                                                        pin.ARG1)

    def __str__(self) -> str:
        return str(self.unbound)


@lru_cache(maxsize=64)
def _bound(robot: Robot, function: JointPositions) -> BoundJoints:
    rows = _rows(robot, None if function.names is None else tuple(function.names))
    reference = cast('dict[str, Array] | Array', function.reference)
    if isinstance(reference, dict):
        q = robot.to_q(reference, start=rows.reference)
    else:
        places = [joint.index + k for joint in map(robot.joint, function.names or
                                                   robot.joint_names) for k in range(joint.size)]
        if reference.size != len(places):
            names = ', '.join(function.names or robot.joint_names)
            raise InvalidConstraintError(f'the reference has {counted(reference.size, "number")}; '
                                         f'valid: {len(places)}, for {names}')
        q = rows.reference.copy()
        q[places] = reference
        q = robot.to_q(q)
    return replace(rows, unbound=function, reference=q, turns=rows.turns & function.wrap)


@lru_cache(maxsize=64)
def _rows(robot: Robot, names: tuple[str, ...] | None) -> BoundJoints:
    """Return the function that subtracts Pinocchio's neutral configuration from joint values."""
    joints = [_joint(robot, name) for name in (robot.joint_names if names is None else names)]
    A = np.concatenate([np.zeros((0, robot.nv)), *(np.eye(robot.nv)[joint.columns]
                                                   for joint in joints)])
    A.setflags(write=False)
    turns = [joint.kind == 'continuous' for joint in joints for _ in range(joint.velocity_size)]
    return BoundJoints(
        JointPositions(names), robot.key, A, pin.neutral(robot.model), np.zeros(len(A)),
        np.array(turns, dtype=bool), any(joint.kind == 'floating' for joint in joints),
        frozenset(joint.name for joint in joints),
        tuple(label for joint in joints for label in _labels(joint)))


def _joint(robot: Robot, name: str) -> Joint:
    if name in robot.mimics:
        raise InvalidConstraintError(f"joint '{name}' mimics '{robot.mimics[name].leader}': name "
                                     f"'{robot.mimics[name].leader}' instead")
    return robot.joint(name)


def _labels(joint: Joint) -> list[str]:
    if joint.kind in _PARTS:
        return [f'{joint.name} {part}' for part in _PARTS[joint.kind]]
    return [f'{joint.name} [{"rad" if joint.rotary else "m"}]']


@register_function('joint_coupling')
@dataclass(frozen=True, eq=False)
class JointCoupling(JointFunction):
    """
    Linear combinations of joint values, one row for each row of `ratios`.

        f = ratios (q - reference) - offset     in the joints' units, [rad] or [m]

    `ratios` is (m, n), or (n,) for one row, with columns in the order of `names`. For the relation
    q0 = r q1 + c, use ratios (1, -r), offset c and bounds 0. `names` and `reference` are as in
    `JointPositions`; a floating joint has six columns. Values of continuous joints are not taken
    modulo full turns. Smooth everywhere except at half a turn of a floating joint.

    Raises InvalidConstraintError for an `offset` of the wrong size. `bind` raises the same error
    for `ratios` of the wrong size, and the errors of `JointPositions`.
    """

    names: Names | None
    ratios: Matrix
    offset: RowNumbers = 0.0
    reference: Reference = None
    reference_field = 'offset'

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.ratios)
        if np.shape(self.offset) not in ((), (count,)):
            raise InvalidConstraintError(f'offset must be one finite number, or one for each of '
                                         f'{count} rows, not {self.offset!r}')

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'row {row} [joint units]' for row in range(len(self.ratios)))

    def bind(self, robot: Robot) -> BoundJoints:
        # apply the ratios to the rows of JointPositions
        rows = JointPositions(self.names, self.reference, wrap=False).bind(robot)
        ratios = np.asarray(self.ratios)
        if len(rows.labels) != ratios.shape[1]:
            names = 'all joints' if self.names is None else ', '.join(self.names)
            raise InvalidConstraintError(f'ratios has {counted(ratios.shape[1], "column")}; '
                                         f'valid: {len(rows.labels)}, for {names}')
        return replace(rows, unbound=self, A=ratios @ rows.A,
                       offset=ratios @ rows.offset - self.offset,
                       turns=np.zeros(len(ratios), dtype=bool), labels=self.labels)
