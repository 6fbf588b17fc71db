"""Allowed collision matrix, with the semantics of MoveIt's AllowedCollisionMatrix."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ros2_ik.core.checks import as_list, entries, flag, text
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.srdf import sorted_pair


@dataclass(frozen=True)
class AllowedCollisions:
    """
    Immutable matrix of links and objects that may touch; the checker skips allowed pairs.

    `pairs` are entries for two names, in either order; `defaults` are entries for one name with
    all others. The entry of a pair has precedence over defaults. If both names have a default, the
    pair is allowed only if both defaults allow contact. A pair without any entry is checked.
    Names of links and objects that do not exist are accepted. Raises InvalidSceneError.

    Source: moveit_core/collision_detection/src/collision_matrix.cpp
    """

    pairs: Mapping[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    defaults: Mapping[str, bool] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        pairs: dict[tuple[str, str], bool] = {}
        for names, allowed in entries(self.pairs, 'pairs', InvalidSceneError):
            pair_names = as_list(names)
            if pair_names is None or len(pair_names) != 2:
                raise InvalidSceneError('a pair of allowed collisions has two names, not '
                                        f'{names!r}')
            value, pair = _entry(pair_names, allowed), sorted_pair(*pair_names)
            if pairs.setdefault(pair, value) != value:
                raise InvalidSceneError(f'the pair {pair} has two entries that differ')
        object.__setattr__(self, 'pairs', MappingProxyType(pairs))
        object.__setattr__(self, 'defaults', MappingProxyType({
            name: _entry([name], allowed)
            for name, allowed in entries(self.defaults, 'defaults', InvalidSceneError)}))

    @classmethod
    def of_robot(cls, robot: Robot) -> 'AllowedCollisions':
        """Return the matrix that allows the pairs that the SRDF disables."""
        return cls(dict.fromkeys(robot.disabled_pairs, True))

    @property
    def names(self) -> frozenset[str]:
        """All names that appear in `pairs` or `defaults`."""
        return frozenset(self.defaults).union(*self.pairs)

    def allowed(self, first: str, second: str) -> bool:
        """Return whether two links or objects may touch; their order does not matter."""
        entry = self.pairs.get(sorted_pair(first, second))
        if entry is not None:
            return entry
        flags = [self.defaults[name] for name in (first, second) if name in self.defaults]
        return bool(flags) and all(flags)

    def updated(self, other: 'AllowedCollisions') -> 'AllowedCollisions':
        """Return this matrix updated with the entries of `other`, which take precedence."""
        return AllowedCollisions({**self.pairs, **other.pairs},
                                 {**self.defaults, **other.defaults})

    def without(self, *names: str) -> 'AllowedCollisions':
        """Return the matrix without the entries of these names."""
        gone = set(names)
        return AllowedCollisions(
            {pair: allowed for pair, allowed in self.pairs.items() if gone.isdisjoint(pair)},
            {name: allowed for name, allowed in self.defaults.items() if name not in gone})

    def __reduce__(self) -> tuple[object, ...]:
        return AllowedCollisions, ({**self.pairs}, {**self.defaults})


def _entry(names: list[object], allowed: object) -> bool:
    """Check the names and the value of an entry; return the value."""
    for name in names:
        text(name, 'a name of the allowed collisions', InvalidSceneError)
    return flag(allowed, 'an entry of the allowed collisions', InvalidSceneError)
