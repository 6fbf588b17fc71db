"""Topic of a joint_trajectory_controller (ros2_controllers)."""

from typing import Any

from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Motion
from ros2_ik.node.controllers.controller import Controller, register_controller, unheard
from ros2_ik.node.controllers.trajectory_message import trajectory_message


@register_controller('joint_trajectory')
class JointTrajectoryController(Controller):
    """Sends each motion as one message; a new one replaces the one before."""

    usual_topic = '{}/joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # reliable and volatile: matches whatever the controller's subscription asks for
        self._publisher = self.wiring.node.create_publisher(JointTrajectory, self.topic,
                                                            QoSProfile(depth=10))

    def deaf(self) -> str:
        return unheard(self._publisher)

    def send(self, motion: Motion) -> None:
        self._publisher.publish(trajectory_message(motion))

    def close(self) -> None:
        self.wiring.node.destroy_publisher(self._publisher)
