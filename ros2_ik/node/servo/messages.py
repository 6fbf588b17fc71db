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
    """Positions and velocities (n,) at `time` [ns] (motion clock; in ServoOutput, node clock)."""

    time: int
    position: Array
    velocity: Array


@dataclass(frozen=True)
class ServoOutput(ABC):
    """
    Encoder of the commands to one controller, pickled for the servo's process.

    `topic` is the full name of the command topic; values in knots are in the order of `joints`.
    """

    topic: str
    joints: tuple[str, ...]
    message_type: ClassVar[type]
    ahead: ClassVar[float] = 0.0    # time by which knots are sent before they are due [s]
    n_node_subscriptions: ClassVar[int] = 0     # the node's own subscriptions to `topic`

    @abstractmethod
    def affects_joints(self, message: object) -> bool:
        """Return whether another client's command affects any of `joints`."""

    @abstractmethod
    def message(self, knots: Sequence[Knot]) -> object:
        """Return the message for knots in order of time; setpoints use only the last knot."""


@dataclass(frozen=True)
class SessionRequest:
    """
    Request to begin a servo session, which follows the commands of one `mode`.

    - `robot`: the robot, with `tip` as an added frame if the tip is a scene frame or a tool.
    - `q`: current configuration (nq,).
    - `joints`: the n joints of the controllers.
    - `velocity`, `acceleration`: limits of `joints` (n,) [rad/s, m/s; rad/s^2, m/s^2].
    - `outputs`: encoders of the commands, one per controller.
    - `options`: arguments `meshes` and `missing` of `collision_checker`; None: no checks.
    - `parameters`: values of the node's parameters.
    - `dimensions`: True for each of x y z rx ry rz in which the tip follows commands.
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


class PlayerState(NamedTuple):
    """
    State of a player, sent to the node.

    `unavailable` is the reason why the controller would not receive commands, or ''. `failure` is
    the reason why the player ended the motion, or ''. A motion that is being stopped comes to rest
    at positions `rest` (n,) after `remaining` [s].
    """

    player: int
    unavailable: str
    failure: str
    rest: Array | None = None
    remaining: float = 0.0


class ServoState(NamedTuple):
    """State of the servo, sent to the node; `ended` is the reason why the session ends, or ''."""

    mode: str = OFF
    moving: bool = False
    code: int = 0
    ended: str = ''
    message: str = ''


# argument of each of `ServoProcess.receivers`; None: the servo's process has ended
FromServo: TypeAlias = PlayerState | ServoState | None
