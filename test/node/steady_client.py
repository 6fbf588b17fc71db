"""
A client in a process of its own, which asks compute_ik 20 times a second, one after the other.

Run as a program, it is given a pose to ask for as a line of JSON, and ends with the next line. It
prints 'ready' with the first answer, and in the end, as JSON, the status of each and how long it
took [s].
"""

from collections.abc import Iterator
from contextlib import contextmanager
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import rclpy
from rclpy.executors import SingleThreadedExecutor

from ros2_ik.srv import ComputeIK

PERIOD, PATIENCE = 0.05, 60.0   # [s]


@contextmanager
def steady_client(domain: int, target: PoseStamped) -> Iterator[Any]:
    """Start one that asks for a pose, and wait for its first answer; gives its process."""
    at, turn = target.pose.position, target.pose.orientation
    with subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}) as process:
        process.stdin.write(json.dumps([at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]) + '\n')
        process.stdin.flush()
        assert process.stdout.readline() == 'ready\n'
        yield process


def main() -> None:
    rclpy.init()
    node = rclpy.create_node(f'steady_{time.monotonic_ns()}')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    client = node.create_client(ComputeIK, 'ros2_ik/compute_ik')
    client.wait_for_service(PATIENCE)
    x, y, z, *quaternion = json.loads(sys.stdin.readline())
    rotation = Quaternion(**dict(zip('xyzw', quaternion, strict=True)))
    target = PoseStamped(pose=Pose(position=Point(x=x, y=y, z=z), orientation=rotation))
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
    answers = []
    while not ended.is_set():
        begin = time.monotonic()
        future = client.call_async(ComputeIK.Request(targets=[target]))
        executor.spin_until_future_complete(future, PATIENCE)
        taken = time.monotonic() - begin
        answers.append((future.result().status if future.done() else 0, taken))
        if len(answers) == 1:
            print('ready', flush=True)
        ended.wait(max(0.0, PERIOD - taken))
    print(json.dumps(answers), flush=True)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
