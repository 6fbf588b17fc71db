"""How far joints move from where a search starts, and bounds on that."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats, non_negative
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem.active_joints import ActiveJoints
from ros2_ik.core.robot import Joint, Robot

HAIR = 1e-9    # part of a bound that rounding may use up


class JointChange(NamedTuple):
    """How far a joint moves, in `unit` rad or m."""

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


def joint_distance(robot: Robot, active: ActiveJoints, before: Array, after: Array) -> float:
    """Return the length of the way in the tangent space; metres and radians count alike."""
    v = (after[active.place] - before[active.place] if active.all_scalar    # much faster
         else pin.difference(robot.model, before, after)[active.column])
    return math.sqrt(v @ v)


def largest_change(active: ActiveJoints, before: Array, after: Array) -> JointChange | None:
    """Return the largest change of the joints, None where there are none."""
    found = [change for joint in active.others for change in joint_changes(joint, before, after)]
    if active.scalars:     # in one go
        places = active.scalar_places
        changes = np.abs(after[places] - before[places]).tolist()
        most = max(changes)
        joint = active.scalars[changes.index(most)]
        found.append(JointChange(joint.name, most, 'rad' if joint.rotary else 'm'))
    return max(found, key=lambda change: change.change, default=None)


@dataclass(frozen=True, eq=False)
class JointChangeBound:
    """Joints stay within `most` [rad, m], by name, of where they are in `origin` (nq,)."""

    origin: Array
    most: Mapping[str, float]

    @classmethod
    def of(cls, robot: Robot, origin: Array, value: Any) -> 'JointChangeBound':
        """
        Read `max_joint_change`: one number, a mapping from joint names, or one number a joint.

        Joints that a mapping does not name may move freely, as with infinity. A floating joint
        moves at most so far [m] and turns at most so much [rad]. Raises InvalidOptionError or
        UnknownJointError.
        """
        names = robot.joint_names
        if isinstance(value, Mapping):
            given = {robot.joint(name).name: number for name, number in value.items()}
        else:
            wanted = f'one number, one for each of the {len(names)} joints, or numbers by name'
            numbers = floats(value, 'max_joint_change', wanted, InvalidOptionError)
            if numbers.shape == ():
                one = _checked(names[0], float(numbers)) if names else 0.0
                return cls(origin, dict.fromkeys(names, one))
            if numbers.shape != (len(names),):
                raise InvalidOptionError(f'max_joint_change must be {wanted}, not {value!r}')
            given = dict(zip(names, numbers.tolist(), strict=True))
        return cls(origin, {name: _checked(name, number) for name, number in given.items()})

    def both(self, robot: Robot, other: 'JointChangeBound | None') -> 'JointChangeBound':
        """Return a bound, from the origin of this one, that keeps within another one as well."""
        if other is None:
            return self
        most = dict(self.most)
        for name, value in other.most.items():
            apart = max(change.change for change in joint_changes(
                robot.joint(name), self.origin, other.origin))
            most[name] = min(most.get(name, math.inf), max(value - apart, 0.0))
        return JointChangeBound(self.origin, most)

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
        (usual, count), *_ = Counter(self.most.values()).most_common(1) or [(math.inf, 0)]
        other = [f'{name}: {most:g}' for name, most in sorted(self.most.items()) if most != usual]
        if count == 1 and len(self.most) > 1:
            return ', '.join(f'{name}: {most:g}' for name, most in sorted(self.most.items()))
        return f'{usual:g} ({", ".join(other)})' if other else f'{usual:g}'


def _checked(name: str, number: Any) -> float:
    return non_negative(number, f"max_joint_change of '{name}'", InvalidOptionError, math.inf)
