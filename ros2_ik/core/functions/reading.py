"""Functions from what messages and files say of them."""

from collections.abc import Mapping
from typing import Any

from ros2_ik.core.errors import InvalidConstraintError, nearest, UnknownFunctionError
from ros2_ik.core.functions.fields import spec_fields
from ros2_ik.core.functions.kinematic_function import function_kinds, KinematicFunction
from ros2_ik.core.functions.written import FieldValue


def written_kinds() -> dict[str, type[KinematicFunction]]:
    """Return the functions that can be written down: they have typed fields, no Python code."""
    return {kind: function for kind, function in sorted(function_kinds().items())
            if spec_fields(function)}


def read_function(kind: str, given: Mapping[str, FieldValue],
                  supplied: Mapping[str, Any] | None = None) -> KinematicFunction:
    """
    Return the function of that kind with the fields given, the others at their defaults.

    `supplied` has what cannot be written, such as a collision checker, for the kinds that take
    it. Raises UnknownFunctionError, and InvalidConstraintError for fields that the kind does not
    have, that it needs, or that do not fit.
    """
    function = written_kinds().get(kind)
    if function is None:
        raise UnknownFunctionError(kind, tuple(written_kinds()))
    fields = spec_fields(function)
    written = [name for name, field in fields.items() if not field.type.supplied]
    valid = f'valid: {", ".join(written)}'
    for name in given:
        if name not in written:
            raise InvalidConstraintError(f"{kind} has no field '{name}'; "
                                         f"{nearest(name, (*written, 'bounds')) or valid}")
    arguments = {}
    for name, field in fields.items():
        if field.type.supplied:
            arguments[name] = (supplied or {}).get(name)
        elif name in given and not given[name].empty:
            arguments[name] = field.type.argument(given[name], name)
        elif field.needed:
            raise InvalidConstraintError(f'{kind} needs {name}: {field.type.form}')
        else:
            arguments[name] = field.unwritten
    return function(**arguments)
