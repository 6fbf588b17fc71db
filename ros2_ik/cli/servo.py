"""`ros2_ik servo`: move the tip of a robot with keys or a gamepad."""

import argparse
from collections import deque
from contextlib import ExitStack
import math
import os
import select
import sys
import termios
import time
import tty
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import add_node_arguments, CommandError, Commands, Exit, positive, warn

if TYPE_CHECKING:
    from sensor_msgs.msg import Joy

    from ros2_ik.cli.node_client import NodeClient

COMMAND_PERIOD = 0.02           # time between two commands [s]
FIRST_HOLD = 0.6        # assumed duration of a key press; terminals repeat a key after 0.5 s [s]
REPEAT_HOLD = 0.2       # assumed duration of a repeated key press [s]
SWITCH_TIMEOUT = 30.0   # time for the response of servo/switch, which may start a process [s]
STALE_JOY_AGE = 0.15    # age of a Joy message above which it is stale; joy publishes at 20 Hz [s]
DEAD_ZONE = 0.1         # deflection of a stick below which it counts as released
ZERO_TWIST = (0.0,) * 6
# key -> direction of the twist: linear x y z, angular x y z
KEYS = {'w': (1, 0, 0, 0, 0, 0), 's': (-1, 0, 0, 0, 0, 0), 'a': (0, 1, 0, 0, 0, 0),
        'd': (0, -1, 0, 0, 0, 0), 'e': (0, 0, 1, 0, 0, 0), 'q': (0, 0, -1, 0, 0, 0),
        'l': (0, 0, 0, 1, 0, 0), 'j': (0, 0, 0, -1, 0, 0), 'i': (0, 0, 0, 0, 1, 0),
        'k': (0, 0, 0, 0, -1, 0), 'u': (0, 0, 0, 0, 0, 1), 'o': (0, 0, 0, 0, 0, -1)}
STICK_AXES = (1, 0, 4, 3)    # indices in Joy.axes for x y (left stick), z and yaw (right stick)

EXAMPLE = """examples:
  ros2_ik servo --tip panda_hand_tcp --speed 0.05
  ros2_ik servo --joy /joy        gamepad; moves only while button --enable is held"""


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'servo', help="move the tip of a running node's robot with keys or a gamepad",
        epilog=EXAMPLE, description="Move the tip of a running node's robot with keys or a "
        'gamepad. x or Ctrl-C ends the command.')
    add_node_arguments(parser)
    parser.add_argument('--tip', default='',
                        help="frame that moves (default: the node's default tip)")
    parser.add_argument('--relative-to', default='', metavar='F',
                        help='frame along whose axes the tip moves (default: the root frame)')
    parser.add_argument('--speed', type=positive, default=0.1, metavar='M/S',
                        help='linear speed of the tip [m/s] (default: %(default)g)')
    parser.add_argument('--turn', type=positive, default=0.4, metavar='RAD/S',
                        help='angular speed of the tip [rad/s] (default: %(default)g)')
    parser.add_argument('--joy', metavar='TOPIC',
                        help='use a gamepad on this topic instead of keys (docs/servo.md)')
    parser.add_argument('--enable', type=int, choices=range(32), default=4, metavar='N',
                        help='number of the button to hold for motion (default: %(default)s)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Switch the servo on, send commands until key x or Ctrl-C, and switch the servo off."""
    from ros2_ik.cli.node_client import interrupts, NodeClient
    from ros2_ik.srv import SwitchServo
    if args.joy is None and not sys.stdin.isatty():
        raise CommandError('keys are read from a terminal, but stdin is not a terminal; for a '
                           'gamepad use --joy /joy')
    with NodeClient(args.node) as client:
        service = client.connect(SwitchServo, 'servo/switch', args.wait)
        answer = client.ask(service, SwitchServo.Request(mode='twist', tip=args.tip),
                            SWITCH_TIMEOUT)
        if not answer.success:
            raise CommandError(answer.message)
        print(answer.message, flush=True)
        # switch the servo off also after an error: otherwise it would keep control of the joints
        try:
            with interrupts() as received_signals, ExitStack() as stack:
                source: Keyboard | Gamepad = (
                    stack.enter_context(Keyboard()) if args.joy is None
                    else Gamepad(client, args.joy, args.enable))
                print(source.text)
                _steer(client, args, source, received_signals)
        finally:
            print()
            client.ask(service, SwitchServo.Request(mode='off'), SWITCH_TIMEOUT)
    return Exit.SUCCESS


def _steer(client: 'NodeClient', args: argparse.Namespace, source: 'Keyboard | Gamepad',
           received_signals: list[int]) -> None:
    """Send commands until key x or an interrupt; raises CommandError if the servo ends."""
    from geometry_msgs.msg import TwistStamped

    from ros2_ik.msg import ServoStatus
    statuses = deque([ServoStatus(mode='twist')], maxlen=1)
    # a lambda, because rclpy inspects the signature of a callback, and deque.append has none
    client.node.create_subscription(ServoStatus, f'{client.name}/servo/status',
                                    lambda message: statuses.append(message), 10)
    publisher = client.node.create_publisher(TwistStamped, f'{client.name}/servo/twist', 1)
    while not received_signals and (signs := source.signs()) is not None:
        message = TwistStamped()
        message.header.stamp = client.node.get_clock().now().to_msg()
        message.header.frame_id = args.relative_to
        for part, speed, values in ((message.twist.linear, args.speed, signs[:3]),
                                    (message.twist.angular, args.turn, signs[3:])):
            part.x, part.y, part.z = (float(speed * value) for value in values)
        publisher.publish(message)
        client.spin_until(lambda: bool(received_signals), COMMAND_PERIOD)
        status = statuses[-1]
        if sys.stdout.isatty():
            print(f'\r\033[K{status.message} (speed: {100 * status.scale:.0f} %)'[:110], end='',
                  flush=True)
        if status.mode == 'off':
            raise CommandError(f'the servo has ended: {status.message}')


class Keyboard:
    """
    Converts keys pressed in a terminal to commands; a context manager.

    Terminals report no key release: a press is assumed to last FIRST_HOLD or REPEAT_HOLD.
    """

    text = ('w s: forward, back   a d: left, right   e q: up, down   i k, j l, u o: turn about '
            'y, x, z\nspace: halt   x: end')

    def __init__(self) -> None:
        self._key, self._until = '', 0.0

    def __enter__(self) -> 'Keyboard':
        self._terminal_mode = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal_mode)

    def signs(self) -> tuple[float, ...] | None:
        """Return the twist (6,) as fractions of full speed, None if x was pressed."""
        # read all keys pressed since the last call: x has precedence, else the last key counts
        now, pressed = time.monotonic(), ''
        while select.select([sys.stdin], [], [], 0)[0] and (read := os.read(0, 64)):
            pressed += read.decode(errors='ignore')
        for key in pressed:
            if key == 'x':
                return None
            repeated = key == self._key and now < self._until
            self._key, self._until = key, now + (REPEAT_HOLD if repeated else FIRST_HOLD)
        return KEYS.get(self._key, ZERO_TWIST) if now < self._until else ZERO_TWIST


class Gamepad:
    """A gamepad on a sensor_msgs/Joy topic."""

    def __init__(self, client: 'NodeClient', topic: str, enable: int) -> None:
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import Joy
        self._enable, self._topic, self._time = enable, topic, -math.inf
        self._message: Any = None
        self.text = f'the arm moves while button {enable} is held; Ctrl-C ends'
        client.node.create_subscription(Joy, topic, self._on_joy, qos_profile_sensor_data)

    def _on_joy(self, message: 'Joy') -> None:
        axes, buttons = len(message.axes), len(message.buttons)
        # check only the first message, to warn once
        if not self._message and (buttons <= self._enable or axes <= max(STICK_AXES)):
            warn(f'{self._topic} has {buttons} buttons and {axes} axes; needed: at least '
                 f'{self._enable + 1} (--enable {self._enable}) and {max(STICK_AXES) + 1}')
        self._message, self._time = message, time.monotonic()

    def signs(self) -> tuple[float, ...]:
        """Return the twist (6,) as fractions of full speed, 0 if the button is up or Joy stale."""
        if time.monotonic() > self._time + STALE_JOY_AGE:
            return ZERO_TWIST
        axes, buttons = self._message.axes, self._message.buttons
        if self._enable >= len(buttons) or not buttons[self._enable]:
            return ZERO_TWIST
        x, y, z, turn = (min(max(axes[k], -1.0), 1.0) if k < len(axes) and math.isfinite(axes[k])
                         and abs(axes[k]) > DEAD_ZONE else 0.0 for k in STICK_AXES)
        return x, y, z, 0.0, 0.0, turn
