"""Broad phase: the pairs of collision geometries (items) whose bounding boxes are near."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.kernels.boxes import fill_lower_bounds, near_pairs
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import FLOATING, tree_of

LARGEST = 1e6    # coordinates of box corners are clipped to this: some items are unbounded [m]
# the end of a layout without functions (see `layout_of`): four tables of offsets, each a single 0
_EMPTY_TABLES = np.zeros(4, dtype=np.int64)
_IDENTITY = np.eye(4)


class DistanceBounds(NamedTuple):
    """
    Lower bounds of the distances of p pairs at q (nq,).

    `placed` (i, 12) are the boxes' placements in the root frame; `lower_bounds` (p,) are bounds on
    signed distance minus margin [m]; `max_decrease` (p,) is an upper bound on each distance's
    decrease from the q of `last` (see `BroadPhase.bounds_at`) to this q [m]. `nearest` [m] is the
    least of the original `lower_bounds`, even after exact distances replaced some of them.
    """

    q: Array
    placed: Array
    lower_bounds: Array
    max_decrease: Array
    nearest: float


class BroadPhase:
    """Finds those `pairs` (p, 2) of items whose boxes may be at most `margins` (p,) [m] apart."""

    def __init__(self, robot: Robot, items: Sequence[CollisionGeometry], pairs: Indices,
                 margins: Array) -> None:
        bodies, joints = _bodies(robot), [item.joint for item in items]
        lower, upper = boxes_of(items)
        # poses of the centres of the items' boxes, relative to the items
        self.centres = np.zeros((len(items), 4, 4))
        self.centres[:] = _IDENTITY
        self.centres[:, :3, 3] = (lower + upper) / 2
        # arguments of the compiled loops: a program without functions, whose frames are the boxes
        layout = np.concatenate([bodies.layout, bodies.joint_body[joints], _EMPTY_TABLES])
        layout[2] = len(items)
        numbers = np.zeros(len(bodies.numbers) + 12 * len(items))
        numbers[:len(bodies.numbers)] = bodies.numbers
        self._boxes = numbers[len(bodies.numbers):].reshape(-1, 12)
        self.place(slice(None), bodies.mounts[joints] @ np.reshape(
            [item.placement.homogeneous for item in items], (-1, 4, 4)) @ self.centres)
        self._loop_arguments = (numbers, layout, (upper - lower) / 2,
                                np.ascontiguousarray(pairs, dtype=np.int64), margins)
        self._no_bounds = np.full(len(margins), -np.inf)
        self._near, self._fill_bounds = near_pairs.run, fill_lower_bounds.run    # compile now

    def place(self, numbers: Indices | slice, T: Array) -> None:
        """Set poses T (k, 4, 4) of the centres of boxes `numbers`, in their body frames."""
        self._boxes[numbers, :9] = T[:, :3, :3].reshape(-1, 9)
        self._boxes[numbers, 9:] = T[:, :3, 3]

    def at(self, q: Array) -> list[int]:
        """Return the indices of the near pairs at q (nq,), ascending."""
        near = np.empty(len(self._loop_arguments[-1]), dtype=np.int64)
        count = self._near(np.ascontiguousarray(q), *self._loop_arguments, near)
        numbers: list[int] = near[:count].tolist()
        return numbers

    def bounds_at(self, q: Array, last: DistanceBounds | None = None) -> DistanceBounds:
        """Return lower bounds of all distances at q (nq,), using bounds `last` at a nearby q."""
        margins = self._loop_arguments[-1]
        placed, bounds = np.empty((len(self._boxes), 12)), np.empty((2, len(margins)))
        previous = (placed, self._no_bounds) if last is None else (last.placed, last.lower_bounds)
        nearest = self._fill_bounds(np.ascontiguousarray(q), *self._loop_arguments, previous,
                                    (placed, bounds))
        # a copy: the caller may change its q
        return DistanceBounds(q.copy(), placed, bounds[0], bounds[1], nearest)


class _Bodies(NamedTuple):
    """
    The bodies of a robot, as arguments of the compiled loops.

    `numbers` and `layout` are the parts of these arguments that do not depend on the items.
    `joint_body` (j,): body of each Pinocchio joint; `mounts` (j, 4, 4): joint pose in that body.
    """

    numbers: Array
    layout: Indices
    joint_body: Indices
    mounts: Array


@lru_cache(maxsize=8)
def _bodies(robot: Robot) -> _Bodies:
    """Return the bodies of all joints of a robot."""
    model = robot.model
    frames = tuple(0 if index == 0 else model.getFrameId(name, pin.FrameType.JOINT)
                   for index, name in enumerate(model.names))
    tree = tree_of(robot, frames, tuple(robot.joint_names), robot.neutral)
    # the z axis of a body frame of the tree is the joint axis, unlike in Pinocchio's joint frames
    mounts = [pin.SE3(row[:9].reshape(3, 3), row[9:]) * model.frames[frame].placement.inverse()
              for row, frame in zip(tree.frame_placement, frames, strict=True)]
    motions = np.cumsum([0, *(6 if kind == FLOATING else 1 for kind in tree.kind)])
    return _Bodies(
        np.concatenate([tree.multiplier, tree.offset, tree.joint_placement.reshape(-1)]),
        np.concatenate([[0, len(tree.parent), 0, 0, 0], tree.parent, tree.kind, tree.value_index,
                        tree.column, motions]).astype(np.int64),
        tree.frame_body.astype(np.int64), np.array([mount.homogeneous for mount in mounts]))


def boxes_of(items: Sequence[CollisionGeometry]) -> tuple[Array, Array]:
    """Return the lower and upper corners (i, 3) of the items' AABBs, in their own frames [m]."""
    boxes = [item.geometry.aabb_local for item in items]
    corners = np.reshape([(box.min_, box.max_) for box in boxes], (-1, 2, 3)).swapaxes(0, 1)
    # coal's corners of unbounded shapes are huge or NaN; fmax and fmin ignore NaN
    return (np.fmin(np.fmax(corners[0], -LARGEST), LARGEST),
            np.fmax(np.fmin(corners[1], LARGEST), -LARGEST))
