"""The type, range and description of a parameter."""

from dataclasses import dataclass
import math
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor

_TYPES = {bool: 'a truth value (true or false)', int: 'a whole number',
          float: 'a number, such as 0.5 or 1.0e-3', str: 'a text'}


class ParameterError(ValueError):
    """Invalid value of a parameter; the text has the name, the value and the valid values."""


@dataclass(frozen=True)
class Spec:
    """
    Definition of a parameter; the type of its default is the type of the parameter.

    A list of numbers or booleans must be as long as the default. A list of names can have any
    length.
    """

    name: str
    default: Any
    description: str
    unit: str = ''
    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()
    read_only: bool = False

    def parse(self, value: Any) -> Any:
        """Return the checked value, an int converted for a float; raises ParameterError."""
        if not isinstance(self.default, list):
            return self._checked(value, type(self.default))
        kind = type(self.default[0])
        # a text is iterable, but must not become a list of its letters
        if isinstance(value, str) or not hasattr(value, '__iter__') or (
                kind is not str and len(value) != len(self.default)):
            raise self._wrong(value)
        return [self._checked(each, kind) for each in value]

    def _checked(self, value: Any, kind: type) -> Any:
        if kind is float and type(value) is int:
            value = float(value)
        valid = type(value) is kind and (not self.choices or value in self.choices)
        if not valid or (kind in (int, float) and not self.lowest <= value <= self.highest):
            raise self._wrong(value)
        return value

    def _wrong(self, value: Any) -> ParameterError:
        return ParameterError(f'{self.name} is {value!r}; valid: {self._valid()}')

    def _valid(self) -> str:
        """Return the valid values in words."""
        if self.choices:
            return ', '.join(self.choices)
        if isinstance(self.default, list):
            many = 'any number' if isinstance(self.default[0], str) else len(self.default)
            return f'a list of {many} of: {_TYPES[type(self.default[0])]}'
        kind, unit = _TYPES[type(self.default)], f' {self.unit}' if self.unit else ''
        if math.isinf(self.lowest):
            return kind
        if math.isinf(self.highest):
            return f'{kind}, {self.lowest:g}{unit} or more'
        return f'{kind}, {self.lowest:g} to {self.highest:g}{unit}'

    def descriptor(self) -> ParameterDescriptor:
        """Return the ROS descriptor; with dynamic typing, so that `parse` can accept 1 for 1.0."""
        return ParameterDescriptor(
            name=self.name, read_only=self.read_only, dynamic_typing=True,
            description=self.description + (f' [{self.unit}]' if self.unit else ''),
            additional_constraints=self._valid())
