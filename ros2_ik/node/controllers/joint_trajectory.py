"""Topic of a joint_trajectory_controller (ros2_controllers)."""

from typing import Any

from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.node.controllers.controller import register_controller, unheard
from ros2_ik.node.controllers.trajectory_controller import TrajectoryController


@register_controller('joint_trajectory')
class JointTrajectoryController(TrajectoryController):
    """Sends each motion as one message."""

    usual_topic = '{}/joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # reliable and volatile: matches whatever the controller's subscription asks for
        self._publisher = self.wiring.node.create_publisher(JointTrajectory, self.topic,
                                                            QoSProfile(depth=10))

    def deaf(self) -> str:
        return unheard(self._publisher)

    def send_trajectory(self, message: JointTrajectory) -> None:
        self._publisher.publish(message)

    def close(self) -> None:
        self.wiring.node.destroy_publisher(self._publisher)
