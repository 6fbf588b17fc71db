"""Joints of a robot, with the indices of their values in q."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import math
from typing import NamedTuple

import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError

# excess beyond a limit [rad, m] tolerated as encoder noise or rounding, such as 3.1416 for pi
LIMIT_TOLERANCE = 1e-3
NOT_IN_Q = 10**9     # index of a joint without values in q: beyond the end of any q
# numbers of (values in q, columns in the tangent space) by joint kind; other kinds have (1, 1)
_SIZES = {'floating': (7, 6), 'planar': (3, 3)}


class Mimic(NamedTuple):
    """Law of a mimic joint: value = multiplier * value of `leader` + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """
    A joint: revolute, continuous, prismatic, floating, planar or fixed (`kind`).

    `origin` is the joint's pose in the link `parent`; `axis` has length 1. Absent limits are
    infinite. The `size` values of the joint in q begin at `index`: one angle [rad] or distance
    [m]; for a floating joint x y z qx qy qz qw; for a planar joint x y theta (`axis` is ignored,
    as in MoveIt). The joint's `velocity_size` tangent-space columns begin at `velocity_index`.
    Joints in `Robot.tree` and `Robot.elements` have no indices: their `size` is 0.

    A continuous joint has no limits, and its full turn leaves all link poses unchanged. Therefore,
    in `Robot.joints`, a continuous joint that a mimic joint follows has the kind 'revolute'.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: pin.SE3 = field(default_factory=pin.SE3.Identity, compare=False, repr=False)
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.inf
    mimic: Mimic | None = None
    index: int = NOT_IN_Q
    size: int = 0
    velocity_index: int = NOT_IN_Q
    velocity_size: int = 0

    # cached: requests read it for each joint
    @cached_property
    def is_scalar(self) -> bool:
        """True if the joint has one value in q."""
        return self.size == 1

    @property
    def columns(self) -> slice:
        """The slice of the joint's columns in the tangent space."""
        return slice(self.velocity_index, self.velocity_index + self.velocity_size)

    @property
    def rotary(self) -> bool:
        """True for revolute and continuous joints."""
        return self.kind in ('revolute', 'continuous')


def joints_in_q(model: pin.Model, given: Sequence[Joint]) -> tuple[Joint, ...]:
    """
    Return those of the `given` joints that have values in q, in the order of q.

    The position and velocity limits of mimic joints narrow those of their leaders. Raises
    RobotDescriptionError if these limits exclude all positions of a leader.
    """
    joints = {}
    for joint in given:
        if joint.kind != 'fixed' and not joint.mimic:
            name = f'{joint.name}/x' if joint.kind == 'planar' else joint.name
            index, (size, columns) = model.getJointId(name), _SIZES.get(joint.kind, (1, 1))
            joints[joint.name] = replace(
                joint, index=int(model.idx_qs[index]), size=size,
                velocity_index=int(model.idx_vs[index]), velocity_size=columns)
    # all leaders are known now: narrow their limits by those of their mimic joints
    for joint in given:
        if joint.mimic:
            joints[joint.mimic.leader] = _with_follower_limits(joints[joint.mimic.leader], joint)
    return tuple(sorted(joints.values(), key=lambda joint: joint.index))


def _with_follower_limits(leader: Joint, follower: Joint) -> Joint:
    """Return the leader, with its limits narrowed by those of a mimic joint."""
    assert follower.mimic is not None
    _, multiplier, offset = follower.mimic
    if multiplier == 0:
        return leader
    # positions of the leader at which the follower is at its own limits
    ends = sorted(((follower.lower - offset) / multiplier, (follower.upper - offset) / multiplier))
    lower, upper = max(leader.lower, ends[0]), min(leader.upper, ends[1])
    if lower > upper:
        raise RobotDescriptionError(
            f"joint '{follower.name}' mimics '{leader.name}' but no value of the leader keeps "
            f'both within their limits: [{leader.lower:g}, {leader.upper:g}] and '
            f'[{ends[0]:g}, {ends[1]:g}]')
    # a full turn of the leader may leave the mimic joint at another position
    kind = 'revolute' if leader.kind == 'continuous' else leader.kind
    # adding 0.0 turns -0.0 into 0.0
    return replace(leader, kind=kind, lower=lower + 0.0, upper=upper + 0.0,
                   velocity_limit=min(leader.velocity_limit,
                                      follower.velocity_limit / abs(multiplier)))
