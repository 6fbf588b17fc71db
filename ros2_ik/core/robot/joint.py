"""Movable joints, with the indices of their values in q."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math

import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.urdf import JointElement

# tolerated excess over a limit, for encoder noise and rounding such as 3.1416 [rad, m]
LIMIT_TOLERANCE = 1e-3
# (values in q, columns in the tangent space) by joint kind; other kinds have (1, 1)
_SIZES = {'floating': (7, 6), 'planar': (3, 3)}


@dataclass(frozen=True)
class Joint:
    """
    A movable joint of a robot, revolute, continuous, prismatic, floating or planar (`kind`).

    Its `size` values in q begin at `index`: one angle [rad] or distance [m]; for a floating
    joint x y z qx qy qz qw, for a planar joint x y theta. Its `velocity_size` columns in the
    tangent space begin at `velocity_index`. Absent limits are infinite.

    A continuous joint has no limits, and a full turn leaves all link poses unchanged. If mimic
    joints limit the joint, or do not return after its full turn, its kind is 'revolute'.
    """

    name: str
    kind: str
    index: int
    size: int
    velocity_index: int
    velocity_size: int
    lower: float = -float('inf')
    upper: float = float('inf')
    velocity_limit: float = float('inf')

    @property
    def is_scalar(self) -> bool:
        """True if the joint has one value in q."""
        return self.size == 1

    @property
    def columns(self) -> slice:
        """The slice of the joint's columns in the tangent space."""
        return slice(self.velocity_index, self.velocity_index + self.velocity_size)

    @property
    def rotary(self) -> bool:
        """True if the joint has one value in q, an angle."""
        return self.kind in ('revolute', 'continuous')


def read_joints(model: pin.Model, elements: Sequence[JointElement]) -> tuple[Joint, ...]:
    """
    Return the joints with values in the q of a Pinocchio model, in the order of q.

    The position and velocity limits of mimic joints narrow those of their leaders. Raises
    RobotDescriptionError if these limits exclude all positions of a leader.
    """
    joints = {}
    for element in elements:
        if element.kind != 'fixed' and not element.mimic:
            name = f'{element.name}/x' if element.kind == 'planar' else element.name
            index, (size, columns) = model.getJointId(name), _SIZES.get(element.kind, (1, 1))
            joints[element.name] = Joint(
                element.name, element.kind, int(model.idx_qs[index]), size,
                int(model.idx_vs[index]), columns, element.lower, element.upper, element.velocity)
    # mimic joints narrow their leaders, which are all known now
    for element in elements:
        if element.mimic:
            leader = element.mimic.leader
            joints[leader] = _narrowed(joints[leader], element)
    return tuple(sorted(joints.values(), key=lambda joint: joint.index))


def _narrowed(leader: Joint, follower: JointElement) -> Joint:
    """Return a leader with the limits of a mimic joint applied to it."""
    assert follower.mimic is not None
    _, multiplier, offset, _ = follower.mimic
    if multiplier == 0:
        return leader
    # limits of the leader at which the follower is at its own limits
    ends = sorted(((follower.lower - offset) / multiplier, (follower.upper - offset) / multiplier))
    lower, upper = max(leader.lower, ends[0]), min(leader.upper, ends[1])
    if lower > upper:
        raise RobotDescriptionError(
            f"joint '{follower.name}' mimics '{leader.name}' but no value of the leader keeps "
            f'both within their limits: [{leader.lower:g}, {leader.upper:g}] and '
            f'[{ends[0]:g}, {ends[1]:g}]')
    kind = leader.kind
    if kind == 'continuous' and (math.isfinite(lower) or math.isfinite(upper)
                                 or not follower.mimic.turns_along):
        kind = 'revolute'
    # URDF files often have a velocity limit of 0 for mimic joints, which is no limit
    velocity = follower.velocity / abs(multiplier) if follower.velocity > 0 else math.inf
    # adding 0.0 turns -0.0 into 0.0
    return replace(leader, kind=kind, lower=lower + 0.0, upper=upper + 0.0,
                   velocity_limit=min(leader.velocity_limit, velocity))
