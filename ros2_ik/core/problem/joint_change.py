"""The largest change of a joint between two configurations, and bounds on changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats, non_negative
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.robot import Joint, Robot

# relative amount by which solvers narrow a bound, so that rounding never exceeds the bound
ROUNDING_MARGIN = 1e-9


class JointChange(NamedTuple):
    """Absolute change of a joint in `unit`, 'rad' or 'm'."""

    joint: str
    change: float
    unit: str

    def __str__(self) -> str:
        return f'{self.change:.3g} {self.unit} ({self.joint})'


def largest_change(joints: Iterable[Joint], before: Array, after: Array) -> JointChange | None:
    """
    Return the largest change between two configurations (nq,), full turns counted.

    Planar and floating joints are left out; None without any other joint.
    """
    changes = [JointChange(joint.name, abs(float(after[joint.index] - before[joint.index])),
                           'rad' if joint.rotary else 'm') for joint in joints if joint.is_scalar]
    return max(changes, key=lambda change: change.change, default=None)


@dataclass(frozen=True, eq=False)
class JointChangeBound:
    """
    Bounds `most` [rad, m], by joint name, on the joint changes from `origin` (nq,).

    Planar and floating joints that move cannot be bounded.
    """

    origin: Array
    most: Mapping[str, float]

    @classmethod
    def of(cls, robot: Robot, origin: Array, value: object) -> 'JointChangeBound':
        """
        Return the bound for a value of `max_joint_change`.

        The value is one number for all joints, an array of one number for each joint, or a mapping
        from joint names; joints missing in a mapping have no bound. Raises InvalidOptionError or
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
        """Return lower and upper bounds of q, (nq,) each."""
        most = np.array([self.most.get(joint.name, math.inf) * (1 - ROUNDING_MARGIN)
                         for joint in robot.joints for _ in range(joint.size)])
        return self.origin - most, self.origin + most

    def __str__(self) -> str:
        if len(set(self.most.values())) <= 1:
            return f'{next(iter(self.most.values()), math.inf):g}'
        return ', '.join(f'{name}: {most:g}' for name, most in sorted(self.most.items()))
