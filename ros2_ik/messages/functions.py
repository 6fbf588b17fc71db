"""Conversion of Function messages to functions and back, generic for all kinds."""

from typing import TYPE_CHECKING

from ros2_ik.core import CollisionChecker, KinematicFunction, Robot
from ros2_ik.core.internals import (
    field_value,
    FieldValue,
    read_function,
    spec_fields,
    written_kinds,
)
from ros2_ik.messages.frames import link_name
from ros2_ik.messages.request_error import wrong

if TYPE_CHECKING:
    from ros2_ik.msg import Bounds, Function

MAX_ROWS = 1000             # maximum total number of rows of a request's functions
CHECKER = 'checker'         # field of a function that holds the scene's checker; not in messages
FRAMES = ('frame', 'relative_to')   # fields of the message itself, not in `parameters`


# computed at import: written_kinds() loads kinds of other packages, which would delay a request
_DISTANCE_KINDS = frozenset(kind for kind, function in written_kinds().items()
                            if CHECKER in spec_fields(function))


def measures_distances(kind: str) -> bool:
    """Return whether functions of this kind need a collision checker to measure distances."""
    return kind in _DISTANCE_KINDS


def make_function(message: 'Function', robot: Robot,
                  checker: CollisionChecker | None = None) -> KinematicFunction:
    """
    Return the function that a message describes, bound to the robot.

    Raises RequestError and IKError, which name the field.
    """
    given: dict[str, FieldValue] = {}
    for field in FRAMES:
        name = getattr(message, field).removeprefix('/')
        if name:
            given[field] = FieldValue(names=[name])
    for parameter in message.parameters:
        if parameter.name in given:
            raise wrong(f"'{parameter.name}' is given twice")
        given[parameter.name] = FieldValue(parameter.numbers, parameter.names, parameter.columns)
    function = read_function(message.kind, given, {CHECKER: checker})
    for field in FRAMES:
        if field in given:
            link_name(robot, getattr(function, field), field, checker.scene if checker else None)
    # raises errors that name the field, for values that do not match the robot
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
    # imported here, because reading needs no ROS
    from ros2_ik.msg import Bounds, Function, FunctionParameter
    return Function(kind=kind, frame=frame, relative_to=relative_to, bounds=bounds or Bounds(),
                    parameters=[FunctionParameter(name=name, **field_value(value)._asdict())
                                for name, value in fields.items()])
