"""
Sends compute_ik requests as fast as it can, so many at a time; prints the answers' statuses.

Begins when it is given the poses to ask for as a line of JSON. Imports little, to start quickly.
"""

import json
import sys
import time

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

from ros2_ik.srv import ComputeIK

PATIENCE = 20.0   # without any answer [s]


def main(count: int, at_once: int) -> None:
    rclpy.init()
    node = rclpy.create_node(f'flood_{time.monotonic_ns()}')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    # every client is sent the answers to all clients, and must have room for them
    room = QoSProfile(depth=5000)
    client = node.create_client(ComputeIK, 'ros2_ik/compute_ik', qos_profile=room)
    client.wait_for_service(PATIENCE)
    print('ready', flush=True)
    requests = [ComputeIK.Request(targets=[_target(numbers)])
                for numbers in json.loads(sys.stdin.readline())]
    answers, sent, last = [], 0, time.monotonic()
    while len(answers) < count and time.monotonic() < last + PATIENCE:
        while sent < count and sent - len(answers) < at_once:
            future = client.call_async(requests[sent % len(requests)])
            future.add_done_callback(lambda future: answers.append(future.result().status))
            sent += 1
        before = len(answers)
        executor.spin_once(timeout_sec=0.1)
        last = time.monotonic() if len(answers) > before else last
    print(json.dumps(answers), flush=True)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


def _target(numbers: list[float]) -> PoseStamped:
    x, y, z, *quaternion = numbers
    rotation = Quaternion(**dict(zip('xyzw', quaternion, strict=True)))
    return PoseStamped(pose=Pose(position=Point(x=x, y=y, z=z), orientation=rotation))


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]))
