"""Function messages to functions and back. Nothing here is about a single kind."""

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
from ros2_ik.messages.request_error import check_lengths, wrong

if TYPE_CHECKING:
    from ros2_ik.msg import Bounds, Function

MAX_NAME = 200              # characters
MOST = {'kind': MAX_NAME, 'parameters': 50}
MOST_ITEMS = {'name': MAX_NAME, 'numbers': 10_000, 'names': 10_000}     # of a parameter
MAX_ROWS = 1000             # of all functions that a request has together
SUPPLIED = 'checker'        # the field that no message has: it comes from the scene
FRAMES = ('frame', 'relative_to')   # the fields that messages have beside the parameters


# made once, at the start: it loads the kinds of other packages, which no request shall wait for
_OF_DISTANCES = frozenset(kind for kind, function in written_kinds().items()
                          if SUPPLIED in spec_fields(function))


def measures_distances(kind: str) -> bool:
    """Return whether functions of a kind need a collision checker."""
    return kind in _OF_DISTANCES


def make_function(message: 'Function', robot: Robot,
                  checker: CollisionChecker | None = None) -> KinematicFunction:
    """
    Return the function that a message describes, bound to the robot.

    Raises RequestError and IKError, which name the field.
    """
    check_lengths(message, MOST)
    for index, parameter in enumerate(message.parameters):
        check_lengths(parameter, MOST_ITEMS, f'parameters[{index}].')
        if any(len(name) > MAX_NAME for name in parameter.names):
            raise wrong(f'{parameter.name} has a name of more than {MAX_NAME} characters')
    given: dict[str, FieldValue] = {}
    for field in FRAMES:
        name = getattr(message, field).removeprefix('/')
        if name:
            given[field] = FieldValue(names=[name])
    for parameter in message.parameters:
        if parameter.name in given:
            raise wrong(f"'{parameter.name}' is given twice")
        given[parameter.name] = FieldValue(parameter.numbers, parameter.names, parameter.columns)
    function = read_function(message.kind, given, {SUPPLIED: checker})
    for field in FRAMES:
        if field in given:
            link_name(robot, getattr(function, field), field, checker.scene if checker else None)
    return function.bind(robot)   # what does not fit the robot is refused here, by its name


def function_message(kind: str, bounds: 'Bounds | None' = None, frame: str = '',
                     relative_to: str = '', **fields: object) -> 'Function':
    """
    Return the message of a function, for a client; `fields` are those of its kind, by name.

        function_message('gaze_angle', Bounds(upper=[0.1]), frame='panda_hand', axis=[0, 0, 1],
                         target=[0.5, 0, 0.2])

    The values are numbers, texts, lists of these, rows of numbers, and numbers by name; poses are
    x y z with roll pitch yaw or a quaternion. Raises InvalidConstraintError for others; whether
    the kind has these fields is seen by the node.
    """
    from ros2_ik.msg import Bounds, Function, FunctionParameter  # late: reading needs no ROS
    return Function(kind=kind, frame=frame, relative_to=relative_to, bounds=bounds or Bounds(),
                    parameters=[FunctionParameter(name=name, **field_value(value)._asdict())
                                for name, value in fields.items()])
