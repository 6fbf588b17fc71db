"""
Measure the time from dragging an interactive marker to the ghost of the solution.

    tools/run python benchmarks/drag_latency.py [--robot panda] [--scene table] [--seconds 20]

Starts the mock robot, the node and `ros2_ik goals`, with collision checks, and drags the marker as
RViz does: 30 poses a second, on circles of random size and tilt through the arm's pose. Measures
the time from sending a pose to receiving its ghost. A pose has no ghost if a newer pose arrived
before its search.
"""

import argparse
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))

from ament_index_python.packages import get_package_prefix
from geometry_msgs.msg import Pose
import numpy as np
import pinocchio as pin
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import InteractiveMarkerFeedback, MarkerArray
from visualization_msgs.srv import GetInteractiveMarkers

from ros2_ik.messages.poses import fill_pose, read_pose

RATE = 30.0                    # rate of poses [Hz]
ROUND = 3.0                    # duration of a circle [s]
MAX_RADIUS = 0.15              # of a circle [m]
MARKER_TIMEOUT = 60.0          # longest wait for the marker [s]


class Dragger:
    """A client that drags the marker and records when each ghost arrives."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = Node('dragger')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.shown: dict[tuple[float, ...], float] = {}    # key of a pose -> arrival [s]
        self.node.create_subscription(MarkerArray, 'ros2_ik/goals/ghost', self._take, QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        self._feedback = self.node.create_publisher(
            InteractiveMarkerFeedback, 'ros2_ik/goals/feedback', QoSProfile(depth=1))

    def _take(self, array: MarkerArray) -> None:
        text = next(marker for marker in array.markers if marker.ns == 'text')
        self.shown.setdefault(_key(text.pose), time.perf_counter())

    def marker(self) -> tuple[str, pin.SE3]:
        """Wait for the marker; return its name and pose."""
        client = self.node.create_client(GetInteractiveMarkers,
                                         'ros2_ik/goals/get_interactive_markers')
        end = time.perf_counter() + MARKER_TIMEOUT
        while time.perf_counter() < end:
            if client.wait_for_service(0.1):
                future = client.call_async(GetInteractiveMarkers.Request())
                self.executor.spin_until_future_complete(future, MARKER_TIMEOUT)
                if future.done() and (found := future.result().markers):
                    return found[0].name, read_pose(found[0].pose, 'the marker')
            self.executor.spin_once(timeout_sec=0.1)
        return sys.exit(f'no marker received within {MARKER_TIMEOUT} s')

    def drag(self, name: str, target: pin.SE3) -> tuple[float, ...]:
        """Send a pose; return its key."""
        pose = Pose()
        fill_pose(pose, target)
        self._feedback.publish(InteractiveMarkerFeedback(
            client_id='dragger', marker_name=name, pose=pose,
            event_type=InteractiveMarkerFeedback.POSE_UPDATE))
        return _key(pose)

    def until(self, moment: float) -> None:
        while (left := moment - time.perf_counter()) > 0:
            self.executor.spin_once(timeout_sec=left)


def _key(pose: Pose) -> tuple[float, ...]:
    """Return x and y: the text of a ghost is above its marker, at another z."""
    return round(pose.position.x, 9), round(pose.position.y, 9)


def poses(start: pin.SE3, generator: np.random.Generator):
    """Yield poses on circles through the start."""
    while True:
        radius, axis = generator.uniform(0.03, MAX_RADIUS), generator.normal(size=3)
        turn, tilt = pin.exp3(generator.normal(size=3)), generator.uniform(0, 0.3)
        for k in range(int(ROUND * RATE)):
            angle = 2 * np.pi * k / (ROUND * RATE)
            # a circle through the start, in a random plane
            offset = radius * turn @ [np.cos(angle) - 1, np.sin(angle), 0]
            rotation = pin.exp3(tilt * np.sin(angle) * axis / np.linalg.norm(axis))
            yield pin.SE3(start.rotation @ rotation, start.translation + offset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--scene', default='table')
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    folder = Path(get_package_prefix('ros2_ik')) / 'lib/ros2_ik'
    with tempfile.TemporaryFile() as log:
        children = [subprocess.Popen([folder / name, *words], stdout=log, stderr=log)
                    for name, words in (
                        ('mock_robot', ['--robot', options.robot]),
                        ('ik_node', ['--ros-args', '-p', f'scene:={options.scene}']),
                        ('ros2_ik', ['goals', '--wait', '60']))]
        try:
            measure(options)
        finally:
            for child in children:
                child.terminate()
                child.wait()


def measure(options: argparse.Namespace) -> None:
    dragger = Dragger()
    name, start = dragger.marker()
    time.sleep(8)    # for the node to load its compiled loops and the collision geometry
    drags = poses(start, np.random.default_rng(options.seed))
    sent: dict[tuple[float, ...], float] = {}
    begin = time.perf_counter()
    for k in range(int(options.seconds * RATE)):
        dragger.until(begin + k / RATE)
        now = time.perf_counter()
        # of two poses with equal keys, the first counts
        sent.setdefault(dragger.drag(name, next(drags)), now)
    dragger.until(time.perf_counter() + 0.5)
    times = [1e3 * (dragger.shown[key] - then) for key, then in sent.items()
             if key in dragger.shown]
    print(f'{options.robot}, scene {options.scene}: {len(sent)} poses, {len(times)} ghosts; '
          f'from pose to ghost median {np.median(times):.1f} ms, p99 '
          f'{np.percentile(times, 99):.1f} ms, longest {max(times):.1f} ms')


if __name__ == '__main__':
    main()
