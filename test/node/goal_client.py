"""
Sends goals to solve_constrained_ik; prints a line for what happens to them.

    goal_client.py COUNT TIMEOUT [CANCEL]

So many goals for a pose out of reach are sent at once, each with that timeout [s]. With CANCEL
each is cancelled at a random time within so many seconds. Prints the states of goals and statuses
of results as a line of JSON.
"""

import json
import random
import sys
import time

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

from ros2_ik.action import SolveConstrainedIK

PATIENCE = 60.0   # for all of it [s]
AT_ONCE = 40      # sent and not yet accepted


class Sender:
    """Goals on their way, and what came of them."""

    def __init__(self, client: ActionClient, timeout: float, cancel: float) -> None:
        self._client, self._cancel = client, cancel
        pose = Pose(position=Point(x=5.0), orientation=Quaternion(w=1.0))
        self._goal = SolveConstrainedIK.Goal(
            targets=[PoseStamped(pose=pose)],
            timeout=Duration(sec=int(timeout), nanosec=int(timeout % 1 * 1e9)))
        self._due: list[tuple[float, object]] = []
        self.sent = self.accepted = 0
        self.answers: list[tuple[int, int]] = []

    def send(self) -> None:
        self._client.send_goal_async(self._goal).add_done_callback(self._on_accepted)
        self.sent += 1

    def _on_accepted(self, future: object) -> None:
        handle = future.result()
        self.accepted += 1
        if not handle.accepted:
            self.answers.append((-1, 0))
            return
        handle.get_result_async().add_done_callback(self._on_result)
        if self._cancel:
            self._due.append((time.monotonic() + random.uniform(0, self._cancel), handle))

    def _on_result(self, future: object) -> None:
        answer = future.result()
        self.answers.append((answer.status, answer.result.status))

    def cancel_due(self) -> None:
        now = time.monotonic()
        for entry in [entry for entry in self._due if entry[0] <= now]:
            self._due.remove(entry)
            entry[1].cancel_goal_async()


def main(count: int, timeout: float, cancel: float) -> None:
    rclpy.init()
    node = rclpy.create_node(f'goals_{time.monotonic_ns()}')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    room = QoSProfile(depth=5000)   # every client is sent the answers to all
    client = ActionClient(node, SolveConstrainedIK, 'ros2_ik/solve_constrained_ik',
                          goal_service_qos_profile=room, result_service_qos_profile=room,
                          cancel_service_qos_profile=room, feedback_sub_qos_profile=room)
    client.wait_for_server(PATIENCE)
    print('ready', flush=True)
    sender, end = Sender(client, timeout, cancel), time.monotonic() + PATIENCE
    while len(sender.answers) < count and time.monotonic() < end:
        if sender.sent < count and sender.sent - sender.accepted < AT_ONCE:
            sender.send()
        sender.cancel_due()
        executor.spin_once(timeout_sec=0.0 if sender.sent < count else 0.02)
    print(json.dumps(sender.answers), flush=True)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
