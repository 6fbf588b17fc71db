"""YAML whose mistakes are told with their place, such as objects[2].pose.xyz."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import difflib
from reprlib import Repr
from typing import Any

from ros2_ik.core.errors import IKError, InvalidSceneError
from ros2_ik.core.strict_yaml import read_yaml

_BRIEF = Repr()   # also of what aliases make larger than the memory
_BRIEF.maxlevel, _BRIEF.maxstring, _BRIEF.maxlong = 3, 80, 80


@dataclass(frozen=True)
class Entry:
    """A value in the file and where it is; its methods raise InvalidSceneError with the place."""

    value: Any
    place: str = ''

    @classmethod
    def read(cls, text: str) -> 'Entry':
        """Read a whole text."""
        try:
            return cls(read_yaml(text, exponents=True))
        except ValueError as error:
            raise InvalidSceneError(f'the scene is no YAML: {error}') from None

    def fault(self, text: str) -> InvalidSceneError:
        """Make the error that says this of this place."""
        return InvalidSceneError(f'{self.place}: {text}' if self.place else f'the scene: {text}')

    def keys(self, known: Collection[str], needed: Collection[str] = ()) -> dict[str, 'Entry']:
        """Return what stands under each key; keys that are not known are refused."""
        wanted = f'must have the keys {", ".join(known)}'
        if not isinstance(self.value, dict):
            raise self.fault(f'{wanted}; it is {_short(self.value)}')
        entries = {}
        for key, value in self.value.items():
            place = f'{self.place}.{key}' if self.place else str(key)
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f'valid: {", ".join(known)}'
                raise Entry(value, place).fault(f'unknown key; {hint}')
            entries[key] = Entry(value, place)
        for key in needed:
            if key not in entries:
                raise self.fault(f"'{key}' is missing")
        return entries

    def named(self) -> dict[str, 'Entry']:
        """Return the entries of a mapping from any names."""
        if not isinstance(self.value, dict):
            raise self.fault(f'must be a mapping from names, not {_short(self.value)}')
        return {Entry(key, self.place).text(): Entry(value, f'{self.place}.{key}')
                for key, value in self.value.items()}

    def items(self) -> list['Entry']:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            raise self.fault(f'must be a list, not {_short(self.value)}')
        return [Entry(value, f'{self.place}[{index}]') for index, value in enumerate(self.value)]

    def text(self) -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            raise self.fault(f'must be a text that is not empty, not {_short(self.value)}')
        return self.value

    @contextmanager
    def error_context(self) -> Iterator[None]:
        """Put this place in front of what goes wrong within."""
        try:
            yield
        except IKError as error:
            raise self.fault(str(error)) from None


def _short(value: Any) -> str:
    text = _BRIEF.repr(value)
    return text if len(text) <= 80 else f'{text[:77]}...'
