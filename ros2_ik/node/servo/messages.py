"""Messages between the node and the servo's process, through a pipe."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import pinocchio as pin

from ros2_ik.core import Array, MotionLimits, Scene
from ros2_ik.node.servo.servo_output import ServoOutput

MODES = ('pose', 'twist', 'joint')
OFF = 'off'
# status message until joint_states and controllers have been discovered
WAITS = 'waits for joint_states and for the controllers'


@dataclass(frozen=True)
class Begin:
    """
    To the servo: follow commands of a mode.

    - `q`: current configuration (nq,).
    - `joints`: the n joints that may move.
    - `velocity`, `acceleration`: their limits (n,) [rad/s, m/s; rad/s^2, m/s^2].
    - `outputs`: encoders of the commands, one per controller.
    - `options`: arguments of `collision_checker` for the scene, None without collision checks.
    - `parameters`: values of the node's parameters by name.
    - `dimensions`: which of x y z rx ry rz the tip follows.
    - `listeners`: number of subscriptions on the topic of each output, without the servo's own.
    - `frames`: parent and pose of the tip's frame, by name, if the tip is an object or a tool.
    """

    mode: str
    tip: str
    joints: tuple[str, ...]
    q: Array
    velocity: Array
    acceleration: Array
    outputs: tuple[ServoOutput, ...]
    scene: Scene
    options: tuple[str, str] | None
    parameters: dict[str, Any] = field(default_factory=dict)
    dimensions: tuple[bool, ...] = (True,) * 6
    listeners: tuple[int, ...] = ()
    frames: dict[str, tuple[str | None, pin.SE3]] = field(default_factory=dict)


class End(NamedTuple):
    """To the servo: brake, and ignore further commands."""

    reason: str


class Pause(NamedTuple):
    """To the servo: brake if `paused`, else follow commands again."""

    paused: bool


class TakeScene(NamedTuple):
    """To the servo: the new scene."""

    scene: Scene


class MoveObjects(NamedTuple):
    """To the servo: poses of world objects in the root frame; the rest of the scene stays."""

    poses: dict[str, pin.SE3]


class TakeBase(NamedTuple):
    """To the servo: the current positions of the base joint."""

    value: Array


class Alive(NamedTuple):
    """Heartbeat to the servo: the node is running, and would pass on a stop."""


class Open(NamedTuple):
    """To the servo: create a player for a controller, with one command per `period` [s]."""

    player: int
    output: ServoOutput
    period: float


class Play(NamedTuple):
    """To the servo: move a controller's joints through k states (k, n) at times (k,) [s]."""

    player: int
    output: ServoOutput
    times: Array
    positions: Array
    velocities: Array
    is_curved: bool


class Brake(NamedTuple):
    """To the servo: brake a controller's joints within `bounds` (lower, upper; (n,) each)."""

    player: int
    limits: MotionLimits
    bounds: tuple[Array, Array]


class Shut(NamedTuple):
    """To the servo: end the motion of a player; if `gone`, destroy the player."""

    player: int
    gone: bool = False


ToServo: TypeAlias = (Alive | Begin | Brake | End | MoveObjects | Open | Pause | Play | Shut
                      | TakeBase | TakeScene)


class Played(NamedTuple):
    """
    To the node: the state of a player.

    `unavailable` is the reason why commands would not be received, `broken` the reason why the
    motion was ended; '' if there is none.
    """

    player: int
    unavailable: str
    broken: str


class Died(NamedTuple):
    """To the receivers in the node: the servo's process has ended."""


class State(NamedTuple):
    """
    To the node: the state of the servo; `ended` is the reason of its end, or ''.

    `steps` and `missed` count all steps of the session, and those more than a period late.
    """

    mode: str = OFF
    moving: bool = False
    code: int = 0
    message: str = ''
    ended: str = ''
    steps: int = 0
    missed: int = 0


FromServo: TypeAlias = Died | Played | State
