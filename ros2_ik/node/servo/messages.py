"""Values that the node and the servo's process exchange through a pipe."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple, TypeAlias

import pinocchio as pin

from ros2_ik.core import Array, Scene
from ros2_ik.node.servo.servo_output import ServoOutput

MODES = ('pose', 'twist', 'joint')
OFF = 'off'
# status message until joint_states and controllers have been discovered
WAITS = 'waits for joint_states and for the controllers'


@dataclass(frozen=True)
class Begin:
    """
    The task of the servo: follow commands of a mode.

    - `q`: current configuration (nq,).
    - `joints`: the n joints that may move.
    - `velocity`, `acceleration`: their limits (n,) [rad/s, m/s; rad/s^2, m/s^2].
    - `outputs`: encoders of the commands, one per controller.
    - `options`: arguments of `collision_checker` for the scene, None without collision checks.
    - `parameters`: values of the node's parameters.
    - `dimensions`: which of x y z rx ry rz the tip follows.
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
    parameters: SimpleNamespace
    dimensions: tuple[bool, ...] = (True,) * 6
    frames: dict[str, tuple[str | None, pin.SE3]] = field(default_factory=dict)


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
