"""Speed scaling of a joint_trajectory_controller, as set by a speed slider."""

import math
import time

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message

READ_PERIOD = 0.05     # between two messages that are read; controllers send up to 1,000/s [s]
MIN_FACTOR = 1e-3      # a smaller factor counts as 0


class SpeedScaling:
    """
    The factor (0 to 1) by which a controller slows its trajectories; 1 until it reports one.

    joint_trajectory_controller reports it since 4.39 (Jazzy) and 5.3 (Kilted). Before, the field
    is missing or 0, so 0 counts only after another value.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self.factor, self._reports, self._read_at, self._node = 1.0, False, -math.inf, node
        self._subscription = node.create_subscription(
            JointTrajectoryControllerState, topic, self._take, qos_profile_sensor_data, raw=True)

    def _take(self, data: bytes) -> None:
        if time.monotonic() < self._read_at + READ_PERIOD:
            return
        self._read_at = time.monotonic()
        message = deserialize_message(data, JointTrajectoryControllerState)
        factor = getattr(message, 'speed_scaling_factor', 0.0)
        if factor >= MIN_FACTOR:
            self.factor, self._reports = min(factor, 1.0), True
        elif self._reports:
            self.factor = 0.0

    def close(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)
