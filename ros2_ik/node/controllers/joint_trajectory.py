"""Topic of a joint_trajectory_controller (ros2_controllers)."""

import math
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import register_controller
from ros2_ik.node.controllers.trajectory_controller import seconds_of, TrajectoryController

ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
STATUSES = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)    # of actions


@register_controller('joint_trajectory')
class JointTrajectoryController(TrajectoryController):
    """
    Sends each motion as one message.

    Goals of the controller's action, by which MoveIt commands, are other clients': their states
    tell of them without control_msgs.
    """

    usual_topic = '{}/joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.context, JointTrajectory, self.topic, 10, self.give_way)
        self._action = f'{self._commands.name.rpartition("/")[0]}/follow_joint_trajectory'
        self._has_goal, self._theirs_until = False, -math.inf
        self._goal_states = self.context.node.create_subscription(
            GoalStatusArray, f'{self._action}/_action/status', self._hear, STATUSES,
            callback_group=self.context.callback_group)

    def give_way(self, message: JointTrajectory) -> None:
        super().give_way(message)
        if self.concerns(message):
            self._theirs_until = self.context.now() + seconds_of(message.points[-1])
        elif not message.points:    # ends what was under way
            self._theirs_until = -math.inf

    def _hear(self, message: GoalStatusArray) -> None:
        self._has_goal = any(goal.status in ACTIVE for goal in message.status_list)
        if self._has_goal:
            self.give_up(self._action)

    def unavailable_reason(self) -> str:
        if self._has_goal and self.context.node.count_publishers(self._goal_states.topic_name):
            return f'nothing was moved: another client has a goal under way on {self._action}'
        # not only while the arm is seen to move: where it turns it stands for a moment
        left = self._theirs_until - self.context.now()
        if left > 0:
            return (f'nothing was moved: a trajectory of another client on {self._commands.name} '
                    f'lasts for {left:.2g} s more')
        return self._commands.unheard()

    def concerns(self, message: JointTrajectory) -> bool:
        return bool(message.points) and self.shares(message.joint_names)

    def send_trajectory(self, message: JointTrajectory) -> None:
        self._commands.publish(message)

    def close(self) -> None:
        self._commands.close()
        self.context.node.destroy_subscription(self._goal_states)
