"""Interface of the encoders that convert steps of the servo to a controller's commands."""

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
    Encoder of the commands to one controller, pickled for the servo's process.

    `topic` is the full name of the command topic, `joints` the order of positions in knots.
    """

    topic: str
    joints: tuple[str, ...]
    message_type: ClassVar[type]
    ahead: ClassVar[float] = 0.0    # time by which knots are sent before they are due [s]
    n_node_subscriptions: ClassVar[int] = 0     # of the node itself to the topic

    @property
    def state_topic(self) -> str:
        """Return the topic of a controller that reports its speed scaling, or ''."""
        return ''

    def rest(self, last: Knot) -> Knot:
        """Return the knot at which the joints come to rest if no further message arrives."""
        return last

    def concerns(self, message: object) -> bool:
        """Return whether a command of another client moves any of these joints."""
        return True

    @abstractmethod
    def message(self, knots: Sequence[Knot]) -> object:
        """Return the message for recent knots, newest last."""
