"""`ros2_ik stop`: stop the robot; and Ctrl-C as a flag."""

import argparse
import signal
from types import FrameType

from ros2_ik.cli.arguments import add_node_arguments, Commands
from ros2_ik.cli.question import Exit

PATIENCE = 2.0   # seconds for the answer
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'stop', help='have a running node stop the robot',
        description='Have a running node stop all motions that it began, whoever asked for them.')
    add_node_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Stop the robot and print the node's answer; returns the exit code."""
    import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)
    from std_srvs.srv import Trigger

    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node) as client:
        service = client.connect(Trigger, 'stop', args.wait)
        response = client.ask(service, Trigger.Request(), PATIENCE)
    print(response.message)
    return Exit.ANSWERED if response.success else Exit.NO_SOLUTION


class Interrupt:
    """
    A context in which Ctrl-C, or another signal to end, sets the flag `came`.

    An exception out of a handler can get lost in a destructor, and one that ends the process can
    take back a stop that the node has not read yet. The body has to end soon after `came`.
    """

    def __init__(self) -> None:
        self.came = False
        self._before = {number: signal.getsignal(number) for number in ENDS}

    def __enter__(self) -> 'Interrupt':
        for number, before in self._before.items():
            if before is not signal.SIG_IGN:   # as for what a script starts with &
                signal.signal(number, self._set)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _set(self, number: int, frame: FrameType | None) -> None:
        self.came = True
