"""The type, range and description of a parameter."""

from dataclasses import dataclass
import math
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

_TYPES = {bool: 'truth value (true or false)', int: 'whole number',
          float: 'number, such as 0.5 or 1.0e-3', str: 'text'}


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
        if isinstance(self.default, list):
            return self._list(value)
        if isinstance(self.default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(self.default):
            raise ParameterError(f'{self.name} is {value!r}; valid: a '
                                 f'{_TYPES[type(self.default)]}')
        # `not ... <= ...` also refuses NaN
        if self._has_range and not self.lowest <= value <= self.highest:
            raise ParameterError(f'{self.name} is {value:g}; valid: {self._range()}')
        if self.choices and value not in self.choices:
            raise ParameterError(f"{self.name} is '{value}'; valid: {', '.join(self.choices)}")
        return value

    def _list(self, value: Any) -> list[Any]:
        # a text is iterable, but must not become a list of its letters
        is_list = hasattr(value, '__iter__') and not isinstance(value, str)
        values: list[Any] = list(value) if is_list else [None]
        if isinstance(self.default[0], str):
            if all(isinstance(each, str) for each in values):
                return values
            raise ParameterError(f'{self.name} is {value!r}; valid: a list of names')
        kind = type(self.default[0])
        kinds, what = ((bool,), 'truth values') if kind is bool else (
            (int, float), 'finite numbers')
        if len(values) == len(self.default) and all(
                type(each) in kinds and math.isfinite(each) for each in values):
            return [kind(each) for each in values]
        raise ParameterError(f'{self.name} is {value!r}; valid: {len(self.default)} {what}')

    @property
    def _has_range(self) -> bool:
        return type(self.default) in (int, float)

    def _range(self) -> str:
        unit = f' {self.unit}' if self.unit else ''
        if math.isinf(self.highest):
            return f'{self.lowest:g}{unit} or more'
        return f'{self.lowest:g} to {self.highest:g}{unit}'

    def descriptor(self) -> ParameterDescriptor:
        """Return the ROS descriptor; with dynamic typing, so that `parse` can accept 1 for 1.0."""
        descriptor = ParameterDescriptor(
            name=self.name, read_only=self.read_only, dynamic_typing=True,
            description=self.description + (f' [{self.unit}]' if self.unit else ''),
            additional_constraints=f'one of: {", ".join(self.choices)}' if self.choices else '')
        if isinstance(self.default, float):
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=float(self.lowest), to_value=min(float(self.highest), 1e308))]
        elif self._has_range:
            descriptor.integer_range = [IntegerRange(
                from_value=int(self.lowest), to_value=int(min(self.highest, 2**53)), step=1)]
        return descriptor
