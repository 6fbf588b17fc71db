"""
Asks compute_ik 20 times a second, one request at a time, until a line comes; prints the answers.

As JSON: for each its status and how long it took [s]. Begins when it is given a pose to ask for as
a line of JSON.
"""

import json
import sys
import threading
import time

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import rclpy
from rclpy.executors import SingleThreadedExecutor

from ros2_ik.srv import ComputeIK

PERIOD, PATIENCE = 0.05, 60.0   # [s]


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
        time.sleep(max(0.0, PERIOD - taken))
    print(json.dumps(answers), flush=True)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
