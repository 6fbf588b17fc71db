"""Function messages for those who write a client in Python."""

from typing import Any

from ros2_ik.core import field_value
from ros2_ik.msg import Bounds, Function, FunctionParameter


def function_message(kind: str, bounds: Bounds | None = None, frame: str = '',
                     relative_to: str = '', **fields: Any) -> Function:
    """
    Return the message of a function; `fields` are those of its kind, by name.

        function_message('gaze_angle', Bounds(upper=[0.1]), frame='panda_hand', axis=[0, 0, 1],
                         target=[0.5, 0, 0.2])

    The values are numbers, texts, lists of these, rows of numbers, and numbers by name; poses are
    x y z with roll pitch yaw or a quaternion. Raises InvalidConstraintError for others; whether
    the kind has these fields is seen by the node.
    """
    return Function(kind=kind, frame=frame, relative_to=relative_to, bounds=bounds or Bounds(),
                    parameters=[FunctionParameter(name=name, **field_value(value)._asdict())
                                for name, value in fields.items()])
