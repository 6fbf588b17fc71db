"""A mock robot and a node as child processes, and what is done with them."""

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from ros2_ik.demo.child import Child, end, prepare, SIGTERM

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient
    from ros2_ik.core import ShippedRobot


# The node's own defaults are for arms that can hurt somebody.
PATIENCE = 10.0   # for the servo's services [s]
SCALING = {'velocity_scaling': 0.5, 'acceleration_scaling': 0.5}


class Failed(Exception):
    """The demo cannot go on; the text says why."""

    code = 1


class BadArgument(Failed):
    """It was asked for what does not exist; the exit code is that of the command."""

    code = 2


class Ended(Exception):
    """Somebody asked the demo to end."""


class Demo:
    """
    The demo, from start to end; its methods raise Failed and Ended.

    What takes long is imported where it is needed, so that Ctrl-C is heard from the start.
    """

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._stopping = False

    def stop(self) -> None:
        """Ask it to end; can be called from a signal handler."""
        self._stopping = True

    def close(self) -> None:
        """End all children."""
        for name, code in end(self._children).items():
            if code not in (0, -SIGTERM):   # which comes when Ctrl-C had reached it already
                print(f'ros2_ik: {name} ended with exit code {code}', file=sys.stderr)

    def once(self, robot: str, scene: str = '') -> int:
        """Have another process ask one question; returns 0 if the answer holds."""
        from ros2_ik.demo.domain import unused_domain
        shipped = self._shipped(robot, scene)
        if os.environ.get('ROS_DOMAIN_ID'):
            self._check_domain()
        else:
            os.environ['ROS_DOMAIN_ID'] = str(unused_domain())
        self._start(shipped, scene, echo=False)
        command = [sys.executable, '-m', 'ros2_ik.demo.once', robot, scene]
        client = subprocess.Popen(command, preexec_fn=prepare)
        try:
            while client.poll() is None:
                self._check()
                time.sleep(0.05)
        finally:
            client.kill()
        return min(client.wait(), 1)

    def stay(self, robot: str, scene: str = '', servo: bool = False, view: bool = False) -> int:
        """Tell what to try once the node answers, or let keys or a page move the arm."""
        from ros2_ik.cli.question import BadQuestion
        shipped = self._shipped(robot, scene)
        self._check_domain()
        if view:
            import viser  # noqa: F401  (first, so that it is named where it is missing)
        self._start(shipped, scene, echo=not servo)
        from ros2_ik.demo.first_question import ask
        from ros2_ik.demo.hints import hints
        try:
            with self._client() as client:
                first = ask(client, shipped, scene)
                if servo:
                    from ros2_ik.cli.servo import steer
                    steer(client, first.wanted.tip, '', '', 0.1, 0.4, PATIENCE)
                    return 0
                if view:
                    from ros2_ik.cli.view import HOST, node_session, PORT, serve
                    serve(node_session(client, [first.wanted.tip], None), HOST, PORT,
                          ended=lambda: self._stopping or any(
                              child.dead for child in self._children))
                    self._check()
                    return 0
        except BadQuestion as refusal:
            self._check()
            raise Failed(refusal) from None
        print(hints(robot, first.wanted, scene), flush=True)
        while True:
            self._check()
            time.sleep(0.1)

    def _shipped(self, name: str, scene: str) -> 'ShippedRobot':
        from ros2_ik.core import IKError, Robot, shipped_robots, UnknownRobotError
        from ros2_ik.demo.surroundings import surroundings
        try:
            if name not in shipped_robots():
                raise UnknownRobotError(name, tuple(shipped_robots()))
            shipped = shipped_robots()[name]
            surroundings(Robot.load(shipped), shipped, scene)
        except IKError as error:
            raise BadArgument(error) from None
        return shipped

    def _check_domain(self) -> None:
        """Refuse to get mixed up with a robot or a node that is already there."""
        from ros2_ik.demo.domain import current_domain, inhabited, occupant
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
        return NodeClient('/ros2_ik', lambda: self._stopping
                          or any(child.dead for child in self._children))

    def _start(self, robot: 'ShippedRobot', scene: str, echo: bool) -> None:
        from ament_index_python.packages import get_package_prefix, PackageNotFoundError

        from ros2_ik.core import Robot
        from ros2_ik.mock.controlled_groups import node_parameters
        self._check()
        among = f' and the node, scene {scene}' if scene else ' and the node'
        print(f'ros2_ik: starting {robot.name}{among}; the demo moves at half of the velocity and '
              'acceleration limits, the node by itself at a tenth', file=sys.stderr)
        try:
            folder = os.path.join(get_package_prefix('ros2_ik'), 'lib', 'ros2_ik')
        except PackageNotFoundError:
            raise Failed('the package is not built: run tools/demo, or colcon build and source '
                         'install/setup.bash') from None
        parameters = (node_parameters(robot, Robot.load(robot)) | SCALING
                      | ({'scene': scene} if scene else {}))
        given = [word for name, value in parameters.items()
                 for word in ('-p', f'{name}:={json.dumps(value)}')]
        for name, arguments in (('mock_robot', ['--robot', robot.name]),
                                ('ik_node', ['--ros-args', *given])):
            command = [sys.executable, os.path.join(folder, name), *arguments]
            self._children.append(Child(name, command, echo))

    def _check(self) -> None:
        """Raise when somebody asked for the end, or a child came to one."""
        if self._stopping:
            raise Ended
        for child in self._children:
            if child.dead:
                raise Failed(child.exit_report())
