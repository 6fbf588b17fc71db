"""Pairs that are allowed to touch: MoveIt's AllowedCollisionMatrix as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ros2_ik.core.checks import entries, flag, listed, text
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.srdf import sorted_pair


@dataclass(frozen=True)
class AllowedCollisions:
    """
    Matrix of names (links, objects) that may touch; such a pair is not checked.

    `pairs` are entries for two names, in either order; `defaults` for one name with any other. A
    pair's entry wins; else the default of either name counts; of two defaults both must allow;
    without any the pair is checked. Immutable: the methods return another matrix. Names need not
    exist. Raises InvalidSceneError.

    Source: moveit_core/collision_detection/src/collision_matrix.cpp
    """

    pairs: Mapping[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    defaults: Mapping[str, bool] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        pairs: dict[tuple[str, str], bool] = {}
        for names, allowed in entries(self.pairs, 'pairs', InvalidSceneError):
            given = listed(names)
            if given is None or len(given) != 2:
                raise InvalidSceneError('a pair of allowed collisions has two names, not '
                                        f'{names!r}')
            pair = sorted_pair(*(_name(name) for name in given))
            if pairs.setdefault(pair, _flag(allowed)) != allowed:
                raise InvalidSceneError(f'the pair {pair} has two entries that differ')
        defaults = entries(self.defaults, 'defaults', InvalidSceneError)
        object.__setattr__(self, 'pairs', MappingProxyType(pairs))
        object.__setattr__(self, 'defaults', MappingProxyType(
            {_name(name): _flag(allowed) for name, allowed in defaults}))

    @classmethod
    def of_robot(cls, robot: Robot) -> 'AllowedCollisions':
        """Return what the robot's SRDF allows: its disabled pairs."""
        return cls(dict.fromkeys(robot.disabled_pairs, True))

    @property
    def names(self) -> frozenset[str]:
        """All names that have an entry."""
        return frozenset(self.defaults).union(*self.pairs)

    def allowed(self, first: str, second: str) -> bool:
        """Return whether the two may touch, in either order."""
        entry = self.pairs.get((first, second) if first <= second else (second, first))
        if entry is not None:
            return entry
        flags = [self.defaults[name] for name in (first, second) if name in self.defaults]
        return bool(flags) and all(flags)

    def with_entry(self, first: str, second: str | None,
                   allowed: bool = True) -> 'AllowedCollisions':
        """Return the matrix with this entry for two names, or for one (None) with any other."""
        if second is None:
            return AllowedCollisions(self.pairs, {**self.defaults, first: allowed})
        pair = sorted_pair(_name(first), _name(second))
        return AllowedCollisions({**self.pairs, pair: allowed}, self.defaults)

    def updated(self, other: 'AllowedCollisions') -> 'AllowedCollisions':
        """Return the matrix with the entries of another one in place of its own."""
        return AllowedCollisions({**self.pairs, **other.pairs},
                                 {**self.defaults, **other.defaults})

    def without(self, *names: str) -> 'AllowedCollisions':
        """Return the matrix without any entry of these names, itself if there are none."""
        gone = {_name(name) for name in names}
        if gone.isdisjoint(self.names):
            return self
        return AllowedCollisions(
            {pair: allowed for pair, allowed in self.pairs.items() if gone.isdisjoint(pair)},
            {name: allowed for name, allowed in self.defaults.items() if name not in gone})

    def __hash__(self) -> int:
        return hash((frozenset(self.pairs.items()), frozenset(self.defaults.items())))

    def __reduce__(self) -> tuple[object, ...]:
        return AllowedCollisions, ({**self.pairs}, {**self.defaults})


def _name(name: object) -> str:
    return text(name, 'a name of the allowed collisions', InvalidSceneError)


def _flag(value: object) -> bool:
    return flag(value, 'an entry of the allowed collisions', InvalidSceneError)
