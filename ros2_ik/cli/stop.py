"""`ros2_ik stop`: stop the robot; also `Interrupt`, which turns Ctrl-C into a flag."""

import argparse
import signal
from types import FrameType

from ros2_ik.cli.arguments import add_node_arguments, Commands, Exit

TIMEOUT = 2.0   # time for the response of the node [s]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'stop', help='stop the robot of a running node',
        description='Stop all motions that a running node has started, including those that other '
                    'clients requested.')
    add_node_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Stop the robot and print the node's response; returns the exit code."""
    import rclpy  # noqa: F401  (first: without ROS the error names rclpy)
    from std_srvs.srv import Trigger

    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node) as client:
        service = client.connect(Trigger, 'stop', args.wait)
        response = client.ask(service, Trigger.Request(), TIMEOUT)
    print(response.message)
    return Exit.ANSWERED if response.success else Exit.NO_SOLUTION


class Interrupt:
    """
    Context manager in which Ctrl-C, SIGTERM and SIGHUP set the flag `came`.

    The body must end soon after `came` is True. A KeyboardInterrupt instead of a flag can get lost
    in a destructor, and can end the process before the node has received the stop.
    """

    def __init__(self) -> None:
        self.came = False
        self._handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def __enter__(self) -> 'Interrupt':
        for number, handler in self._handlers.items():
            # ignored signals stay ignored, as in a shell's background job
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._set)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _set(self, number: int, frame: FrameType | None) -> None:
        self.came = True
