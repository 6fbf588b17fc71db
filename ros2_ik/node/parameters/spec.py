"""What a parameter may be."""

from collections.abc import Callable
from dataclasses import dataclass
import math
import re
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor


class ParameterError(ValueError):
    """A parameter has a value that it cannot have; the text says which and what is valid."""


# `ros2 param load` and `set` make a text of it, and `ros2 param dump` writes such numbers
_TEXT_NUMBER = re.compile(r'[-+]?\d+e[-+]?\d+', re.IGNORECASE)


@dataclass(frozen=True)
class Spec:
    """One parameter; its type is that of its default. A tuple: names, the empty ones left out."""

    name: str
    default: Any
    description: str
    unit: str = ''
    lowest: float = -math.inf
    highest: float = math.inf
    choices: Callable[[], tuple[str, ...]] | None = None
    read_only: bool = False

    def parse(self, value: Any) -> Any:
        """Return the value in the parameter's own type; raises ParameterError."""
        parsed = self._typed(value)
        if isinstance(self.default, (int, float)) and not isinstance(self.default, bool) \
                and not self.lowest <= parsed <= self.highest:   # refuses NaN as well
            raise ParameterError(f'{self.name} is {parsed:g}; valid: {self._range()}')
        if self.choices and parsed not in self.choices():
            valid = ', '.join(self.choices())
            raise ParameterError(f"{self.name} is '{parsed}'; valid: {valid}")
        return parsed

    def for_ros(self, value: Any) -> Any:
        """Return the value as ROS shall keep it: 1 as 1.0, so that tools see no other type."""
        return self._typed(value) if isinstance(self.default, (float, list)) else value

    def _typed(self, value: Any) -> Any:
        wanted = type(self.default)
        if wanted is float and (type(value) is int or type(value) is str
                                and _TEXT_NUMBER.fullmatch(value)):
            return float(value)
        if wanted is tuple:
            names = list(value) if isinstance(value, (list, tuple, bytes)) else [None]
            if all(isinstance(name, str) for name in names):
                return tuple(name for name in names if name)
            raise ParameterError(f'{self.name} is {value!r}; valid: a list of names')
        if wanted is list:
            values, kind = list(value) if hasattr(value, '__iter__') else [], type(self.default[0])
            valid = (bool,) if kind is bool else (int, float)
            if len(values) == len(self.default) and all(
                    type(v) in valid and math.isfinite(v) for v in values):
                return [kind(v) for v in values]
            what = 'truth values' if kind is bool else 'finite numbers'
            raise ParameterError(f'{self.name} is {value!r}; valid: {len(self.default)} {what}')
        if type(value) is not wanted:
            raise ParameterError(f'{self.name} is {value!r}, a '
                                 f'{_TYPES.get(type(value), "list")}; valid: a {_TYPES[wanted]}')
        return value

    def _range(self) -> str:
        unit = f' {self.unit}' if self.unit else ''
        if math.isinf(self.highest):
            return f'{self.lowest:g}{unit} or more'
        return f'{self.lowest:g} to {self.highest:g}{unit}'

    @property
    def declared(self) -> Any:
        """The default as ROS takes it: an empty list would be one of bytes, for good."""
        return [''] if self.default == () else self.default

    def descriptor(self) -> ParameterDescriptor:
        """Describe it to ROS tools; the type is left to `parse`, so that 1 does for 1.0."""
        descriptor = ParameterDescriptor(
            name=self.name, description=self._text(), read_only=self.read_only,
            dynamic_typing=True,
            additional_constraints=f'one of: {", ".join(self.choices())}' if self.choices else '')
        if isinstance(self.default, float):
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=float(self.lowest), to_value=min(float(self.highest), 1e308))]
        elif type(self.default) is int:
            descriptor.integer_range = [IntegerRange(
                from_value=int(self.lowest), to_value=int(min(self.highest, 2**53)), step=1)]
        return descriptor

    def _text(self) -> str:
        return self.description + (f' [{self.unit}]' if self.unit else '')


_TYPES = {bool: 'truth value (true or false)', int: 'whole number', float: 'number', str: 'text'}
