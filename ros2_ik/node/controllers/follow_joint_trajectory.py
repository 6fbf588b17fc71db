"""Action of a joint_trajectory_controller (ros2_controllers)."""

from typing import Any

from trajectory_msgs.msg import JointTrajectory

from ros2_ik.node.controllers.controller import register_controller
from ros2_ik.node.controllers.trajectory_controller import TrajectoryController


@register_controller('follow_joint_trajectory')
class FollowJointTrajectoryController(TrajectoryController):
    """Sends each motion as a goal; a new one preempts the one before."""

    usual_topic = '{}/follow_joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        self._goal = FollowJointTrajectory.Goal
        self._client = ActionClient(self.wiring.node, FollowJointTrajectory, self.topic,
                                    callback_group=self.wiring.callback_group)
        self._number = 0

    @classmethod
    def unavailable(cls) -> str:
        try:
            import control_msgs.action  # noqa: F401
        except ImportError:
            return ('control_msgs is not installed (apt install ros-$ROS_DISTRO-control-msgs); '
                    'kind joint_trajectory needs it not')
        return ''

    def deaf(self) -> str:
        if self._client.server_is_ready():
            return ''
        return f'there is no action {self.topic}'

    def send_trajectory(self, message: JointTrajectory) -> None:
        self._number += 1
        number = self._number
        goal = self._goal(trajectory=message)
        self._client.send_goal_async(goal).add_done_callback(
            lambda future: self._answered(number, future.result()))

    def _answered(self, number: int, handle: Any) -> None:
        if not handle.accepted:
            self._fail(number, 'rejected the trajectory; its log says why')
            return
        handle.get_result_async().add_done_callback(
            lambda future: self._ended(number, future.result().result))

    def _ended(self, number: int, result: Any) -> None:
        if result.error_code != result.SUCCESSFUL:
            self._fail(number, f'gave up: {result.error_string or "no reason given"} '
                               f'({result.error_code})')

    def _fail(self, number: int, reason: str) -> None:
        """Take down a failure, unless it is that of a goal that another one has replaced."""
        if number == self._number:
            self.failure = f"controller '{self.name}' {reason}"

    def close(self) -> None:
        self._client.destroy()
