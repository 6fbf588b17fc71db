"""Reach of a stretched arm."""

from collections.abc import Collection
import math
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
    owners = {joint.index + k: joint for joint in robot.joints for k in range(joint.size)}
    chain = [(i, owners[model.idx_qs[i]], robot.mimics.get(model.names[i]))
             for i in model.supports[frame.parentJoint] if i]
    first = next((k for k, (_, joint, mimic) in enumerate(chain)
                  if mimic or joint.name in moving), None)
    if first is None:
        return None
    radius = float(np.linalg.norm(frame.placement.translation))
    for k, (i, joint, mimic) in enumerate(chain[first:]):
        radius += float(np.linalg.norm(model.jointPlacements[i].translation)) if k else 0.0
        if mimic:
            radius += 0.0 if mimic.rotary else math.inf
        else:
            radius += _slide(joint, float(q[joint.index]), joint.name in moving, joint_limits)
    if not math.isfinite(radius):
        return None
    i, data = chain[first][0], robot.scratch_data()
    pin.forwardKinematics(model, data, q)
    centre = data.oMi[model.parents[i]].act(model.jointPlacements[i].translation)
    return ReachSphere(centre, radius, model.names[i])


def _slide(joint: Joint, value: float, moves: bool, joint_limits: bool) -> float:
    """Return how far a joint moves its own origin, at most [m]."""
    if joint.rotary:
        return 0.0
    if joint.kind == 'prismatic' and not moves:
        return abs(value)
    bounded = joint.kind == 'prismatic' and joint_limits
    return max(abs(joint.lower), abs(joint.upper)) if bounded else math.inf
