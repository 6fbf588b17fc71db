"""How far an arm reaches when it is stretched."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot.joint import Joint
from ros2_ik.core.robot.robot import Robot


class ReachSphere(NamedTuple):
    """A sphere that a frame never leaves: centre (3,) and radius [m], and the joint in it."""

    centre: Array
    radius: float
    joint: str


def sphere_of_reach(robot: Robot, tip: str, moving: Collection[str], q: Array,
                    joint_limits: bool = True) -> ReachSphere | None:
    """
    Return a sphere around the first moving joint that `tip` never leaves, or None.

    Joints other than `moving` stay at their values in q (nq,). None if no joint moves the tip, or
    if its way is unbounded: a planar or floating base, a slide without limits or that follows
    another joint.
    """
    model, frame = robot.model, robot.model.frames[robot.frame_id(tip)]
    chain = [i for i in model.supports[frame.parentJoint] if i]
    first = next((k for k, i in enumerate(chain) if model.names[i] in robot.mimics
                  or _owner(robot, i).name in moving), None)
    if first is None:
        return None
    radius = float(np.linalg.norm(frame.placement.translation))
    for k, i in enumerate(chain[first:]):
        if k:
            radius += float(np.linalg.norm(model.jointPlacements[i].translation))
        if (slide := _slide(robot, i, moving, q, joint_limits)) is None:
            return None
        radius += slide
    i, data = chain[first], robot.scratch_data()
    pin.forwardKinematics(model, data, q)
    centre = data.oMi[model.parents[i]].act(model.jointPlacements[i].translation)
    return ReachSphere(centre, radius, model.names[i])


def _owner(robot: Robot, i: int) -> Joint:
    """Return the joint to which joint i of Pinocchio's model belongs: a planar base is three."""
    place = robot.model.idx_qs[i]
    return next(j for j in robot.joints if j.index <= place < j.index + j.size)


def _slide(robot: Robot, i: int, moving: Collection[str], q: Array,
           joint_limits: bool) -> float | None:
    """Return how far a joint moves its own origin, at most; None if that is not bounded."""
    if robot.model.names[i] in robot.mimics:
        return None
    joint = _owner(robot, i)
    if joint.kind in ('revolute', 'continuous'):
        return 0.0
    if joint.kind != 'prismatic':
        return None
    if joint.name not in moving:
        return abs(float(q[joint.index]))
    most = max(abs(joint.lower), abs(joint.upper)) if joint_limits else np.inf
    return most if np.isfinite(most) else None
