"""The constraints and costs of a request: what else must hold, or should."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ros2_ik.core import (
    CollisionChecker,
    Constraint,
    KinematicFunction,
    LeastSquares,
    Robot,
    Status,
    UnknownFrameError,
    UnknownFunctionError,
    UnknownJointError,
    UnknownNameError,
)
from ros2_ik.node.conversions.blame import blamed, wrong
from ros2_ik.node.conversions.bounds import make_constraint, make_cost
from ros2_ik.node.conversions.functions import (
    make_function,
    MAX_NAME,
    MAX_ROWS,
    measures_distances,
)
from ros2_ik.node.refusal import Refusal

MAX_FUNCTIONS = 100   # reading more would keep the node from other requests

_STATUSES = ((UnknownFrameError, Status.INVALID_LINK_NAME),
             (UnknownJointError, Status.INVALID_GOAL_CONSTRAINTS),
             (UnknownFunctionError, Status.INVALID_GOAL_CONSTRAINTS),
             (UnknownNameError, Status.INVALID_OBJECT_NAME))


class Wanted(NamedTuple):
    """What a request asks for besides targets."""

    constraints: tuple[Constraint, ...] = ()
    costs: tuple[LeastSquares, ...] = ()

    @property
    def functions(self) -> list[KinematicFunction]:
        """What all of them are about."""
        return [item.function for item in (*self.constraints, *self.costs)]


NOTHING = Wanted()


def has_functions(request: Any) -> bool:
    """Return whether a request has any constraint or cost."""
    return bool(request.constraints or request.costs)


def needs_checker(request: Any) -> bool:
    """Return whether any of a request's constraints and costs is about distances in the scene."""
    return any(measures_distances(message.kind)
               for message in (*request.constraints, *request.costs)[:MAX_FUNCTIONS])


def read_wanted(request: Any, robot: Robot, checker: CollisionChecker | None = None) -> Wanted:
    """
    Read a request's constraints and costs; `checker` is that of the scene, where one is needed.

    Raises Refusal, which says where.
    """
    count = len(request.constraints) + len(request.costs)
    if count > MAX_FUNCTIONS:
        raise wrong(f'{count} constraints and costs; at most {MAX_FUNCTIONS} are read')
    names, constraints, costs = set[str](), list[Constraint](), list[LeastSquares]()
    rows = 0
    for part in ('constraints', 'costs'):
        for index, message in enumerate(getattr(request, part)):
            with blamed(f'{part}[{index}] ({message.kind[:MAX_NAME]})'), _known():
                function = make_function(message, robot, checker)
                rows += _rows(function, rows)
                name = _unique(message.bounds.name or message.kind, names)
                if part == 'costs' or message.bounds.soft:
                    costs.append(make_cost(function, message.bounds, name, part == 'costs')
                                 .bind(robot))
                else:
                    constraints.append(make_constraint(function, message.bounds, name)
                                       .bind(robot))
    return Wanted(tuple(constraints), tuple(costs))


def _rows(function: KinematicFunction, before: int) -> int:
    """Count rows; a step's work grows with the cube of all, and nothing ends it halfway."""
    rows = len(function.labels)
    if before + rows > MAX_ROWS:
        raise wrong(f'its {rows} rows make {before + rows} of all constraints and costs so far; '
                    f'at most {MAX_ROWS} are taken')
    return rows


@contextmanager
def _known() -> Iterator[None]:
    """Refuse unknown names by the status of what they should have named."""
    try:
        yield
    except UnknownNameError as error:
        status = next(number for kind, number in _STATUSES if isinstance(error, kind))
        raise Refusal(status, error) from None


def _unique(name: str, names: set[str]) -> str:
    """Return the name, with a number if others have it, too."""
    number, chosen = 2, name
    while chosen in names:
        chosen, number = f'{name} {number}', number + 1
    names.add(chosen)
    return chosen
