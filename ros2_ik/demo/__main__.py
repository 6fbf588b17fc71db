"""The demo (tools/demo): starts a mock robot and the node, and stops both on exit."""

import argparse
import json
import os
from pathlib import Path
import shlex
import signal
import subprocess
import sys
import time

from ament_index_python.packages import get_package_prefix
import numpy as np

from ros2_ik.cli.answer import Answer, print_answer
from ros2_ik.cli.arguments import CommandError, Exit
from ros2_ik.cli.command import explanation, run_as_process
from ros2_ik.cli.goal_client import ask_goal
from ros2_ik.cli.goal_file import goal_of
from ros2_ik.cli.node_client import interrupts, NodeClient
from ros2_ik.cli.values import components
from ros2_ik.core import collision_checker, Configuration, load_scene, Robot, Scene, shipped_robots
from ros2_ik.core.internals import default_tip, Defaults
from ros2_ik.mock.controlled_groups import node_parameters

# faster than the node's defaults, which are for real arms
SCALING = {'velocity_scaling': 0.5, 'acceleration_scaling': 0.5}
DOMAIN = os.environ.get('ROS_DOMAIN_ID') or '0'
DISCOVERY_TIME = 2.0    # time for DDS to discover running nodes [s]
END_TIMEOUT = 3.0       # time for each program to end before it is killed [s]
START_TIMEOUT = 120.0   # time for the node to start, and again for its collision geometry [s]
SEARCH_TIMEOUT = 2      # timeout of the IK search, long enough for a busy machine [s]
RANDOM_STATE = 7
TOLERANCE = 1e-4    # maximum error of pose matrix elements [m, 1]: default orientation_tolerance
MAX_DISPLACEMENT = 0.5  # maximum joint change from home to goal [rad, m]; default max_jump: 1
N_CHECKED_STATES = 21     # configurations on the path that are checked for contacts
MAX_TRIES = 1000        # random configurations tried to find a free path


class Cell:
    """A shipped robot in a scene ('': empty), with its own collision checker."""

    def __init__(self, name: str, scene: str) -> None:
        self.robot, self.shipped, self.scene = Robot.load(name), shipped_robots()[name], scene
        self.tip = default_tip(self.robot, '', Defaults())
        home = Configuration(self.robot, self.shipped.home)
        self.checker = collision_checker(
            self.robot, load_scene(scene, self.robot, home) if scene else Scene(self.robot),
            missing='skip')
        self.target = np.array(self._reachable().transform(self.tip))     # T_root_tip (4, 4)

    def _reachable(self) -> Configuration:
        """Return a random configuration whose straight joint path from home has no contact."""
        robot, shipped = self.robot, self.shipped
        names = (robot.group(shipped.group).joint_names if shipped.group
                 else robot.moving_joints(self.tip))
        random, home = np.random.default_rng(RANDOM_STATE), robot.to_q(shipped.home)
        lower = np.maximum(robot.lower, home - MAX_DISPLACEMENT)
        upper = np.minimum(robot.upper, home + MAX_DISPLACEMENT)
        for _ in range(MAX_TRIES):
            goal = robot.to_q(robot.to_joints(random.uniform(lower, upper), names), home)
            # from the goal (t = 1) back to home
            path = [Configuration(robot, home + t * (goal - home))
                    for t in np.linspace(1, 0, N_CHECKED_STATES)]
            if not any(map(self.checker.collides, path)):
                return path[0]
        touching = '; '.join(map(str, self.checker.in_collision(home))) or 'none'
        raise CommandError(f'contact on {MAX_TRIES} random paths from home, and there: {touching}')

    def ask(self, client: NodeClient) -> Answer:
        """Send an IK request for the target when the node is ready; raises CommandError."""
        pose = components(self.target)
        target = {'tip': self.tip, 'xyz': pose['xyz'], 'quat': pose['quat']}
        goal = goal_of({'targets': [target], 'timeout': {'sec': SEARCH_TIMEOUT}})
        return ask_goal(client, goal, START_TIMEOUT)

    def check(self, answer: Answer) -> bool:
        """Print an answer and an independent check of it; return whether the answer is correct."""
        print_answer(answer, self.robot)
        at = Configuration(self.robot, self.shipped.home | answer.values)
        contacts = self.checker.in_collision(at)
        # computed in this process, independently of the node
        print('independent check: ' + ('; '.join(map(str, contacts)) or 'no contacts'))
        inside = np.all((self.robot.lower - 1e-6 <= at.q) & (at.q <= self.robot.upper + 1e-6))
        is_correct = (answer.success and not contacts and inside
                      and np.allclose(at.transform(self.tip), self.target, rtol=0, atol=TOLERANCE))
        print('the answer holds' if is_correct else 'the answer does NOT hold')
        return bool(is_correct)


class Demo:
    """The demo's two programs; `run` raises CommandError, for example if a program ended."""

    def __init__(self, signals: list[int]) -> None:
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._signals = signals    # received signals

    def run(self, args: argparse.Namespace) -> int:
        """Start the mock robot and the node, and send a first request; return the exit code."""
        with NodeClient('/ros2_ik', self.is_over) as client:
            start_time = time.monotonic()
            cell = Cell(args.robot, args.scene)     # while DDS discovers running nodes
            _check_domain(client, start_time + DISCOVERY_TIME)
            self._start(cell)
            answer = cell.ask(client)
            if answer.interrupted:
                return 0
            if args.once:
                return 0 if cell.check(answer) else 1
            if args.view:
                from ros2_ik.cli.view import node_session, PORT, serve
                serve(node_session(client, [cell.tip], None), PORT, ended=self.is_over)
        print(hints(cell), flush=True)
        while not self.is_over():
            time.sleep(0.1)
        raise CommandError(self.ended())

    def _start(self, cell: Cell) -> None:
        name = cell.shipped.name
        print(f'ros2_ik: starting {name} and the node, scene {cell.scene or "empty"}; motions at '
              'half of the limits (a node by itself: a tenth)', file=sys.stderr, flush=True)
        folder = Path(get_package_prefix('ros2_ik'), 'lib', 'ros2_ik')
        parameters = node_parameters(cell.shipped, cell.robot) | SCALING | {'scene': cell.scene}
        given = [word for key, value in parameters.items()
                 for word in ('-p', f'{key}:={json.dumps(value)}')]
        # Block SIGINT in both programs, which inherit the mask: Python would print a traceback if
        # Ctrl-C interrupted its start-up. On Ctrl-C, this process terminates both programs.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        # both programs write to stderr: stdout is for the answer and the hints
        for program, words in (('mock_robot', ['--robot', name]),
                               ('ik_node', ['--ros-args', *given])):
            self._programs[program] = subprocess.Popen(
                [sys.executable, folder / program, *words], stdin=subprocess.DEVNULL,
                stdout=sys.stderr)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def ended(self) -> str:
        """Return the names and exit codes of programs that have ended, or ''."""
        return '; '.join(f'{name} has ended with exit code {child.returncode}'
                         for name, child in self._programs.items() if child.poll() is not None)

    def is_over(self) -> bool:
        """Return whether a signal was received or a program has ended."""
        return bool(self._signals or self.ended())

    def close(self) -> None:
        """Terminate all programs; kill those that still run after END_TIMEOUT."""
        for child in self._programs.values():
            child.terminate()
        for child in self._programs.values():
            try:
                child.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.kill()


def _check_domain(client: NodeClient, deadline: float) -> None:
    """Raise CommandError if the ROS domain already has a robot or a node /ros2_ik."""
    if client.spin_until(lambda: client.node.count_publishers('/robot_description')
                         or client.node.count_services('/ros2_ik/compute_ik'),
                         deadline - time.monotonic()):
        raise CommandError(
            f'ROS domain {DOMAIN} has a robot_description or a node /ros2_ik already: end '
            f'it, or use another domain: ROS_DOMAIN_ID={int(DOMAIN) + 1} tools/demo')


def hints(cell: Cell) -> str:
    """Return example commands for a second terminal, with a reachable pose."""
    ik = f'ROS_DOMAIN_ID={DOMAIN} tools/run ros2_ik'
    pose = components(cell.target)
    words = f'--tip {cell.tip}' + ''.join(
        f' --{key} ' + ' '.join(f'{value:.4f}' for value in pose[key]) for key in ('xyz', 'rpy'))
    around = f'--scene {shlex.quote(cell.scene)} ' if cell.scene else ''
    return (f'{cell.shipped.name} is running: mock robot /mock_robot, IK node /ros2_ik, in ROS '
            f'domain {DOMAIN}.\nTry in a second terminal:\n'
            f'  {ik} call {words}\n  {ik} call {words} --execute\n'
            f'  {ik} solve {cell.shipped.name} {around}{words}\nCtrl-C ends the demo.')


def main() -> int:
    """Run the demo; return the exit code, 0 after Ctrl-C, SIGTERM or SIGHUP."""
    parser = argparse.ArgumentParser(prog='tools/demo', description=__doc__, allow_abbrev=False)
    parser.add_argument('--robot', default='panda', metavar='NAME',
                        help='shipped robot (default: %(default)s)')
    parser.add_argument('--scene', default='', metavar='NAME|PATH',
                        help='a scene (table, shelf, bin, floor) or a YAML file (default: empty)')
    parser.add_argument('--once', action='store_true',
                        help='send one request, print the answer, exit with 0 if it is correct')
    parser.add_argument('--view', action='store_true',
                        help='serve a web page on which goals are dragged and executed')
    args = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with interrupts() as received_signals:
        demo = Demo(received_signals)
        try:
            return demo.run(args)
        except KeyboardInterrupt:
            return 0
        except Exception as error:
            if received_signals:
                return 0
            print(f'ros2_ik: {demo.ended() or explanation(error)}', file=sys.stderr)
            return Exit.COMMAND_ERROR
        finally:
            demo.close()


if __name__ == '__main__':
    sys.exit(run_as_process(main))
