"""Topic of a joint_trajectory_controller (ros2_controllers)."""

from typing import Any

from trajectory_msgs.msg import JointTrajectory

from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import register_controller
from ros2_ik.node.controllers.trajectory_controller import TrajectoryController


@register_controller('joint_trajectory')
class JointTrajectoryController(TrajectoryController):
    """Sends each motion as one message."""

    usual_topic = '{}/joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.context, JointTrajectory, self.topic, 10, self.give_way)

    def unavailable_reason(self) -> str:
        return self._commands.unheard()

    def concerns(self, message: JointTrajectory) -> bool:
        return bool(message.points) and self.shares(message.joint_names)

    def send_trajectory(self, message: JointTrajectory) -> None:
        self._commands.publish(message)

    def close(self) -> None:
        self._commands.close()
