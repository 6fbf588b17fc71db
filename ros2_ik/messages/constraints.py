"""Conversion of constraints, costs and their functions, and reports on their values."""

from collections.abc import Iterable, Sequence
from itertools import count
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core import (
    Array,
    CollisionChecker,
    Configuration,
    Constraint,
    IKProblem,
    KinematicFunction,
    LeastSquares,
    Robot,
)
from ros2_ik.core.internals import (
    field_value,
    FieldValue,
    read_function,
    spec_fields,
    written_kinds,
)
from ros2_ik.messages.frames import link_name
from ros2_ik.messages.request_error import error_context, invalid

if TYPE_CHECKING:
    from ros2_ik.msg import Bounds, Function
    from ros2_ik.srv import ComputeIK

# Maximum total number of rows of a request's functions. An iteration takes time cubic in the
# number of rows, and a timeout cannot interrupt it.
MAX_ROWS = 1000
CHECKER = 'checker'   # field of a function that takes the scene's checker; not in messages
FRAMES = ('frame', 'relative_to')   # these have fields in Function.msg, beside its `parameters`

ConstraintSet = tuple[tuple[Constraint, ...], tuple[LeastSquares, ...]]


def named_frames(messages: 'Iterable[Function]') -> list[str]:
    """Return the names of all frames that Function messages refer to."""
    return [name for message in messages for field in FRAMES if (name := getattr(message, field))]


def needs_checker(request: 'ComputeIK.Request') -> bool:
    """Return whether any constraint or cost of a request measures distances in the scene."""
    return any(message.kind in _DISTANCE_KINDS
               for message in (*request.constraints, *request.costs))


def read_constraints(request: 'ComputeIK.Request', robot: Robot,
                     checker: CollisionChecker | None = None) -> ConstraintSet:
    """
    Read a request's constraints and costs; those that measure distances need the `checker`.

    All functions are bound to the robot. Raises RequestError with the location, such as
    'constraints[2] (gaze_angle)'.
    """
    constraints, costs = list[Constraint](), list[LeastSquares]()
    rows, names = 0, set[str]()
    for part in ('constraints', 'costs'):
        for index, message in enumerate(getattr(request, part)):
            with error_context(f'{part}[{index}] ({message.kind})'):
                function = make_function(message, robot, checker)
                rows += len(function.labels)
                if rows > MAX_ROWS:
                    raise invalid(f'its rows bring the total of constraints and costs to {rows}; '
                                  f'at most {MAX_ROWS} are allowed')
                _check_angles(function, message.bounds)
                name = message.bounds.name or message.kind
                if name in names:
                    name = next(numbered for number in count(2)
                                if (numbered := f'{name} {number}') not in names)
                names.add(name)
                if part == 'costs' or message.bounds.soft:
                    costs.append(_cost(function, message.bounds, name, part == 'costs'))
                else:
                    constraints.append(_constraint(function, message.bounds, name))
    return tuple(constraints), tuple(costs)


def _check_angles(function: KinematicFunction, bounds: 'Bounds') -> None:
    """Raise RequestError if an upper bound of an angle exceeds pi (probably degrees)."""
    if function.spec.range[1] == math.pi and any(
            math.pi + ROUNDING < value < math.inf for value in bounds.upper):
        raise invalid(f'bounds.upper is {max(bounds.upper):g} rad; valid: up to {math.pi:.4g} '
                      '(angles are radians)')


# -- functions, of any kind -----------------------------------------------------------------

# computed at import, because loading function kinds of other packages would delay a request
_DISTANCE_KINDS = frozenset(kind for kind, function in written_kinds().items()
                            if CHECKER in spec_fields(function))


def make_function(message: 'Function', robot: Robot,
                  checker: CollisionChecker | None = None) -> KinematicFunction:
    """
    Return the function that a message describes, bound to the robot.

    Raises RequestError or another IKError, whose message names the field.
    """
    given: dict[str, FieldValue] = {}
    for field in FRAMES:
        if name := getattr(message, field).removeprefix('/'):
            given[field] = FieldValue(names=[name])
    for parameter in message.parameters:
        if parameter.name in given:
            raise invalid(f"'{parameter.name}' is given twice")
        given[parameter.name] = FieldValue(parameter.numbers, parameter.names, parameter.columns)
    function = read_function(message.kind, given, {CHECKER: checker})
    for field in FRAMES:
        if field in given:
            link_name(robot, getattr(function, field), field, checker.scene if checker else None)
    # raises an error that names the field if its value does not match the robot
    return function.bind(robot)


def function_message(kind: str, bounds: 'Bounds | None' = None, frame: str = '',
                     relative_to: str = '', **fields: object) -> 'Function':
    """
    Make a Function message (for clients); `fields` are the fields of the function's kind.

        function_message('gaze_angle', Bounds(upper=[0.1]), frame='panda_hand', axis=[0, 0, 1],
                         target=[0.5, 0, 0.2])

    Values are numbers, strings, lists of these, lists of rows of numbers, and mappings from names
    to numbers. Poses are x y z and roll pitch yaw, or x y z and a quaternion. Raises
    InvalidConstraintError for other values. The node, not this function, checks that the kind has
    these fields.
    """
    # imported here, so that reading messages does not need ROS
    from ros2_ik.msg import Bounds, Function, FunctionParameter
    return Function(kind=kind, frame=frame, relative_to=relative_to, bounds=bounds or Bounds(),
                    parameters=[FunctionParameter(name=name, **field_value(value)._asdict())
                                for name, value in fields.items()])


# -- bounds: a function with hard bounds is a Constraint, with soft bounds a cost ---------------

ROUNDING = 1e-3   # accepted excess of an upper bound over pi, which may be rounded to 3.142 [rad]


def _constraint(function: KinematicFunction, bounds: 'Bounds', name: str) -> Constraint:
    if len(bounds.weight):
        raise invalid('bounds.weight: a hard constraint has no weight, it must hold; '
                      'soft: true makes it a cost')
    given = _bounds(bounds)
    if 'target' in given:
        given['lower'] = given['upper'] = target = given.pop('target')
        rows = len(function.labels)
        if rows and np.shape(target) not in ((), (rows,)):
            raise invalid(f'bounds.target has {len(target)} numbers; valid: 1'
                          + f' or {rows}' * (rows > 1))
    if bounds.tolerance != 0:
        given['tolerance'] = bounds.tolerance
    return Constraint(function, name=name, **given)


def _cost(function: KinematicFunction, bounds: 'Bounds', name: str,
          may_be_empty: bool) -> LeastSquares:
    if bounds.tolerance != 0:
        raise invalid('bounds.tolerance: soft constraints take a weight, not a tolerance')
    given, weight = _bounds(bounds, may_be_empty), bounds.weight
    if len(weight) == len(function.labels) ** 2 > 1:
        # the message has the matrix row by row
        given['weight'] = np.reshape(weight, (len(function.labels), -1))
    elif len(weight):
        given['weight'] = _numbers(weight)
    return LeastSquares(function, name=name, **given)


def _bounds(bounds: 'Bounds', may_be_empty: bool = False) -> dict[str, Any]:
    """Return those of the fields target, lower and upper that are not empty, by name."""
    given = {field: _numbers(values) for field in ('target', 'lower', 'upper')
             if len(values := getattr(bounds, field))}
    if not given and not may_be_empty:
        raise invalid('bounds are empty: one of target, lower and upper is needed')
    if 'target' in given and len(given) > 1:
        raise invalid(f'bounds has {", ".join(given)}; valid: target alone, or lower, upper or '
                      'both')
    return given


def _numbers(values: Sequence[float]) -> float | Array:
    """Return one number for all rows, or an array with a number for each row."""
    return values[0] if len(values) == 1 else np.array(values, dtype=np.float64)


# -- reports on a configuration ----------------------------------------------------------------

COST_TOLERANCE = 1e-6   # largest violation at which a cost is reported as `holds` [units of f]


class ConstraintReport(NamedTuple):
    """The state of a constraint or cost at a configuration: the fields of a ConstraintState."""

    name: str
    kind: str
    soft: bool
    holds: bool
    violation: float
    cost: float
    labels: list[str]
    value: list[float]
    lower: list[float]
    upper: list[float]


def constraint_reports(problem: IKProblem, q: Array) -> list[ConstraintReport]:
    """Return reports on all constraints, then on all least-squares costs, at q (nq,)."""
    if not (problem.constraints or problem.costs):
        return []
    at = Configuration(problem.robot, q)
    return [constraint_report(item, at) for item in (*problem.constraints, *problem.costs)
            if isinstance(item, (Constraint, LeastSquares))]


def hard_constraints(messages: 'Sequence[Function]', robot: Robot) -> list[Constraint]:
    """Read Function messages as hard constraints; raises IKError."""
    return [_constraint(make_function(one, robot), one.bounds, one.bounds.name).bind(robot)
            for one in messages]


def constraint_report(item: Constraint | LeastSquares, at: Configuration) -> ConstraintReport:
    """Return the report on a bound constraint or cost at a configuration."""
    f = item.function.value(at)
    outside = np.maximum(item.lower - f, f - item.upper)
    cost, tolerance = ((item.value(at), COST_TOLERANCE) if isinstance(item, LeastSquares)
                       else (0.0, item.tolerance))
    return ConstraintReport(
        item.name, item.function.spec.kind, isinstance(item, LeastSquares),
        bool((outside <= tolerance).all()), max(0.0, float(outside.max(initial=0.0))), cost,
        list(item.function.labels), f.tolist(), item.lower.tolist(), item.upper.tolist())
