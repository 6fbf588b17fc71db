"""The joints that move some frames, flattened to arrays for compiled loops."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.moving_parts import free_columns, held_places, motion_of, Uncompared
from ros2_ik.core.robot import Robot


class Tree(NamedTuple):
    """
    The bodies that joints move, and the frames fixed to them, as `rows.evaluate` takes them.

    Body k hangs on body `parent` (-1: the root); for the rest of a body see `Chain`. Frame i is
    fixed to body `node` (-1: the root) at `place` (4, 4); `carries` (frames, bodies) is 1 where
    a joint moves a frame.
    """

    parent: Indices
    before: Array
    rotary: Array
    column: Indices
    multiplier: Array
    offset: Array
    node: Indices
    place: Array
    carries: Array


def tree_of(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...],
            start: Array) -> Tree | None:
    """
    Flatten the ways to some frames (Pinocchio's indices).

    Joints not in `names` stay at their values in `start` (nq,). None where a joint of `names` on
    the way has more than one number.
    """
    held = _held(robot, frames, names)
    return _tree_of(robot, frames, names, start[held].tobytes() if len(held) else b'',
                    Uncompared(start))


@lru_cache(maxsize=256)
def _held(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...]) -> Indices:
    joints = _ways(robot, frames)
    columns = {robot.model.joints[index].idx_v for index in joints}
    moving = frozenset(joint.name for joint in robot.joints if any(
        joint.velocity_index <= column < joint.velocity_index + joint.velocity_size
        for column in columns))
    return held_places(robot, moving, names)


def _ways(robot: Robot, frames: tuple[int, ...]) -> list[int]:
    """Pinocchio's indices of all joints on the ways to frames, parents first."""
    model = robot.model
    return sorted({int(i) for frame in frames
                   for i in model.supports[model.frames[frame].parentJoint]} - {0})


@lru_cache(maxsize=256)
def _tree_of(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...], held: bytes,
             start: Uncompared) -> Tree | None:
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start.q)
    columns = free_columns(robot, names)
    # where each joint's own frame stands: on which body, and where there
    places: dict[int, tuple[int, Any]] = {0: (-1, pin.SE3.Identity())}
    placements, rows = [], []
    for index in _ways(robot, frames):
        body, pending = places[int(model.parents[index])]
        column = model.joints[index].idx_v
        motion = motion_of(robot, index, data) if column in columns else None
        if motion is None:
            places[index] = body, pending * data.liMi[index]
            continue
        if columns[column] is None:
            return None
        placements.append((pending * model.jointPlacements[index] * motion.align).homogeneous)
        rows.append((body, motion.rotary, columns[column], motion.multiplier, motion.offset))
        places[index] = len(rows) - 1, motion.align.inverse()
    table = np.array(rows, dtype=float).reshape(-1, 5).T.copy()
    parent = table[0].astype(np.intp)
    fixed = [places[int(model.frames[frame].parentJoint)] for frame in frames]
    return Tree(parent, np.array(placements).reshape(-1, 4, 4), table[1],
                table[2].astype(np.intp), table[3], table[4],
                np.array([body for body, _ in fixed], dtype=np.intp),
                np.array([(place * model.frames[frame].placement).homogeneous
                          for frame, (_, place) in zip(frames, fixed, strict=True)]),
                _carries(parent, [body for body, _ in fixed]))


def _carries(parent: Indices, nodes: list[int]) -> Array:
    carries = np.zeros((len(nodes), len(parent)))
    for i, node in enumerate(nodes):
        while node >= 0:
            carries[i, node] = 1.0
            node = int(parent[node])
    return carries
