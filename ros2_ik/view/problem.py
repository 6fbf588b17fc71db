"""The constraints and costs of a page, as problem files have them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import (
    Array,
    fields,
    InvalidConstraintError,
    read_yaml,
    spec_fields,
    UnknownFunctionError,
    written_kinds,
)

PARTS = ('constraints', 'costs')
HARD, SOFT, COST = WAYS = ('hard', 'soft', 'cost')
BOUNDS = ('name', 'target', 'lower', 'upper', 'tolerance', 'weight')
_LISTS = ('target', 'lower', 'upper', 'weight')


@dataclass
class Entry:
    """
    A constraint or cost: `content` is what a problem file has of it, `way` one of WAYS.

    `on` is False for one that does not count now.
    """

    content: dict[str, Any]
    way: str = HARD
    on: bool = True

    @classmethod
    def new(cls, kind: str, tip: str) -> 'Entry':
        """
        Return one of a kind, off: what it needs and nobody can guess is to be filled in.

        Its frame is the tip at first, its axes are z. Raises UnknownFunctionError.
        """
        kinds = written_kinds()
        if kind not in kinds:
            raise UnknownFunctionError(kind, tuple(kinds))
        first = {form_of(fields.Frame): tip, form_of(fields.Body): tip,
                 form_of(fields.Axis): [0.0, 0.0, 1.0]}
        content = {name: first[each.type.form] for name, each in spec_fields(kinds[kind]).items()
                   if each.needed and each.type.form in first}
        return cls({'kind': kind, **content, 'bounds': {}}, on=False)

    @property
    def kind(self) -> str:
        """Kind of its function."""
        return str(self.content.get('kind', ''))

    @property
    def fields(self) -> dict[str, Any]:
        """Its kind's fields that are written, by name, each a SpecField."""
        function = written_kinds().get(self.kind)
        if function is None:
            raise UnknownFunctionError(self.kind, tuple(written_kinds()))
        return {name: each for name, each in spec_fields(function).items()
                if not each.type.supplied}

    def text(self, name: str) -> str:
        """Return a field as it is written, '' for its default."""
        return _written(self.content.get(name))

    def bound(self, name: str) -> str:
        """Return one of BOUNDS as it is written, '' for none."""
        return _written(self.content.get('bounds', {}).get(name))

    def write(self, name: str, text: str) -> None:
        """Write a field; '' is its default. Raises InvalidConstraintError for what is no YAML."""
        _write(self.content, name, text)

    def write_bound(self, name: str, text: str) -> None:
        """Write one of BOUNDS, one number or a list; '' is none. Raises as `write` does."""
        bounds = dict(self.content.get('bounds', {}))
        _write(bounds, name, text)
        if name in _LISTS and name in bounds and not isinstance(bounds[name], list):
            bounds[name] = [bounds[name]]
        self.content['bounds'] = bounds

    def written(self) -> dict[str, Any]:
        """Return what a problem file has of it."""
        bounds = {name: value for name, value in self.content.get('bounds', {}).items()
                  if name != 'soft'}
        if self.way == SOFT:
            bounds['soft'] = True
        return {**self.content, 'bounds': bounds} if bounds else {
            name: value for name, value in self.content.items() if name != 'bounds'}


@dataclass
class Problem:
    """
    What is wanted besides the poses of tips: `entries`, and the `rest` of a problem file.

    `targets` are the poses (4, 4) by tip, `wanted` the tips whose poses count now.
    """

    targets: dict[str, Array]
    wanted: set[str]
    entries: list[Entry] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)

    def load(self, content: Mapping[str, Any]) -> None:
        """Take the entries and the rest of what a problem file has; poses are left to others."""
        self.entries = [Entry(dict(item), COST if part == 'costs' else SOFT if
                              (item.get('bounds') or {}).get('soft') else HARD)
                        for part in PARTS for item in content.get(part) or ()]
        self.rest = {name: value for name, value in content.items()
                     if name not in (*PARTS, 'tips', 'targets')}

    def content(self) -> dict[str, Any]:
        """Return what a problem file has of all that counts now."""
        tips = [tip for tip in self.targets if tip in self.wanted]
        on = [entry for entry in self.entries if entry.on]
        content: dict[str, Any] = {
            'tips': tips, 'targets': [{'pose': _pose(self.targets[tip])} for tip in tips],
            'constraints': [entry.written() for entry in on if entry.way != COST],
            'costs': [entry.written() for entry in on if entry.way == COST]}
        return {**{name: value for name, value in content.items() if value}, **self.rest}


def form_of(annotated: Any) -> str:
    """Return what the type of a field says is written."""
    return str(annotated.__metadata__[0].form)


def _written(value: Any) -> str:
    if value is None:
        return ''
    return value if isinstance(value, str) else json.dumps(value)


def _write(content: dict[str, Any], name: str, text: str) -> None:
    if not text.strip():
        content.pop(name, None)
        return
    try:
        content[name] = read_yaml(text)
    except ValueError as error:
        raise InvalidConstraintError(f"{name}: '{text}' is not YAML: {error}") from None


def _pose(T: Array) -> dict[str, dict[str, float]]:
    values = pin.SE3ToXYZQUAT(pin.SE3(T[:3, :3], np.array(T[:3, 3]))).tolist()
    return {'position': dict(zip('xyz', values[:3], strict=True)),
            'orientation': dict(zip('xyzw', values[3:], strict=True))}
