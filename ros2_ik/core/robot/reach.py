"""Maximum reach of an arm."""

from collections.abc import Collection
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot.robot import Robot


class ReachSphere(NamedTuple):
    """A sphere that bounds the positions of a frame: centre (3,), radius [m], joint at centre."""

    centre: Array
    radius: float
    joint: str


def sphere_of_reach(robot: Robot, tip: str, moving: Collection[str], q: Array,
                    joint_limits: bool = True) -> ReachSphere | None:
    """
    Return a sphere around the first moving joint that contains all positions of `tip`, or None.

    Joints not in `moving` stay at q (nq,). None if no joint moves the tip, or if no such sphere
    exists: with a planar or floating base, or with a prismatic joint that has no limits or mimics
    another joint.
    """
    model, frame = robot.model, robot.model.frames[robot.frame_id(tip)]
    owners = {joint.index + k: joint for joint in robot.joints for k in range(joint.size)}
    # the joints from the root to the tip: index in the model, joint, mimic law
    chain = [(i, owners[model.idx_qs[i]], robot.mimics.get(model.names[i]))
             for i in model.supports[frame.parentJoint] if i]
    first = next((k for k, (_, joint, mimic) in enumerate(chain)
                  if mimic or joint.name in moving), None)
    if first is None:
        return None
    # the radius of the stretched arm: the sum of the distances between consecutive joints, plus
    # the travel of prismatic joints
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
    # the centre is the position of the first moving joint at q
    i, data = chain[first][0], robot.scratch_data()
    pin.forwardKinematics(model, data, q)
    centre = data.oMi[model.parents[i]].act(model.jointPlacements[i].translation)
    return ReachSphere(centre, radius, model.names[i])
