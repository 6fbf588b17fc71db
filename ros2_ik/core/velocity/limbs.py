"""Groups of joints that tasks move together."""

from collections.abc import Iterable, Sequence

import numpy as np

from ros2_ik.core.arrays import Indices
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.joint_positions import BoundJoints
from ros2_ik.core.robot import Robot


def limbs(robot: Robot, levels: Sequence[Iterable[tuple[KinematicFunction, slice]]], rows: int
          ) -> tuple[Indices, Indices]:
    """
    Return the limb of each joint (levels, nv), and of each row (rows,) in its level.

    A limb is numbered by one of its columns. Two joints are in one if a task of that level moves
    both, or others that join them. The functions are bound, with the place of their rows.
    """
    of_joints = np.tile(np.arange(robot.nv), (len(levels), 1))
    of_rows = np.zeros(rows, dtype=np.int64)
    for limb, functions in zip(of_joints, levels, strict=True):
        moved = [(row, columns) for function, place in functions for row, columns in
                 zip(range(place.start, place.stop), _moved(function, robot), strict=True)
                 if len(columns)]
        for _, columns in moved:
            limb[np.isin(limb, limb[columns])] = limb[columns[0]]
        for row, columns in moved:
            of_rows[row] = limb[columns[0]]
    return of_joints, of_rows


def _moved(function: KinematicFunction, robot: Robot) -> list[Indices]:
    """Return the columns that move each row."""
    if isinstance(function, BoundJoints):
        return [np.flatnonzero(row) for row in function.A]
    columns = [np.arange(robot.nv)[robot.joint(name).columns]
               for name in function.joints(robot)]
    return [np.concatenate([np.zeros(0, dtype=np.int64), *columns])] * len(function.labels)
