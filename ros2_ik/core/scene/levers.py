"""How far a small motion of each joint can move what is checked."""

from collections.abc import Sequence

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.collision_geometry import CollisionGeometry

SLIDES = 10.0    # of a prismatic joint without limits [m]


def levers(robot: Robot, items: Sequence[CollisionGeometry]) -> Array:
    """
    Return by how much each column moves any point of the items at most, (nv,) [m/rad or 1].

    Whatever the joint values: for a joint that turns it is the length of what hangs on it.
    """
    model = robot.model
    reach = np.zeros(model.njoints)      # of what a joint carries, from its origin
    for item in items:
        item.geometry.computeLocalAABB()
        far = (float(np.linalg.norm(item.placement.translation + item.placement.rotation
                                    @ item.geometry.aabb_center))
               + float(item.geometry.aabb_radius))
        reach[item.joint] = max(reach[item.joint], far)
    result = np.zeros(robot.nv)
    for index in range(model.njoints - 1, 0, -1):
        name, column = model.names[index], int(model.joints[index].idx_v)
        slides = 0.0
        if name in robot.mimics:
            follower = robot.mimics[name]
            leader = robot.joint(follower.leader)
            turns, factor = follower.rotary, abs(follower.multiplier)
            if not turns:
                slides = abs(follower.offset) + factor * _farthest(leader.lower, leader.upper)
        else:
            turns, factor = not model.joints[index].shortname().startswith('JointModelP'), 1.0
            if not turns:
                place = int(model.joints[index].idx_q)
                slides = _farthest(robot.lower[place], robot.upper[place])
        if model.joints[index].nv == 6:
            result[column:column + 3], result[column + 3:column + 6] = 1.0, reach[index]
        else:
            result[column] += factor * (reach[index] if turns else 1.0)
        parent = int(model.parents[index])
        reach[parent] = max(reach[parent], reach[index] + slides + float(
            np.linalg.norm(model.jointPlacements[index].translation)))
    return result


def _farthest(lower: float, upper: float) -> float:
    farthest = max(abs(lower), abs(upper))
    return farthest if np.isfinite(farthest) else SLIDES
