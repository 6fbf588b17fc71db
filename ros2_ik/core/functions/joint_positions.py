"""The values of joints, compared with a reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
import math
from typing import Annotated, Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues, Mask
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import FieldType, finite_numbers, Flag, Names
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.written import FieldValue, row
from ros2_ik.core.robot import Configuration, Joint, Robot

_PARTS = {'floating': (*('x [m]', 'y [m]', 'z [m]'), *('rx [rad]', 'ry [rad]', 'rz [rad]')),
          'planar': ('x [m]', 'y [m]', 'theta [rad]')}


def _written(given: FieldValue) -> Any:
    """Read values in the order of the names, or with names of their own."""
    if len(given.numbers) and given.names:
        same = len(given.numbers) == len(given.names)
        return dict(zip(given.names, given.numbers, strict=True)) if same else None
    return row(given)


def _checked(reference: Any, name: str) -> Any:
    """Copy the reference; what it must fit is known with the robot."""
    if reference is None:
        return {}
    if isinstance(reference, Mapping):
        return {joint: finite_numbers(value, f"the {name} of '{joint}'")
                for joint, value in reference.items()}
    return finite_numbers(reference, name).reshape(-1)


Reference = Annotated[JointValues | None, FieldType(
    'joint values [rad, m] in the order of names, or by name', _written, _checked)]


@register_function('joint_positions', drake='AddBoundingBoxConstraint',
                   matlab='constraintJointBounds', moveit='JointConstraint', pink='PostureTask')
@dataclass(frozen=True, eq=False)
class JointPositions(KinematicFunction):
    """
    Difference of joint values from a reference, one row for each.

        f = q - reference     [rad] or [m]

    `names` are joints of the robot, mimic joints included, by default all in q. `reference` is
    a mapping from names (those missing are at zero) or an array in the order of `names`. With
    `wrap` the difference of a continuous joint is taken the short way round, in (-pi, pi]: it
    jumps at half a turn. A planar joint has three rows, a floating one six: the motion, in the
    reference's axes, that leads from the reference there (`Configuration.difference`), which
    jumps at half a turn, too. Smooth elsewhere.

    What it is of one robot is a `BoundJoints`. `bind` raises UnknownJointError, and
    InvalidStateError or InvalidConstraintError for a reference that does not fit the joints.
    """

    names: Names | None = None
    reference: Reference = None
    wrap: Flag = True
    reference_field = 'reference'
    labels = ()

    def bind(self, robot: Robot) -> 'BoundJoints':
        return _bound(robot, self)

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.bind(robot).moved_by

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        return self.bind(at.robot).evaluate(at)

    def __str__(self) -> str:
        return self.kind if self.names is None else f'{self.kind} of {", ".join(self.names)}'


@dataclass(frozen=True, eq=False)
class BoundJoints(KinematicFunction):
    """
    Rows that are linear in the joint values of one robot, but for turns and floating joints.

        f = A difference(reference, q) + offset

    A is (m, nv); the rows that are `turning` are taken modulo full turns; `curved` if a floating
    joint is among the joints it is `moved_by`. `names` are those of the spec it is made from,
    where rows are joints, and `wrap` is its.
    """

    made_from: KinematicFunction
    robot_key: str
    A: Array
    reference: Array
    offset: Array
    turns: Mask
    curved: bool
    moved_by: frozenset[str]
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Leave the fields as they are: they are checked."""

    def bind(self, robot: Robot) -> 'BoundJoints':
        if robot.key == self.robot_key:
            return self
        bound = self.made_from.bind(robot)
        assert isinstance(bound, BoundJoints)
        return bound

    @property
    def spec(self) -> KinematicFunction:
        return self.made_from

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.bind(robot).moved_by

    def value(self, at: Configuration) -> Array:
        f: Array = self.A @ pin.difference(at.robot.model, self.reference, at.q) + self.offset
        # in (-pi, pi], so that half a turn is pi from either side
        f[self.turns] -= 2 * math.pi * np.ceil(f[self.turns] / (2 * math.pi) - 0.5)
        return f

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        if not self.curved:
            return self.value(at), self.A
        return self.value(at), self.A @ pin.dDifference(at.robot.model, self.reference, at.q,
                                                        pin.ARG1)

    def __str__(self) -> str:
        return str(self.made_from)


@lru_cache(maxsize=64)
def _bound(robot: Robot, function: JointPositions) -> BoundJoints:
    names = robot.joint_names if function.names is None else tuple(function.names)
    joints = [_leader(robot, name) for name in names]
    reference = _by_name(function.reference, names, joints)
    q = robot.to_q(reference, start=pin.neutral(robot.model))
    columns, ratios, offset = list[int](), list[float](), list[float]()
    turns, labels = list[bool](), list[str]()
    for name, joint in zip(names, joints, strict=True):
        ratio, shifts, turning = 1.0, [0.0] * joint.velocity_size, joint.kind == 'continuous'
        if mimic := robot.mimics.get(name):
            ratio, turning = mimic.multiplier, turning and mimic.turns_along
            # the difference is the leader's: add what the follower has at the leader's reference
            shifts = [mimic.offset + ratio * float(q[joint.index])
                      - _number(reference.get(name, 0.0), name)]
        columns += range(joint.velocity_index, joint.velocity_index + joint.velocity_size)
        ratios += [ratio] * joint.velocity_size
        offset += shifts
        turns += [turning and bool(function.wrap)] * joint.velocity_size
        labels += _labels(robot, name, joint)
    A = np.zeros((len(columns), robot.nv))
    A[range(len(columns)), columns] = ratios
    A.setflags(write=False)
    return BoundJoints(function, robot.key, A, q, np.array(offset), np.array(turns, bool),
                       any(joint.kind == 'floating' for joint in joints),
                       frozenset(joint.name for joint in joints), tuple(labels))


def _by_name(reference: Any, names: Sequence[str], joints: Sequence[Joint]) -> dict[str, Any]:
    """Return the values of a reference by joint; an array has them in the order of the names."""
    if isinstance(reference, dict):
        return reference
    ends = np.cumsum([joint.size for joint in joints], dtype=int).tolist()
    if reference.size != sum(joint.size for joint in joints):
        raise InvalidConstraintError(f'the joints {", ".join(names)} have {(ends or [0])[-1]} '
                                     f'values, the reference {reference.size}')
    return {name: reference[end - joint.size:end]
            for name, joint, end in zip(names, joints, ends, strict=True)}


def _leader(robot: Robot, name: str) -> Joint:
    """Return the joint in q whose value says where the joint of that name is."""
    return robot.joint(robot.mimics[name].leader if name in robot.mimics else name)


def _labels(robot: Robot, name: str, joint: Joint) -> list[str]:
    if joint.kind in _PARTS:
        return [f'{name} {part}' for part in _PARTS[joint.kind]]
    rotary = robot.mimics[name].rotary if name in robot.mimics else joint.rotary
    return [f'{name} [{"rad" if rotary else "m"}]']


def _number(value: Any, name: str) -> float:
    if np.size(value) != 1:
        raise InvalidConstraintError(f"joint '{name}' takes 1 value, {np.size(value)} given")
    return float(np.reshape(value, ()))
