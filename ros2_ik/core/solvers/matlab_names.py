"""What people who come from MATLAB's inverseKinematics may write in place of our own names."""

from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions import as_placement
from ros2_ik.core.problem import IKSolution, PoseTarget, TargetError


def targets_along_base(tip: str, target: Pose, relative_to: str | None, root: str,
                       matlab_weights: Any, tolerances: tuple[float, float]) -> list[PoseTarget]:
    """
    Make the targets that stand for one target with MATLAB's weights.

    MATLAB has orientation first, and all six along the axes of the frame that the target is given
    in. Position: at a target with the orientation of that frame. Orientation: the rotation vector
    from target to tip along its axes, log3(R R*^T), is minus that of the frame seen from the tip,
    compared with R*^T.
    """
    given = vector(matlab_weights, 'matlab_weights', 6, InvalidTargetError)
    turning, shifting = given[:3], given[3:]
    weights = np.concatenate([shifting, turning])
    if np.ptp(turning) == np.ptp(shifting) == 0:
        return [PoseTarget(tip, target, relative_to, weights, *tolerances)]
    T = as_placement(target, f"target of '{tip}'")
    targets = []
    if shifting.any():
        upright = T.homogeneous
        upright[:3, :3] = np.eye(3)
        targets.append(PoseTarget(tip, upright, relative_to, [*shifting, 0, 0, 0], *tolerances))
    if turning.any():
        back = np.eye(4)
        back[:3, :3] = T.rotation.T
        targets.append(PoseTarget(root if relative_to is None else relative_to, back, tip,
                                  [0, 0, 0, *turning], *tolerances))
    return targets


def one_error_each(solution: IKSolution, owners: list[tuple[int, str]]) -> IKSolution:
    """Join the errors of the targets of one tip; `owners` are number and name of the tips."""
    errors = []
    for (_, tip), of_tip in groupby(zip(owners, solution.errors, strict=False),
                                    lambda pair: pair[0]):
        rows = [(error.position, error.orientation) for _, error in of_tip]
        errors.append(TargetError(tip, *np.linalg.norm(rows, axis=0).tolist()))
    others = tuple(one_error_each(other, owners) for other in solution.alternatives)
    return replace(solution, errors=tuple(errors), alternatives=others)
