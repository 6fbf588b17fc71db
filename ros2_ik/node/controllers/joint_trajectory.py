"""Adapter to the topic of a joint_trajectory_controller (ros2_controllers)."""

from typing import Any

from action_msgs.msg import GoalStatusArray
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Robot
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.trajectory_controller import (
    TrajectoryController,
    TrajectoryOutput,
)


class JointTrajectoryController(TrajectoryController, kind='joint_trajectory'):
    """
    Sends each motion as one JointTrajectory message.

    This adapter sends no goals, so each goal of the controller's action is another client's. Goals
    are detected on the action's status topic, whose type is not part of control_msgs.
    """

    usual_topic = '{}/joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.context, JointTrajectory, self.topic, 10,
                                      self.on_foreign_command)
        self.watch_goals(f'{self._commands.name.rpartition("/")[0]}/follow_joint_trajectory')

    def _on_goal_states(self, message: GoalStatusArray) -> None:
        super()._on_goal_states(message)
        if self._foreign_goal:
            self.release_to_other_client(self._foreign_goal)

    def unavailable_reason(self) -> str:
        return self.under_way() or self._commands.no_subscriber()

    def servo_output(self, robot: Robot) -> TrajectoryOutput:
        return self.trajectory_output(self._commands.name, robot)

    def send_trajectory(self, message: JointTrajectory) -> None:
        self._commands.publish(message)

    def close(self) -> None:
        super().close()
        self._commands.close()
