"""Values that the node and the servo's process exchange through a pipe."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar, NamedTuple, TypeAlias

from ros2_ik.core import Array, Robot, Scene

MODES = ('pose', 'twist', 'joint')
OFF = 'off'
# status message until joint_states and controllers have been discovered
WAITS = 'waits for joint_states and for the controllers'


class Knot(NamedTuple):
    """Positions and velocities (n,) of joints at a time [ns], in messages on the node's clock."""

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
    n_node_subscriptions: ClassVar[int] = 0     # the node's own subscriptions to `topic`

    @abstractmethod
    def concerns(self, message: object) -> bool:
        """Return whether a command of another client moves any of these joints."""

    @abstractmethod
    def message(self, knots: Sequence[Knot]) -> object:
        """Return the message for recent knots, newest last; a stream uses the newest only."""


@dataclass(frozen=True)
class Begin:
    """
    The task of the servo: follow commands of a mode.

    - `robot`: with the tip as a frame, if the tip is an object or a tool.
    - `q`: current configuration (nq,).
    - `joints`: the n joints of the controllers.
    - `velocity`, `acceleration`: their limits (n,) [rad/s, m/s; rad/s^2, m/s^2].
    - `outputs`: encoders of the commands, one per controller.
    - `options`: arguments of `collision_checker` for the scene, None without collision checks.
    - `parameters`: values of the node's parameters.
    - `dimensions`: which of x y z rx ry rz the tip follows.
    """

    robot: Robot
    mode: str
    tip: str
    joints: tuple[str, ...]
    q: Array
    velocity: Array
    acceleration: Array
    outputs: tuple[ServoOutput, ...]
    scene: Scene
    options: tuple[str, str] | None
    parameters: SimpleNamespace
    dimensions: tuple[bool, ...]


class Played(NamedTuple):
    """
    To the node: the state of a player.

    `unavailable` is the reason why commands would not be received, `broken` the reason why the
    motion was ended; '' if there is none. `rest` are the positions (n,) at which a motion that was
    stopped ends after `seconds`.
    """

    player: int
    unavailable: str
    broken: str
    rest: Array | None = None
    seconds: float = 0.0


class State(NamedTuple):
    """To the node: the state of the servo; `ended` is the reason of its end, or ''."""

    mode: str = OFF
    moving: bool = False
    code: int = 0
    ended: str = ''
    message: str = ''


# to the receivers in the node; None: the servo's process has ended
FromServo: TypeAlias = Played | State | None
