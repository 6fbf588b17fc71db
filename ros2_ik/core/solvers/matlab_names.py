"""What people who come from MATLAB's inverseKinematics may write in place of our own names."""

from collections.abc import Callable
from dataclasses import replace
import functools
import inspect
from itertools import groupby
from typing import Any, cast, ParamSpec, TypeVar

import numpy as np

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError, UnknownOptionError
from ros2_ik.core.functions import as_placement
from ros2_ik.core.problem import IKSolution, PoseTarget, TargetError

P = ParamSpec('P')
R = TypeVar('R')


def with_names(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Make a door take options under other names as well, theirs='ours'.

    Both names of one option in one call: InvalidOptionError. An option that nobody has:
    UnknownOptionError, which names what is spelled like it.
    """
    def dress(door: Callable[P, R]) -> Callable[P, R]:
        own = [name for name in inspect.signature(door).parameters if name != 'options']

        @functools.wraps(door)
        def dressed(*args: P.args, **options: P.kwargs) -> R:
            given = cast(dict[str, Any], options)
            for theirs in names:
                if theirs not in given:
                    continue
                ours = names[theirs]
                if ours in given:
                    raise InvalidOptionError(f'{theirs} is another name of {ours}; valid: one '
                                             'of the two')
                given[ours] = given.pop(theirs)
            try:
                return door(*args, **options)
            except UnknownOptionError as error:
                raise UnknownOptionError(error.option, error.solver, error.valid,
                                         [*own, *names]) from None
        return dressed
    return dress


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
