"""The values of joints, compared with a reference."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues, Mask
from ros2_ik.core.checks import distinct_names, floats
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Joint, Robot

_PARTS = {'floating': (*('x [m]', 'y [m]', 'z [m]'), *('rx [rad]', 'ry [rad]', 'rz [rad]')),
          'planar': ('x [m]', 'y [m]', 'theta [rad]')}


@register_function('joint_positions', drake='AddBoundingBoxConstraint',
                   matlab='constraintJointBounds', moveit='JointConstraint', pink='PostureTask')
class JointPositions(KinematicFunction):
    """
    How far joints are from their reference, one row each.

        f = q - reference     [rad] or [m]

    `names` are joints of the robot, mimic joints included, by default all in q. `reference` is
    a mapping from names (those missing are at zero) or an array in the order of `names`. With
    `wrap` the difference of a continuous joint is taken the short way round, in (-pi, pi]: it
    jumps at half a turn. A planar joint has three rows, a floating one six: the motion, in the
    reference's axes, that leads from the reference there (`Configuration.difference`), which
    jumps at half a turn, too. Smooth elsewhere.

    `labels` get units, and the parts of such joints, when the function first meets a robot.
    `joints` then raises UnknownJointError, and InvalidStateError or InvalidConstraintError for
    a reference that does not fit the joints.
    """

    labels: tuple[str, ...] = ()
    sized = False

    def __init__(self, names: Sequence[str] | None = None, reference: JointValues | None = None,
                 wrap: bool = True) -> None:
        self.names = (None if names is None
                      else distinct_names(names, 'names', InvalidConstraintError))
        self.reference = _checked(reference)
        self.wrap = bool(wrap)
        self.labels = self.names or ()

    def joints(self, robot: Robot) -> frozenset[str]:
        self._fit(robot)
        return frozenset(_leader(robot, name).name for name in _names(robot, self))

    def value(self, at: Configuration) -> Array:
        rows = self._fit(at.robot)
        f: Array = rows.A @ pin.difference(at.robot.model, rows.reference, at.q) + rows.offset
        # in (-pi, pi], so that half a turn is pi from either side
        f[rows.turning] -= 2 * math.pi * np.ceil(f[rows.turning] / (2 * math.pi) - 0.5)
        return f

    def jacobian(self, at: Configuration) -> Array:
        rows = self._fit(at.robot)
        if not rows.curved:
            return rows.A
        J: Array = rows.A @ pin.dDifference(at.robot.model, rows.reference, at.q, pin.ARG1)
        return J

    def turning(self, robot: Robot) -> Mask | None:
        rows = self._fit(robot)
        return None if rows.curved else rows.turning

    def _fit(self, robot: Robot) -> '_Rows':
        rows = _rows(robot, self)
        self.labels = rows.labels
        return rows

    def __str__(self) -> str:
        return self.kind if self.names is None else f'{self.kind} of {", ".join(self.names)}'


class _Rows(NamedTuple):
    """
    The function for one robot: f = A difference(reference, q) + offset.

    A is (m, nv); the rows that are `turning` wrap; `curved` if a floating joint is among them.
    """

    A: Array
    reference: Array
    offset: Array
    turning: Mask
    curved: bool
    labels: tuple[str, ...]


@lru_cache(maxsize=64)
def _rows(robot: Robot, function: JointPositions) -> _Rows:
    names = _names(robot, function)
    joints = [_leader(robot, name) for name in names]
    values = _reference(robot, function, names)
    q = robot.to_q(values, start=pin.neutral(robot.model))
    A, offset, turning = [np.zeros((0, robot.nv))], [], []
    for name, joint in zip(names, joints, strict=True):
        multiplier, shift, rotary = 1.0, 0.0, joint.kind == 'continuous'
        if name in robot.mimics:
            _, multiplier, shift, turns = robot.mimics[name]
            # the difference is the leader's: add what the follower has at the leader's reference
            shift += multiplier * q[joint.index] - _number(values.get(name, 0.0), name)
            rotary = rotary and turns
        A.append(multiplier * np.eye(robot.nv)[joint.velocity_index:][:joint.velocity_size])
        offset += [shift] * joint.velocity_size
        turning += [rotary and function.wrap] * joint.velocity_size
    stacked = np.vstack(A)
    stacked.setflags(write=False)
    return _Rows(stacked, q, np.array(offset, dtype=np.float64), np.array(turning, dtype=bool),
                 any(joint.kind == 'floating' for joint in joints),
                 tuple(label for name, joint in zip(names, joints, strict=True)
                       for label in _labels(robot, name, joint)))


def _names(robot: Robot, function: JointPositions) -> tuple[str, ...]:
    return robot.joint_names if function.names is None else function.names


def _leader(robot: Robot, name: str) -> Joint:
    """Give the joint in q whose value says where the joint of that name is."""
    return robot.joint(robot.mimics[name].leader if name in robot.mimics else name)


def _labels(robot: Robot, name: str, joint: Joint) -> list[str]:
    if joint.kind in _PARTS:
        return [f'{name} {part}' for part in _PARTS[joint.kind]]
    rotary = robot.mimics[name].rotary if name in robot.mimics else joint.rotary
    return [f'{name} [{"rad" if rotary else "m"}]']


def _checked(reference: Any) -> Any:
    """Copy the reference; what it must fit is known with the robot."""
    if reference is None:
        return {}
    if isinstance(reference, Mapping):
        return {name: _finite(value, f"the reference of '{name}'")
                for name, value in reference.items()}
    return _finite(reference, 'reference').reshape(-1)


def _finite(value: Any, what: str) -> Array:
    array = floats(value, what, 'finite numbers', InvalidConstraintError)
    if not np.isfinite(array).all():
        raise InvalidConstraintError(f'{what} must be finite numbers, not {value!r}')
    return array


def _reference(robot: Robot, function: JointPositions, names: Sequence[str]) -> dict[str, Any]:
    """Give the reference by name."""
    if isinstance(function.reference, dict):
        return function.reference
    sizes = [_leader(robot, name).size for name in names]
    if sum(sizes) != function.reference.size:
        raise InvalidConstraintError(f'the joints {", ".join(names)} have {sum(sizes)} values, '
                                     f'the reference {function.reference.size}')
    ends = np.cumsum(sizes)
    return {name: function.reference[end - size:end]
            for name, size, end in zip(names, sizes, ends, strict=True)}


def _number(value: Any, name: str) -> float:
    if np.size(value) != 1:
        raise InvalidConstraintError(f"joint '{name}' takes 1 value, {np.size(value)} given")
    return float(np.reshape(value, ()))
