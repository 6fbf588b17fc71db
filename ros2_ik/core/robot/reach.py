"""Reach of a stretched arm."""

from collections.abc import Collection
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
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

    Joints other than `moving` stay at q (nq,). None if no joint moves the tip, or without bounds:
    with a planar or floating base, or a slide without limits or that follows another joint.
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
        elif joint.kind == 'prismatic' and joint.name not in moving:
            radius += abs(float(q[joint.index]))
        elif not joint.rotary:
            bounded = joint.kind == 'prismatic' and joint_limits
            radius += max(abs(joint.lower), abs(joint.upper)) if bounded else math.inf
    if not math.isfinite(radius):
        return None
    i, data = chain[first][0], robot.scratch_data()
    pin.forwardKinematics(model, data, q)
    centre = data.oMi[model.parents[i]].act(model.jointPlacements[i].translation)
    return ReachSphere(centre, radius, model.names[i])
