"""Messages between the node and the servo's process, through a pipe."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import pinocchio as pin

from ros2_ik.core import Array, MotionLimits, Scene
from ros2_ik.messages.frames import Reference
from ros2_ik.node.servo.servo_output import ServoOutput

MODES = ('pose', 'twist', 'joint')
OFF = 'off'
WAITS = 'waits for joint_states and for the controllers'    # message until both are discovered


@dataclass(frozen=True)
class Begin:
    """
    To the servo: follow commands of a mode from now on.

    `q` (nq,) is where the robot stands. `joints` may move, with `velocity` and `acceleration`
    (n,) at most. `options` are those of `collision_checker` for the scene, None where nothing is
    checked. `parameters` are values of the node's parameters by name. `dimensions` say which of
    x y z rx ry rz the tip follows. `listeners` are how many subscriptions the topic of each output
    has, but for the servo's own. `frames` are added to the robot: that of the tip, if it is an
    object's or a tool's.
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
    """To the servo: come to rest, and ignore further commands."""

    reason: str


class Pause(NamedTuple):
    """To the servo: come to rest, and go on when that is taken back."""

    paused: bool


class TakeScene(NamedTuple):
    """To the servo: from now on this is around the robot."""

    scene: Scene


class TakeBase(NamedTuple):
    """To the servo: the values of the base's joint, as they are now."""

    value: Array


class Alive(NamedTuple):
    """To the servo, several times a second: the node looks after the scene and after stops."""


class TakeFrame(NamedTuple):
    """To the servo: where a frame is in TF now, or why that is not known."""

    frame: str
    found: Reference | LookupError


class AskFrame(NamedTuple):
    """To the node: commands name this frame; send its pose repeatedly for a while."""

    frame: str


class Open(NamedTuple):
    """To the servo: play motions for a controller, one command a `period` [s]."""

    player: int
    output: ServoOutput
    period: float


class Play(NamedTuple):
    """To the servo: bring the joints of a controller through states (k, n) at times (k,) [s]."""

    player: int
    output: ServoOutput
    times: Array
    positions: Array
    velocities: Array
    is_curved: bool


class Brake(NamedTuple):
    """To the servo: brake the joints of a controller, inside `bounds`, lower and upper (n,)."""

    player: int
    limits: MotionLimits
    bounds: tuple[Array, Array]


class Shut(NamedTuple):
    """To the servo: publish nothing more of a motion, or nothing ever if the player is `gone`."""

    player: int
    gone: bool = False


ToServo: TypeAlias = (Alive | Begin | Brake | End | Open | Pause | Play | Shut | TakeBase
                      | TakeFrame | TakeScene)


class Played(NamedTuple):
    """To the node: why no command would be received, and why a motion does not go on, or ''."""

    player: int
    unheard: str
    broken: str


class Died(NamedTuple):
    """To all in the node: the servo's process has ended."""


class Ticks(NamedTuple):
    """Punctuality of the last steps: missed ones, and delays of all [s]."""

    taken: int
    missed: int
    p50: float
    p99: float
    most: float


NO_TICKS = Ticks(0, 0, 0.0, 0.0, 0.0)


class State(NamedTuple):
    """To the node: how the servo stands; `ended` says why it has ended, or is ''."""

    mode: str
    moving: bool
    code: int
    message: str
    ended: str
    ticks: Ticks


FromServo: TypeAlias = AskFrame | Died | Played | State
