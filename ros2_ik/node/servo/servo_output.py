"""Interface: commands for one controller from the servo's steps."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ros2_ik.core import Array


class Knot(NamedTuple):
    """Positions and velocities (n,) of joints at a time of the node's clock [ns]."""

    time: int
    position: Array
    velocity: Array


@dataclass(frozen=True)
class ServoOutput(ABC):
    """
    Writes the commands for one controller; it goes to another process, by pickle.

    `topic` is its whole name, `joints` are in the order of the knots.
    """

    topic: str
    joints: tuple[str, ...]
    message_type: ClassVar[type]
    ahead: ClassVar[float] = 0.0    # so long before the joints shall be there it is told [s]

    def rest(self, last: Knot) -> Knot:
        """Return where and when the joints come to rest by themselves after the last message."""
        return last

    def concerns(self, message: object) -> bool:
        """Return whether a command of another client is one for these joints."""
        return True

    @abstractmethod
    def message(self, knots: Sequence[Knot]) -> object:
        """Write the newest knots, of which the last one is the newest."""
