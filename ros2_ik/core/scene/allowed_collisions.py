"""Pairs that are allowed to touch: MoveIt's AllowedCollisionMatrix as a value."""

from collections.abc import ItemsView, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ros2_ik.core.checks import distinct_names, listed
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot


class AllowedCollisions:
    """
    Matrix of names (links, objects) that may touch; such a pair is not checked.

    `pairs` holds entries for two names, `defaults` for one name with any other. A pair's entry
    wins; else the default of either name counts; of two defaults both must allow; without any
    the pair is checked. Immutable: the methods return another matrix. Names need not exist (yet).

    Source: moveit_core/collision_detection/src/collision_matrix.cpp
    """

    __slots__ = ('_defaults', '_pairs')

    def __init__(self, pairs: Mapping[tuple[str, str], bool] | None = None,
                 defaults: Mapping[str, bool] | None = None) -> None:
        self._pairs: dict[tuple[str, str], bool] = {}
        for names, allowed in entries(pairs, 'pairs'):
            pair = _pair(*_two(names))
            if self._pairs.setdefault(pair, _flag(allowed, f'the pair {names!r}')) != allowed:
                raise InvalidSceneError(f'the pair {pair} has two entries that differ')
        self._defaults = {_name(name): _flag(allowed, f"the default of '{name}'")
                          for name, allowed in entries(defaults, 'defaults')}

    @classmethod
    def of_robot(cls, robot: Robot) -> 'AllowedCollisions':
        """Return what the robot's SRDF allows: its disabled pairs."""
        return cls(dict.fromkeys(robot.disabled_pairs, True))

    @classmethod
    def from_matrix(cls, names: Sequence[str], values: Any, default_names: Sequence[str] = (),
                    default_values: Sequence[bool] = ()) -> 'AllowedCollisions':
        """
        Read the fields of a message: `values` are rows of truth values in the order of `names`.

        Only what is above the diagonal counts, as in MoveIt. Raises InvalidSceneError for rows
        or defaults of a wrong length and for a name that is there twice.
        """
        names, default_names = _names(names, 'entry_names'), _names(default_names,
                                                                    'default_entry_names')
        rows = [listed(row) or [] for row in listed(values) or []]
        flags = listed(default_values) or []
        if len(rows) != len(names):
            raise InvalidSceneError(f'the matrix has {len(rows)} rows for {len(names)} names')
        for row, name in zip(rows, names, strict=True):
            if len(row) != len(names):
                raise InvalidSceneError(f"the row of '{name}' has {len(row)} values for "
                                        f'{len(names)} names')
        if len(flags) != len(default_names):
            raise InvalidSceneError(f'there are {len(flags)} default values for '
                                    f'{len(default_names)} default names')
        pairs = {(name, other): row[j] for i, (name, row) in enumerate(
            zip(names, rows, strict=True)) for j, other in enumerate(names) if i < j}
        return cls(pairs, dict(zip(default_names, flags, strict=True)))

    def to_matrix(self) -> tuple[list[str], list[list[bool]], list[str], list[bool]]:
        """
        Return names, square values, default names and their values, sorted by name.

        Read back, this allows the same: values are those of `allowed`, defaults included.
        """
        names = sorted(self.names)
        values = [[self.allowed(name, other) for other in names] for name in names]
        default_names = sorted(self._defaults)
        return names, values, default_names, [self._defaults[name] for name in default_names]

    # -- questions ------------------------------------------------------------------------

    @property
    def pairs(self) -> Mapping[tuple[str, str], bool]:
        """Entries by pair, its names sorted."""
        return MappingProxyType(self._pairs)

    @property
    def defaults(self) -> Mapping[str, bool]:
        """Entries by one name."""
        return MappingProxyType(self._defaults)

    @property
    def names(self) -> frozenset[str]:
        """All names that have an entry."""
        return frozenset(self._defaults).union(*self._pairs)

    def allowed(self, first: str, second: str) -> bool:
        """Return whether the two may touch, in either order."""
        entry = self._pairs.get((first, second) if first <= second else (second, first))
        if entry is not None:
            return entry
        flags = [self._defaults[name] for name in (first, second) if name in self._defaults]
        return bool(flags) and all(flags)

    # -- changes --------------------------------------------------------------------------

    def with_pair(self, first: str, second: str, allowed: bool = True) -> 'AllowedCollisions':
        """Return the matrix with this entry for the pair."""
        return self._changed({**self._pairs, _pair(first, second): _flag(allowed, 'allowed')},
                             self._defaults)

    def with_default(self, name: str, allowed: bool = True) -> 'AllowedCollisions':
        """Return the matrix with this entry for the name and any other."""
        return self._changed(self._pairs, {**self._defaults,
                                           _name(name): _flag(allowed, 'allowed')})

    def without(self, *names: str) -> 'AllowedCollisions':
        """Return the matrix without any entry of these names, itself if there are none."""
        gone = {_name(name) for name in names}
        if gone.isdisjoint(self.names):
            return self
        return self._changed(
            {pair: allowed for pair, allowed in self._pairs.items() if gone.isdisjoint(pair)},
            {name: allowed for name, allowed in self._defaults.items() if name not in gone})

    def _changed(self, pairs: dict[tuple[str, str], bool],
                 defaults: dict[str, bool]) -> 'AllowedCollisions':
        matrix = AllowedCollisions.__new__(AllowedCollisions)
        matrix._pairs, matrix._defaults = pairs, defaults
        return matrix

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AllowedCollisions):
            return NotImplemented
        return self._pairs == other._pairs and self._defaults == other._defaults

    def __hash__(self) -> int:
        return hash((frozenset(self._pairs.items()), frozenset(self._defaults.items())))

    def __repr__(self) -> str:
        return f'AllowedCollisions({len(self._pairs)} pairs, {len(self._defaults)} defaults)'

    def __reduce__(self) -> tuple[Any, ...]:
        return AllowedCollisions, (self._pairs, self._defaults)


def entries(values: Any, what: str) -> ItemsView[Any, Any]:
    """Return the items of a mapping, none for None; raises InvalidSceneError for anything else."""
    if values is None:
        return {}.items()
    if not isinstance(values, Mapping):
        raise InvalidSceneError(f'{what} must be a mapping from names, not {values!r}')
    return values.items()


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidSceneError(f'a name of the allowed collisions is {name!r}; '
                                'it must be a text that is not empty')
    return name


def _two(names: Any) -> list[Any]:
    pair = listed(names)
    if pair is None or len(pair) != 2:
        raise InvalidSceneError(f'a pair of allowed collisions has two names, not {names!r}')
    return pair


def _pair(first: Any, second: Any) -> tuple[str, str]:
    first, second = _name(first), _name(second)
    return (first, second) if first <= second else (second, first)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidSceneError(f'{what} must be true (may touch) or false, not {value!r}')
    return bool(value)


def _names(names: Any, what: str) -> tuple[str, ...]:
    return distinct_names(names, what, InvalidSceneError) if listed(names) != [] else ()
