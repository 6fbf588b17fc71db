"""Changes of joints from the start of a search, and bounds on them."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats, non_negative
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem.structure import ActiveJoints
from ros2_ik.core.robot import Joint, Robot

HAIR = 1e-9    # part of a bound that rounding may use up


class JointChange(NamedTuple):
    """Change of a joint, in `unit` rad or m."""

    joint: str
    change: float
    unit: str

    def __str__(self) -> str:
        return f'{self.change:.3g} {self.unit} ({self.joint})'


def joint_changes(joint: Joint, before: Array, after: Array) -> list[JointChange]:
    """
    Return how far a joint moves between two configurations (nq,), turns counted.

    A floating or planar joint has two changes: the length of its path [m] and its angle [rad].
    """
    part = slice(joint.index, joint.index + joint.size)
    a, b = before[part].tolist(), after[part].tolist()
    if joint.is_scalar:
        return [JointChange(joint.name, abs(b[0] - a[0]), 'rad' if joint.rotary else 'm')]
    if joint.kind == 'planar':
        return [JointChange(joint.name, math.dist(a[:2], b[:2]), 'm'),
                JointChange(joint.name, abs(b[2] - a[2]), 'rad')]
    # the angle between unit quaternions, exact also where it is small
    chord = min(math.dist(a[3:], b[3:]), math.dist(a[3:], [-value for value in b[3:]]))
    angle = 4 * math.asin(min(1.0, chord / 2))
    return [JointChange(joint.name, math.dist(a[:3], b[:3]), 'm'),
            JointChange(joint.name, angle, 'rad')]


def largest_change(active: ActiveJoints, before: Array, after: Array) -> JointChange | None:
    """Return the largest change of the joints, None where there are none."""
    changes = (change for joint in active.joints for change in joint_changes(joint, before, after))
    return max(changes, key=lambda change: change.change, default=None)


@dataclass(frozen=True, eq=False)
class JointChangeBound:
    """Joints stay within `most` [rad, m], by name, of where they are in `origin` (nq,)."""

    origin: Array
    most: Mapping[str, float]

    @classmethod
    def of(cls, robot: Robot, origin: Array, value: object) -> 'JointChangeBound':
        """
        Read `max_joint_change`: one number, a mapping from joint names, or one number a joint.

        Joints that a mapping does not name may move freely, as with infinity. A floating joint
        moves at most so far [m] and turns at most so much [rad]. Raises InvalidOptionError or
        UnknownJointError.
        """
        if isinstance(value, Mapping):
            given = {robot.joint(name).name: number for name, number in value.items()}
        else:
            names = robot.joint_names
            wanted = f'one number, one for each of the {len(names)} joints, or numbers by name'
            numbers = floats(value, 'max_joint_change', wanted, InvalidOptionError)
            if numbers.shape not in ((), (len(names),)):
                raise InvalidOptionError(f'max_joint_change must be {wanted}, not {value!r}')
            given = dict(zip(names, np.broadcast_to(numbers, len(names)).tolist(), strict=True))
        return cls(origin, {name: non_negative(number, f"max_joint_change of '{name}'",
                                               InvalidOptionError, math.inf)
                            for name, number in given.items()})

    def limits(self, robot: Robot) -> tuple[Array, Array]:
        """Return the range of each value of q, (nq,) each; orientations are left out."""
        most: list[float] = []
        for joint in robot.joints:
            each = self.most.get(joint.name, math.inf) * (1 - HAIR)
            most += ([each] * 3 + [math.inf] * 4 if joint.kind == 'floating'
                     else [each] * joint.size)
        return self.origin - most, self.origin + most

    def exceeded(self, joint: Joint, q: Array) -> JointChange | None:
        """Return the change of a joint that is larger than allowed, or None."""
        most = self.most.get(joint.name, math.inf)
        return next((change for change in joint_changes(joint, self.origin, q)
                     if not change.change <= most), None)

    def __str__(self) -> str:
        if len(set(self.most.values())) <= 1:
            return f'{next(iter(self.most.values()), math.inf):g}'
        return ', '.join(f'{name}: {most:g}' for name, most in sorted(self.most.items()))
