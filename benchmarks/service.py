"""
Measure round trips of ComputeIK and SolveConstrainedIK over DDS between processes.

    tools/run python benchmarks/service.py [--robot panda] [--count 500]

Starts two empty services (std_srvs/Trigger, and one of the type ComputeIK) and the node with a
shipped robot, in three processes, so that none is in the CPU's caches. Prints round trip times:

1. of the empty services: the cost of DDS and rclpy for messages without and with fields;
2. of ComputeIK for random reachable poses, with and without the time of the search; ratios of the
   time without the search to those of the empty services; all three services take turns;
3. of goals of the action for random reachable poses, from sending to the result, and from a
   cancel request for a goal with an unreachable pose to its result;
4. of ComputeIK and the empty service, alternately while the worker processes are idle, and while
   they search for four goals with unreachable poses.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))

from ament_index_python.packages import get_package_prefix
from geometry_msgs.msg import PoseStamped
from goal_round_trips import ANSWER_TIMEOUT, cancel_times, Goals, LONG, wait
import numpy as np
import pinocchio as pin
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger
import yaml

from ros2_ik.core import CollisionChecker, Configuration, Robot, shipped_robots
from ros2_ik.messages.poses import fill_pose
from ros2_ik.srv import ComputeIK

EMPTY_SERVICE = """
import rclpy
from rclpy.signals import SignalHandlerOptions
from ros2_ik.srv import ComputeIK
from std_srvs.srv import Trigger
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)   # SIGTERM ends the process
node = rclpy.create_node('empty_{0}')
node.create_service({0}, 'empty_{0}', lambda request, response: response)
rclpy.spin(node)
"""


class Client:
    """A client with one open call at a time."""

    def __init__(self) -> None:
        self.node = Node(f'client_{os.getpid()}')
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def service(self, kind: type, name: str) -> Callable:
        """Return a function: request -> answer, round trip time [s]."""
        # a deep queue: with Fast DDS the answers to other clients pass through the queue, too
        client = self.node.create_client(kind, name, qos_profile=QoSProfile(depth=1000))
        if not client.wait_for_service(ANSWER_TIMEOUT):
            sys.exit(f'service {name} is not available')

        def call(request: object) -> tuple[object, float]:
            begin = time.perf_counter()
            future = client.call_async(request)
            wait(self.executor, future.done, name)
            return future.result(), time.perf_counter() - begin
        return call


def targets(robot: Robot, tip: str, seed: int, shift: float = 0.0) -> Iterator[PoseStamped]:
    """Yield poses of collision-free configurations, shifted along x by `shift` [m]."""
    generator, checker = np.random.default_rng(seed), CollisionChecker(robot)
    while True:
        q = robot.random_q(generator)
        if checker.collides(q):
            continue
        message = PoseStamped()
        fill_pose(message.pose, pin.SE3(Configuration(robot, q).transform(tip)))
        message.pose.position.x += shift
        yield message


def report(name: str, seconds: Sequence[float]) -> float:
    ms = np.array(seconds) * 1e3
    print(f'{name:52s} median {np.median(ms):6.2f} ms   p95 {np.percentile(ms, 95):6.2f}   '
          f'p99 {np.percentile(ms, 99):6.2f}   max {ms.max():6.2f}', flush=True)
    return float(np.median(ms))


def measure(robot: Robot, tip: str, arguments: argparse.Namespace) -> None:
    client = Client()
    empty = client.service(Trigger, 'empty_Trigger')
    same_type = client.service(ComputeIK, 'empty_ComputeIK')
    compute_ik = client.service(ComputeIK, 'ros2_ik/compute_ik')
    poses = targets(robot, tip, 0)
    rounds = []
    for _ in range(50 + arguments.count):     # the first 50 warm up
        each = ComputeIK.Request(targets=[next(poses)])
        rounds.append((empty(Trigger.Request())[1], same_type(each)[1], compute_ik(each)))
    empties, same, answers = zip(*rounds[50:], strict=True)
    base = report('empty service (Trigger)', empties)
    typed = report('empty service of the type ComputeIK', same)
    report('ComputeIK', [seconds for _, seconds in answers])
    rest = report('ComputeIK without the solve', [s - answer.seconds for answer, s in answers])
    solved = sum(answer.status == 1 for answer, _ in answers)
    print(f'  {rest / base:.2f} times Trigger, {rest / typed:.2f} times the empty service of its '
          f'type; solved {solved} of {len(answers)}')
    goals = Goals(client.node, client.executor)
    far = targets(robot, tip, 2, shift=50.0)
    action(goals, poses, far, arguments)

    def both() -> tuple[float, float]:
        asked = ComputeIK.Request(targets=[next(poses)])
        return empty(Trigger.Request())[1], compute_ik(asked)[1]
    beside_goals(goals, far, arguments.count, both)


def action(goals: Goals, poses: Iterator[PoseStamped], far: Iterator[PoseStamped],
           arguments: argparse.Namespace) -> None:
    """Measure goals one at a time, then cancelled goals."""
    answers = [goals.round_trip(next(poses)) for _ in range(20 + arguments.count)][20:]
    report('SolveConstrainedIK', [seconds for _, seconds in answers])
    solved = sum(answer.result.status == 1 for answer, _ in answers)
    print(f'  solved {solved} of {len(answers)}')
    report('from cancelling a goal to its result',
           cancel_times(goals, far, max(20, arguments.count // 5)))


def beside_goals(goals: Goals, far: Iterator[PoseStamped], count: int, both: Callable) -> None:
    """Measure alternately without and with running goals, since the machine's load varies."""
    idle, loaded = [], []
    for _ in range(max(1, count // 100)):
        idle += [both() for _ in range(100)]
        running = [goals.send(next(far), LONG) for _ in range(4)]
        loaded += [both() for _ in range(100)]
        for handle, _ in running:
            handle.cancel_goal_async()
        goals.wait(lambda running=running: all(result.done() for _, result in running))
    for name, rounds in (('without goals', idle), ('during 4 goals', loaded)):
        report(f'empty service {name}', [seconds for seconds, _ in rounds])
        report(f'ComputeIK {name}', [seconds for _, seconds in rounds])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--count', type=int, default=500)
    arguments = parser.parse_args()
    robot, tip = Robot.load(arguments.robot), shipped_robots()[arguments.robot].tip
    rclpy.init()
    executable = Path(get_package_prefix('ros2_ik')) / 'lib/ros2_ik/ik_node'
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        yaml.safe_dump({'/**': {'ros__parameters': {
            'robot_description': robot.urdf, 'robot_description_semantic': robot.srdf or '',
            'default_tip': tip}}}, file)
        file.flush()
        processes = [subprocess.Popen([sys.executable, *words]) for words in (
            [executable, '--ros-args', '--params-file', file.name],
            *(['-c', EMPTY_SERVICE.format(kind)] for kind in ('Trigger', 'ComputeIK')))]
        try:
            measure(robot, tip, arguments)
        finally:
            for process in processes:
                process.terminate()
                process.wait(5)
            rclpy.shutdown()


if __name__ == '__main__':
    main()
