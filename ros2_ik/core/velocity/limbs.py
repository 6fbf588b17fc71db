"""Limbs: groups of joints that are coupled by tasks."""

from collections.abc import Iterable, Sequence

import numpy as np

from ros2_ik.core.arrays import Indices
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.joint_functions import BoundJoints
from ros2_ik.core.robot import Robot


def limbs(robot: Robot, levels: Sequence[Iterable[tuple[KinematicFunction, slice]]], rows: int
          ) -> tuple[Indices, Indices]:
    """
    Return the limb of each joint at each level (levels, nv), and the limb of each row (rows,).

    `levels` has, for each priority level, bound functions with the slice of their rows. Two joints
    are in one limb if a row of that level depends on both, or if a chain of such rows connects
    them. The number of a limb is one of its columns in the tangent space.
    """
    # connected components by relabelling: at first each joint is a limb of its own
    of_joints = np.tile(np.arange(robot.nv), (len(levels), 1))
    of_rows = np.zeros(rows, dtype=np.int64)
    for limb, functions in zip(of_joints, levels, strict=True):
        row_columns = [(row, columns) for function, place in functions for row, columns in
                       zip(range(place.start, place.stop), _columns_of_rows(function, robot),
                           strict=True) if len(columns)]
        # a row joins the limbs of all its columns
        for _, columns in row_columns:
            limb[np.isin(limb, limb[columns])] = limb[columns[0]]
        for row, columns in row_columns:
            of_rows[row] = limb[columns[0]]
    return of_joints, of_rows


def _columns_of_rows(function: KinematicFunction, robot: Robot) -> list[Indices]:
    """Return, for each row of a function, the columns on which the row depends."""
    if isinstance(function, BoundJoints):
        return [np.flatnonzero(row) for row in function.A]
    columns = [np.arange(robot.nv)[robot.joint(name).columns]
               for name in function.joints(robot)]
    return [np.concatenate([np.zeros(0, dtype=np.int64), *columns])] * len(function.labels)
