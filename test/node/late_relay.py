"""
Relay that delays joint_states, and drops some of them.

Parameters, which may change at any time: `delay` [s], and `drop_rate`, the fraction of messages
that is dropped.
"""

from collections import deque
import random

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

PERIOD = 0.002   # between two checks for due messages [s]


class LateRelay(Node):
    """Republishes `joint_states` late as `late_joint_states`."""

    def __init__(self) -> None:
        super().__init__('late_relay')
        for name in ('delay', 'drop_rate'):
            self.declare_parameter(name, 0.0)
        self._random = random.Random(1)
        self._due: deque[tuple[int, JointState]] = deque()
        self._publisher = self.create_publisher(JointState, 'late_joint_states', 10)
        self.create_subscription(JointState, 'joint_states', self._receive, QoSProfile(depth=100))
        self.create_timer(PERIOD, self._publish_due)

    def _receive(self, message: JointState) -> None:
        if self._random.random() < self.get_parameter('drop_rate').value:
            return
        delay = int(self.get_parameter('delay').value * 1e9)
        self._due.append((self.get_clock().now().nanoseconds + delay, message))

    def _publish_due(self) -> None:
        now = self.get_clock().now().nanoseconds
        while self._due and self._due[0][0] <= now:
            self._publisher.publish(self._due.popleft()[1])


if __name__ == '__main__':
    rclpy.init()
    try:
        rclpy.spin(LateRelay())
    except ExternalShutdownException:
        pass   # SIGTERM
