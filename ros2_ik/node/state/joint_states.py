"""joint_states, merged by joint name."""

from collections.abc import Callable
import math
from typing import Any

from ros2_ik.node.state.reading import Reading

MAX_NAMES = 10_000   # keeps a publisher that invents names from filling the memory


class JointStates:
    """
    The last value of each joint; several publishers may each tell of a part of them.

    `warn` gives whether it let a warning through.
    """

    def __init__(self, warn: Callable[[str], bool]) -> None:
        self._warn = warn
        self._nan: set[str] = set()   # joints of which it was told that they have no number
        self._readings: dict[str, Reading] = {}
        self._velocities: dict[str, float] = {}
        self.newest: Reading | None = None

    def take(self, message: Any) -> None:
        """Take a JointState; NaN means that a joint has no position."""
        names, positions = message.name, message.position
        if len(names) != len(positions):
            if len(positions):   # velocities only are nothing to warn of
                self._warn(f'a joint_states message with {len(names)} names and '
                           f'{len(positions)} positions is ignored')
            return
        if len(self._readings) + len(self._nan) + len(names) > MAX_NAMES and self._too_many(names):
            return
        nan = dict[str, float]()
        _, stamp, received = Reading.of(None, message.header.stamp)
        for name, position in zip(names, positions, strict=True):
            if math.isfinite(position):
                known = self._readings.get(name)
                # who repeats a stamp tells nothing new: its robot may have gone
                came = known.received if known and known.stamp == stamp != 0 else received
                self.newest = self._readings[name] = Reading(position, stamp, came)
            else:
                nan[name] = position
        if nan or self._nan:
            self._tell(nan, names)
        if len(message.velocity) == len(names):
            self._velocities.update(zip(names, message.velocity, strict=True))
        elif self._velocities:
            for name in names:
                self._velocities.pop(name, None)

    def _tell(self, nan: dict[str, float], names: list[str]) -> None:
        """Warn of joints whose numbers are none, once for each until it has one again."""
        self._nan.difference_update(name for name in names if name not in nan)
        new = [f"'{name}' ({nan[name]})" for name in nan if name not in self._nan]
        more = f' and {len(new) - 5} more' if len(new) > 5 else ''
        if new and self._warn(f'joint_states has no finite position for {", ".join(new[:5])}'
                              f'{more}: what it said before, if anything, counts and gets old'):
            self._nan.update(nan)

    def _too_many(self, names: list[str]) -> bool:
        if len(self._readings.keys() | self._nan | set(names)) <= MAX_NAMES:
            return False
        self._warn(f'joint_states has named more than {MAX_NAMES} joints; '
                   'messages with others are ignored')
        return True

    def velocity(self, name: str) -> float | None:
        """Give the last velocity of a joint that was told, or None where that was NaN."""
        velocity = self._velocities.get(name)
        return velocity if velocity is not None and math.isfinite(velocity) else None

    def get(self, name: str) -> Reading | None:
        """Give the last reading of a joint."""
        return self._readings.get(name)
