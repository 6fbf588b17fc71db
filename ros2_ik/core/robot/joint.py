"""Movable joints, and where their values are in q."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math
from typing import cast, Literal

import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.urdf import JointElement

Kind = Literal['revolute', 'continuous', 'prismatic', 'floating', 'planar']

LIMIT_TOLERANCE = 1e-3   # of encoders, and of written values such as 3.1416 [rad, m]
_SIZES = {'floating': (7, 6), 'planar': (3, 3)}   # values in q, columns in the tangent space


@dataclass(frozen=True)
class Joint:
    """
    A movable joint of a robot.

    `size` values from `index` on in q: one angle [rad] or distance [m]; a floating joint has
    x y z qx qy qz qw, a planar one x y theta. `velocity_size` columns from `velocity_index` on
    in the tangent space. Absent limits are infinite.

    A continuous joint has no limits, and a full turn leads to the same place, also of its
    followers; one with other followers counts as revolute.
    """

    name: str
    kind: Kind
    index: int
    size: int
    velocity_index: int
    velocity_size: int
    lower: float = -float('inf')
    upper: float = float('inf')
    velocity_limit: float = float('inf')

    @property
    def is_scalar(self) -> bool:
        """True where one number is its position."""
        return self.size == 1

    @property
    def columns(self) -> slice:
        """The columns in the tangent space."""
        return slice(self.velocity_index, self.velocity_index + self.velocity_size)

    @property
    def rotary(self) -> bool:
        """True where that number is an angle."""
        return self.kind in ('revolute', 'continuous')


def read_joints(model: pin.Model, elements: Sequence[JointElement]) -> tuple[Joint, ...]:
    """
    Return the joints that have values in the q of a Pinocchio model, in order.

    Followers narrow the limits of their leaders, velocities included. Raises
    RobotDescriptionError where that leaves no position.
    """
    joints = {}
    for element in elements:
        if element.kind != 'fixed' and not element.mimic:
            name = f'{element.name}/x' if element.kind == 'planar' else element.name
            index, (size, columns) = model.getJointId(name), _SIZES.get(element.kind, (1, 1))
            joints[element.name] = Joint(
                element.name, cast(Kind, element.kind), int(model.idx_qs[index]), size,
                int(model.idx_vs[index]), columns, element.lower, element.upper, element.velocity)
    for element in elements:
        if element.mimic:
            leader = element.mimic.leader
            joints[leader] = _narrowed(joints[leader], element)
    return tuple(sorted(joints.values(), key=lambda joint: joint.index))


def _narrowed(leader: Joint, follower: JointElement) -> Joint:
    assert follower.mimic is not None
    _, multiplier, offset, _ = follower.mimic
    if multiplier == 0:
        return leader
    ends = sorted(((follower.lower - offset) / multiplier, (follower.upper - offset) / multiplier))
    lower, upper = max(leader.lower, ends[0]), min(leader.upper, ends[1])
    if lower > upper:
        raise RobotDescriptionError(
            f"joint '{follower.name}' mimics '{leader.name}' but no value of the leader keeps "
            f'both within their limits: [{leader.lower:g}, {leader.upper:g}] and '
            f'[{ends[0]:g}, {ends[1]:g}]')
    kind: Kind = leader.kind
    if kind == 'continuous' and (math.isfinite(lower) or math.isfinite(upper)
                                 or not follower.mimic.turns_along):
        kind = 'revolute'
    # 0 is often written for the velocity of a follower, and means nothing
    velocity = follower.velocity / abs(multiplier) if follower.velocity > 0 else math.inf
    return replace(leader, kind=kind, lower=lower + 0.0, upper=upper + 0.0,   # no -0.0
                   velocity_limit=min(leader.velocity_limit, velocity))
