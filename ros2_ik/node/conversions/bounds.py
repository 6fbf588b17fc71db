"""Bounds messages: a function with them is a Constraint or, if it may give way, a cost."""

from typing import Any

import numpy as np

from ros2_ik.core import Constraint, KinematicFunction, LeastSquares
from ros2_ik.node.conversions.error_context import wrong
from ros2_ik.node.conversions.functions import MAX_ROWS

WAYS = ('target', 'lower', 'upper')


def make_constraint(function: KinematicFunction, bounds: Any, name: str) -> Constraint:
    """Make the hard constraint; raises RequestError and InvalidConstraintError."""
    if len(bounds.weight):
        raise wrong('bounds.weight: a hard constraint has no weight, it must hold; '
                    'soft: true makes it give way')
    given = _bounds(bounds)
    if not given:
        raise wrong('bounds are empty: one of target, lower and upper is needed')
    if 'target' in given:
        given = {'lower': given['target'], 'upper': given['target']}
    if bounds.tolerance != 0:
        given['tolerance'] = bounds.tolerance
    return Constraint(function, name=name, **given)


def make_cost(function: KinematicFunction, bounds: Any, name: str, default: bool) -> LeastSquares:
    """
    Make the cost, for a function that has met its robot.

    `default`: without target and bounds the target is 0, else that is refused. Raises RequestError
    and InvalidConstraintError.
    """
    if bounds.tolerance != 0:
        raise wrong('bounds.tolerance: soft constraints take a weight, not a tolerance')
    given = _bounds(bounds)
    if not given and not default:
        raise wrong('bounds are empty: one of target, lower and upper is needed')
    weight = _weight(bounds.weight, len(function.labels))
    return LeastSquares(function, weight=weight, name=name, **given)


def _bounds(bounds: Any) -> dict[str, Any]:
    """Return those of target, lower and upper that are not empty."""
    given: dict[str, Any] = {way: _numbers(getattr(bounds, way), way)
                             for way in WAYS if len(getattr(bounds, way))}
    if 'target' in given and len(given) > 1:
        raise wrong(f'bounds has target and {" and ".join(w for w in WAYS[1:] if w in given)}; '
                    'valid: target alone, or lower, upper or both')
    return given


def _numbers(values: Any, way: str) -> Any:
    """Return one number, or one a row."""
    if len(values) > MAX_ROWS:
        raise wrong(f'bounds.{way} has {len(values)} numbers; at most {MAX_ROWS} are read')
    return values[0] if len(values) == 1 else np.array(values, dtype=np.float64)


def _weight(values: Any, rows: int) -> Any:
    if not len(values):
        return 1.0
    if len(values) not in (1, rows, rows * rows):
        valid = f', {rows} (one a row) or {rows * rows} (a matrix, row by row)' if rows > 1 else ''
        raise wrong(f'bounds.weight has {len(values)} numbers; valid: none, 1{valid}')
    if len(values) == rows * rows and rows > 1:
        return np.reshape(np.array(values, dtype=np.float64), (rows, rows))
    return values[0] if len(values) == 1 else np.array(values, dtype=np.float64)
