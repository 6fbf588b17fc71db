"""joint_states, merged by joint name."""

from collections.abc import Callable
import math
from typing import Any

from ros2_ik.node.state.reading import Reading

MAX_NAMES = 10_000   # keeps a publisher that invents names from filling the memory


class JointStates:
    """The last value of each joint; several publishers may each tell of a part of them."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
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
        if len(self._readings) + len(names) > MAX_NAMES and self._too_many(names):
            return
        _, stamp, received = Reading.of(None, message.header.stamp)
        for name, position in zip(names, positions, strict=True):
            if math.isfinite(position):
                known = self._readings.get(name)
                # who repeats a stamp tells nothing new: its robot may have gone
                came = known.received if known and known.stamp == stamp != 0 else received
                self.newest = self._readings[name] = Reading(position, stamp, came)
        if len(message.velocity) == len(names):
            self._velocities.update(zip(names, message.velocity, strict=True))
        elif self._velocities:
            for name in names:
                self._velocities.pop(name, None)

    def _too_many(self, names: list[str]) -> bool:
        if len(self._readings.keys() | set(names)) <= MAX_NAMES:
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
