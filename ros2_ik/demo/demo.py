"""A mock robot and a node as child processes, and their clients."""

import json
import os
import sys
import time
from typing import TYPE_CHECKING

from ros2_ik.demo.child import Child, end, SIGTERM

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient
    from ros2_ik.demo.check import Cell

# the node's own defaults are for arms that can hurt somebody
SCALING = {'velocity_scaling': 0.5, 'acceleration_scaling': 0.5}
PATIENCE = 10.0   # for the servo's services [s]


class Failed(Exception):
    """The demo cannot go on; the text says why."""

    code = 1


class BadArgument(Failed):
    """An unknown robot or a wrong scene; the exit code is that of the command."""

    code = 2


class Ended(Exception):
    """A signal asked the demo to end."""


class Demo:
    """
    The demo, from start to end; its methods raise Failed and Ended.

    Slow imports stand where they are needed, so that Ctrl-C works from the start.
    """

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._stopping = False

    def stop(self) -> None:
        """Request the end; can be called from a signal handler."""
        self._stopping = True

    def close(self) -> None:
        """End all children."""
        for name, code in end(self._children).items():
            if code not in (0, -SIGTERM):   # which comes when Ctrl-C had reached it already
                print(f'ros2_ik: {name} ended with exit code {code}', file=sys.stderr)

    def run(self, robot: str, scene: str, once: bool, servo: bool, view: bool) -> int:
        """
        Start robot and node; check their answers `once`, or serve until the end.

        Returns the exit code.
        """
        from ros2_ik.cli.question import BadQuestion
        cell = self._cell(robot, scene)
        self._choose_domain(once)
        if view:
            import viser  # noqa: F401  (first, so that it is named where it is missing)
        self._start(cell, scene, echo=not (once or servo))
        from ros2_ik.demo.check import ask, check_answers, reachable_pose
        from ros2_ik.demo.hints import hints
        try:
            with self._client() as client:
                if once:
                    return 0 if check_answers(client, cell) else 1
                wanted = reachable_pose(cell)
                ask(client, cell, wanted)
                if servo or view:
                    (self._steer if servo else self._serve)(client, cell.tip)
                    return 0
        except BadQuestion as refusal:
            self._check()
            raise Failed(refusal) from None
        print(hints(robot, wanted, scene), flush=True)
        while True:
            self._check()
            time.sleep(0.1)

    def _steer(self, client: 'NodeClient', tip: str) -> None:
        from ros2_ik.cli.servo import steer
        steer(client, tip, '', '', 0.1, 0.4, PATIENCE)

    def _serve(self, client: 'NodeClient', tip: str) -> None:
        from ros2_ik.cli.view import HOST, node_session, PORT, serve
        serve(node_session(client, [tip], None), HOST, PORT, ended=self._is_over)
        self._check()

    def _cell(self, robot: str, scene: str) -> 'Cell':
        from ros2_ik.core import IKError
        from ros2_ik.demo.check import load_cell
        try:
            return load_cell(robot, scene)
        except IKError as error:
            raise BadArgument(error) from None

    def _choose_domain(self, once: bool) -> None:
        """Take an unused ROS domain for one check, else refuse one with a robot or a node."""
        from ros2_ik.demo.domain import current_domain, inhabited, occupant, unused_domain
        if once and not os.environ.get('ROS_DOMAIN_ID'):
            os.environ['ROS_DOMAIN_ID'] = str(unused_domain())
            return
        try:
            domain = current_domain()
        except ValueError as error:
            raise Failed(error) from None
        if os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST' and not inhabited(domain):
            return
        with self._client() as client:
            other = occupant(client)
        if other:
            raise Failed(f'ROS domain {domain} is in use: {other}; end it, or take another '
                         f'domain: ROS_DOMAIN_ID={domain + 1} tools/demo')

    def _client(self) -> 'NodeClient':
        from ros2_ik.cli.node_client import NodeClient
        self._check()
        return NodeClient('/ros2_ik', self._is_over)

    def _start(self, cell: 'Cell', scene: str, echo: bool) -> None:
        from ament_index_python.packages import get_package_prefix, PackageNotFoundError

        from ros2_ik.mock.controlled_groups import node_parameters
        self._check()
        name = cell.shipped.name
        among = f' and the node, scene {scene}' if scene else ' and the node'
        print(f'ros2_ik: starting {name}{among}; the demo moves at half of the velocity and '
              'acceleration limits, the node by itself at a tenth', file=sys.stderr, flush=True)
        try:
            folder = os.path.join(get_package_prefix('ros2_ik'), 'lib', 'ros2_ik')
        except PackageNotFoundError:
            raise Failed('the package is not built: run tools/demo, or colcon build and source '
                         'install/setup.bash') from None
        parameters = node_parameters(cell.shipped, cell.robot) | SCALING
        given = [word for key, value in (parameters | ({'scene': scene} if scene else {})).items()
                 for word in ('-p', f'{key}:={json.dumps(value)}')]
        for program, arguments in (('mock_robot', ['--robot', name]),
                                   ('ik_node', ['--ros-args', *given])):
            command = [sys.executable, os.path.join(folder, program), *arguments]
            self._children.append(Child(program, command, echo))

    def _is_over(self) -> bool:
        """Return whether a signal came or a child has ended."""
        return self._stopping or any(child.dead for child in self._children)

    def _check(self) -> None:
        """Raise Ended after a signal, Failed for a child that has ended."""
        if self._stopping:
            raise Ended
        for child in self._children:
            if child.dead:
                raise Failed(child.exit_report())
