"""The constraints and costs of a request: what else must hold, or should."""

from typing import Any

from ros2_ik.core import (
    CollisionChecker,
    Constraint,
    KinematicFunction,
    LeastSquares,
    Robot,
)
from ros2_ik.node.conversions.bounds import make_constraint, make_cost
from ros2_ik.node.conversions.error_context import error_context, wrong
from ros2_ik.node.conversions.functions import (
    make_function,
    MAX_NAME,
    MAX_ROWS,
    measures_distances,
)

MAX_FUNCTIONS = 100   # reading more would keep the node from other requests

ConstraintSet = tuple[tuple[Constraint, ...], tuple[LeastSquares, ...]]


def has_functions(request: Any) -> bool:
    """Return whether a request has any constraint or cost."""
    return bool(request.constraints or request.costs)


def needs_checker(request: Any) -> bool:
    """Return whether any of a request's constraints and costs is about distances in the scene."""
    return any(measures_distances(message.kind)
               for message in (*request.constraints, *request.costs)[:MAX_FUNCTIONS])


def read_constraints(request: Any, robot: Robot,
                     checker: CollisionChecker | None = None) -> ConstraintSet:
    """
    Read a request's constraints and costs; `checker` is that of the scene, where one is needed.

    Raises RequestError, which says where.
    """
    count = len(request.constraints) + len(request.costs)
    if count > MAX_FUNCTIONS:
        raise wrong(f'{count} constraints and costs; at most {MAX_FUNCTIONS} are read')
    names, constraints, costs = set[str](), list[Constraint](), list[LeastSquares]()
    rows = 0
    for part in ('constraints', 'costs'):
        for index, message in enumerate(getattr(request, part)):
            with error_context(f'{part}[{index}] ({message.kind[:MAX_NAME]})'):
                function = make_function(message, robot, checker)
                rows += _rows(function, rows)
                name = _unique(message.bounds.name or message.kind, names)
                if part == 'costs' or message.bounds.soft:
                    costs.append(make_cost(function, message.bounds, name, part == 'costs')
                                 .bind(robot))
                else:
                    constraints.append(make_constraint(function, message.bounds, name)
                                       .bind(robot))
    return tuple(constraints), tuple(costs)


def _rows(function: KinematicFunction, before: int) -> int:
    """Count rows; a step's work grows with the cube of all, and nothing ends it halfway."""
    rows = len(function.labels)
    if before + rows > MAX_ROWS:
        raise wrong(f'its {rows} rows make {before + rows} of all constraints and costs so far; '
                    f'at most {MAX_ROWS} are taken')
    return rows


def _unique(name: str, names: set[str]) -> str:
    """Return the name, with a number if others have it, too."""
    number, chosen = 2, name
    while chosen in names:
        chosen, number = f'{name} {number}', number + 1
    names.add(chosen)
    return chosen
