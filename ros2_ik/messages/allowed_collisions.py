"""Conversion of AllowedCollisionMatrix messages."""

from typing import TYPE_CHECKING

from ros2_ik.core import AllowedCollisions
from ros2_ik.messages.request_error import wrong

if TYPE_CHECKING:
    from moveit_msgs.msg import AllowedCollisionMatrix


def read_matrix(message: 'AllowedCollisionMatrix') -> AllowedCollisions:
    """
    Read a matrix; as in MoveIt, entries below the diagonal are ignored.

    Raises RequestError for rows or defaults of a wrong length.
    """
    names, rows = list(message.entry_names), [list(row.enabled) for row in message.entry_values]
    default_names, flags = list(message.default_entry_names), list(message.default_entry_values)
    if len(rows) != len(names):
        raise wrong(f'the matrix has {len(rows)} rows for {len(names)} names')
    for row, name in zip(rows, names, strict=True):
        if len(row) != len(names):
            raise wrong(f"the row of '{name}' has {len(row)} values for {len(names)} names")
    if len(flags) != len(default_names):
        raise wrong(f'there are {len(flags)} default values for {len(default_names)} default '
                    'names')
    pairs = {(name, names[j]): row[j] for i, (name, row) in enumerate(
        zip(names, rows, strict=True)) for j in range(i + 1, len(names))}
    return AllowedCollisions(pairs, dict(zip(default_names, flags, strict=True)))


def matrix_message(matrix: AllowedCollisions) -> 'AllowedCollisionMatrix':
    """
    Return the message of a matrix: rows for all names that have an entry, and the defaults.

    The message has a value for each pair of names; a pair without an entry gets its defaults.
    """
    # imported here, because the command reads matrices without ROS
    from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix
    names, default_names = sorted(matrix.names), sorted(matrix.defaults)
    rows = [[matrix.allowed(name, other) for other in names] for name in names]
    return AllowedCollisionMatrix(
        entry_names=names, entry_values=[AllowedCollisionEntry(enabled=row) for row in rows],
        default_entry_names=default_names,
        default_entry_values=[matrix.defaults[name] for name in default_names])
