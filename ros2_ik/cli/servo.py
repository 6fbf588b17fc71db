"""`ros2_ik servo`: move the tip of a robot by keys, or by a gamepad."""

import argparse
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import math
import os
import select
import sys
import time
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import add_node_arguments, positive
from ros2_ik.cli.question import BadQuestion, Exit
from ros2_ik.cli.stop import Interrupt

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient

PERIOD = 0.02    # between two commands [s]
HELD = 0.6       # so long a key counts: terminals repeat one that is held after half a second [s]
REPEATED = 0.2   # and so long one that is repeated [s]
ANSWER = 30.0    # for the switch: the servo's process has to start [s]
SILENT = 0.15    # a gamepad that says nothing for so long is gone: joy tells 20 times a second [s]
DEAD = 0.1       # of a stick that is let go
# linear x y z, angular x y z
KEYS = {'w': (1, 0, 0, 0, 0, 0), 's': (-1, 0, 0, 0, 0, 0), 'a': (0, 1, 0, 0, 0, 0),
        'd': (0, -1, 0, 0, 0, 0), 'e': (0, 0, 1, 0, 0, 0), 'q': (0, 0, -1, 0, 0, 0),
        'l': (0, 0, 0, 1, 0, 0), 'j': (0, 0, 0, -1, 0, 0), 'i': (0, 0, 0, 0, 1, 0),
        'k': (0, 0, 0, 0, -1, 0), 'u': (0, 0, 0, 0, 0, 1), 'o': (0, 0, 0, 0, 0, -1)}
HELP = ('w s: forward, back   a d: left, right   e q: up, down   i k, j l, u o: turn about y, x, '
        'z\n+ -: faster, slower   f: axes of --tip or of --frame   space: halt   x: end')
# axes of a gamepad as joy tells them: left stick, right stick
STICKS = (1, 0, 4, 3)

EXAMPLE = """examples:
  ros2_ik servo
  ros2_ik servo --tip panda_hand_tcp --speed 0.05
  ros2_ik servo --joy /joy        a gamepad: left stick x y, right stick z and turn about z;
                                  only while button --enable is held"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'servo', help='move the tip of a running robot by keys or a gamepad', epilog=EXAMPLE,
        description='Move the tip of the robot of a running node by keys or a gamepad, until x '
                    'or Ctrl-C.')
    add_node_arguments(parser)
    parser.add_argument('--tip', default='', help="frame that moves (default: the node's)")
    parser.add_argument('--group', default='', help="whose joints move (default: the node's)")
    parser.add_argument('--frame', default='', help='along whose axes (default: the root frame)')
    parser.add_argument('--speed', type=positive, default=0.1, metavar='M/S',
                        help='of the tip [m/s] (default: %(default)g)')
    parser.add_argument('--turn', type=positive, default=0.4, metavar='RAD/S',
                        help='of the tip [rad/s] (default: %(default)g)')
    parser.add_argument('--joy', metavar='TOPIC', help='a gamepad on this topic, not keys')
    parser.add_argument('--enable', type=int, default=4, metavar='N',
                        help='button that must be held (default: %(default)s)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Switch the servo on, send commands until the end, and switch it off."""
    import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)

    from ros2_ik.cli.node_client import NodeClient
    if not args.joy and not sys.stdin.isatty():
        raise BadQuestion('keys are read from a terminal, and stdin is none; for a gamepad say '
                          '--joy /joy')
    with NodeClient(args.node) as client:
        steer(client, args.tip, args.group, args.frame, args.speed, args.turn, args.wait,
              Gamepad(client, args.joy, args.enable) if args.joy else None)
    return Exit.ANSWERED


def steer(client: 'NodeClient', tip: str, group: str, frame: str, speed: float, turn: float,
          wait: float, gamepad: 'Gamepad | None' = None) -> None:
    """Move the tip by keys, or by a gamepad; raises BadQuestion when the node does not."""
    from geometry_msgs.msg import TwistStamped

    from ros2_ik.msg import ServoStatus
    from ros2_ik.srv import SwitchServo
    service = client.connect(SwitchServo, 'servo/switch', wait)
    answer = client.ask(service, SwitchServo.Request(mode='twist', tip=tip, group=group), ANSWER)
    if not answer.success:
        raise BadQuestion(answer.message)
    print(answer.message, flush=True)
    said = deque[Any](maxlen=1)
    try:
        client.node.create_subscription(ServoStatus, f'{client.name}/servo/status',
                                        lambda message: said.append(message), 10)
        publisher = client.node.create_publisher(TwistStamped, f'{client.name}/servo/twist', 1)
        with Interrupt() as interrupt, keys() as pressed:
            print(HELP if gamepad is None else gamepad.text)
            held, until, factor, own_axes = '', 0.0, 1.0, False
            while not interrupt.came:
                client.spin_until(lambda: interrupt.came, PERIOD)
                for key in pressed():
                    now = time.monotonic()
                    if key == 'x':
                        return
                    if key in '+-':
                        factor = min(max(factor * (1.25 if key == '+' else 0.8), 0.05), 4.0)
                    elif key == 'f' and tip:
                        own_axes = not own_axes
                    else:
                        until = now + (REPEATED if key == held and now < until else HELD)
                        held = key if key in KEYS else ''
                signs = gamepad.signs() if gamepad else (
                    KEYS[held] if held and time.monotonic() < until else (0.0,) * 6)
                message = TwistStamped()
                message.header.stamp = client.node.get_clock().now().to_msg()
                message.header.frame_id = tip if own_axes else frame
                _fill(message.twist, signs, factor * speed, factor * turn)
                publisher.publish(message)
                _show(said, factor * speed, any(signs))
                if said and said[-1].mode == 'off':
                    raise BadQuestion(f'the servo has ended: {said[-1].message}')
    finally:
        print()
        client.ask(service, SwitchServo.Request(mode='off'), ANSWER)


def _fill(twist: Any, signs: Sequence[float], speed: float, turn: float) -> None:
    linear, angular = twist.linear, twist.angular
    linear.x, linear.y, linear.z = (speed * sign for sign in signs[:3])
    angular.x, angular.y, angular.z = (turn * sign for sign in signs[3:])


def _show(said: deque[Any], speed: float, moves: bool) -> None:
    """Keep one line up to date; where something is commanded, with the part that is used."""
    text = said[-1].message if said else '...'
    if said and moves:
        text += f' ({100 * said[-1].scale:.0f} %)'
    if sys.stdout.isatty():
        print(f'\r\033[K{speed:.3g} m/s: {text}'[:110], end='', flush=True)


@contextmanager
def keys() -> Iterator[Any]:
    """Give a function that returns the keys pressed since it was called last."""
    if not sys.stdin.isatty():
        yield tuple
        return
    import termios
    import tty
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def pressed() -> str:
        found = ''
        while select.select([number], [], [], 0)[0]:
            read = os.read(number, 64).decode(errors='ignore')
            if not read:
                break
            found += read
        return found
    tty.setcbreak(number)
    try:
        yield pressed
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


class Gamepad:
    """A gamepad on a sensor_msgs/Joy topic."""

    def __init__(self, client: 'NodeClient', topic: str, enable: int) -> None:
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import Joy
        self._enable, self._heard = enable, -math.inf
        self._message: Any = None
        self.text = f'the arm moves while button {enable} is held; Ctrl-C ends'
        client.node.create_subscription(Joy, topic, self._take, qos_profile_sensor_data)

    def _take(self, message: Any) -> None:
        self._message, self._heard = message, time.monotonic()

    def signs(self) -> tuple[float, ...]:
        """Return x y z and the turn about z as parts of full speed, 0 unless enabled."""
        if time.monotonic() > self._heard + SILENT:
            return (0.0,) * 6
        axes, buttons = self._message.axes, self._message.buttons
        if self._enable >= len(buttons) or not buttons[self._enable]:
            return (0.0,) * 6
        x, y, z, turn = (min(max(axes[k], -1.0), 1.0) if k < len(axes) and math.isfinite(axes[k])
                         and abs(axes[k]) > DEAD else 0.0 for k in STICKS)
        return x, y, z, 0.0, 0.0, turn
