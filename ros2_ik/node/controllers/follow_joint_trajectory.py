"""Action of a joint_trajectory_controller (ros2_controllers)."""

from collections import deque
import math
import time
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

from ros2_ik.core import Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.command_topic import ANY, heard_by_others
from ros2_ik.node.controllers.controller import BrakingTask, register_controller
from ros2_ik.node.controllers.trajectory_controller import (
    TrajectoryController,
    TrajectoryOutput,
)

PATIENCE = 0.2   # for the answer to a goal, before the next one is sent [s]
LONGEST = 2.0    # that is waited for an answer as if it would come [s]
LATELY = 5       # answers count for how long the next one may take


@register_controller('follow_joint_trajectory')
class FollowJointTrajectoryController(TrajectoryController):
    """
    Sends each motion as a goal; a new one preempts the one before.

    When a goal of ours ends before its time, the controller holds, is not active any more, or
    does what another client wants: it is released. To brake, a goal is sent, not a cancel, after
    which the controller would hold the measured position: a step. Only a goal that is accepted
    after a stop is cancelled: nothing has moved by it.
    """

    usual_topic = '{}/follow_joint_trajectory'

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        self._goal = FollowJointTrajectory.Goal
        self._client = ActionClient(self.context.node, FollowJointTrajectory, self.topic,
                                    callback_group=self.context.callback_group)
        self._number = 0
        self._running: dict[int, Any] = {}   # handles of goals that have been accepted
        self._waiting: JointTrajectory | None = None   # for an answer to the goal before
        self._asked = -math.inf    # when a goal was sent that is not answered
        self._open: dict[int, float] = {}  # when goals were sent that are not answered
        self._took = deque([0.0], LATELY)  # seconds that answers took
        self._brakes = False       # whether the last goal was to brake
        self._task: BrakingTask | None = None   # of the last stop
        self._disowned: set[int] = set()   # those to be cancelled when they are accepted
        self.watch_goals(self.topic)
        # a trajectory on the controller's topic replaces that of the goal without ending it
        topic = f'{self.topic.rpartition("/")[0]}/joint_trajectory'
        self._others: Any = self.context.node.create_subscription(
            JointTrajectory, topic,
            lambda message: self.give_way(message, self._others.topic_name), ANY,
            callback_group=self.context.callback_group)

    @classmethod
    def unavailable(cls) -> str:
        try:
            import control_msgs.action  # noqa: F401
        except ImportError:
            return ('control_msgs is not installed (apt install ros-$ROS_DISTRO-control-msgs); '
                    'kind joint_trajectory does not need it')
        return ''

    def unavailable_reason(self) -> str:
        if not self._client.server_is_ready():
            return f'there is no action {self.topic}'
        return self.under_way()

    def servo_output(self, robot: Robot) -> TrajectoryOutput:
        # goals are for whole motions: each would end the one before as aborted
        topic = self._others.topic_name
        if not heard_by_others(self.context.node, topic):
            raise RequestError(
                Status.CONTROL_FAILED, f"controller '{self.name}' cannot be told the servo's "
                f'steps: no subscriber on {topic}, where a joint_trajectory_controller takes '
                'them beside its action; kinds that need no action: joint_trajectory, position, '
                'joint_state')
        return self.trajectory_output(topic, robot)

    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a goal; while the one before is not answered, only once that is accepted."""
        if time.monotonic() < self._asked + PATIENCE:
            self._waiting = message
            return
        self._asked, self._brakes = time.monotonic(), message is self._message
        self._number += 1
        number = self._number
        self._open[number] = self.context.now()
        name = uuid4().bytes
        self.own_goals.append(name)
        self._client.send_goal_async(
            self._goal(trajectory=message), goal_uuid=UUID(uuid=list(name))).add_done_callback(
            lambda future: self._answered(number, future.result()))

    def _answered(self, number: int, handle: Any) -> None:
        self._asked = -math.inf
        if sent := self._open.pop(number, 0.0):
            self._took.append(self.context.now() - sent)
        waiting, self._waiting = self._waiting, None
        if not handle.accepted:
            self._disowned.discard(number)
            self.refused = not (self._running or self._open)
            self._release('rejected the trajectory; its log says why')
            for before in self._running.values():   # it must not go on unwatched
                before.cancel_goal_async()
            return
        self._running[number] = handle
        handle.get_result_async().add_done_callback(
            lambda future: self._ended(number, future.result()))
        if self._task and waiting is not None and waiting is self._message:
            # it was to brake, and the joints have gone on, or begun, while it waited
            self.brake_anew(self._task.later, sent=False)
            if number == self._number and not self._task.on_way:
                handle.cancel_goal_async()
        elif waiting is not None:   # which replaces it
            self.send_trajectory(waiting)
        elif number in self._disowned:
            handle.cancel_goal_async()

    def _ended(self, number: int, answer: Any) -> None:
        self._running.pop(number, None)
        self._disowned.discard(number)
        result = answer.result
        if number != self._number:   # replaced by a later one of ours
            return
        if answer.status == GoalStatus.STATUS_CANCELED:
            self._release(f'cancelled the motion: {result.error_string or "no reason given"}')
        elif result.error_code != result.SUCCESSFUL or (
                answer.status != GoalStatus.STATUS_SUCCEEDED):
            self._release(f'gave up: {result.error_string or "no reason given"} '
                          f'({result.error_code})')

    @property
    def brake_unanswered(self) -> bool:
        return self._brakes and bool(self._open)

    @property
    def delay(self) -> float:
        return min(max(*self._took, self.took), LONGEST)

    @property
    def took(self) -> float:
        sent = min(self._open.values(), default=None)
        return self._took[-1] if sent is None else self.context.now() - sent

    def unanswered(self) -> str:
        if self._open:
            return (f"controller '{self.name}' has not said whether it accepts the goal that was "
                    'sent to it')
        if self._disowned & self._running.keys():
            return f"controller '{self.name}' has not ended the goal that was cancelled"
        return ''

    def _brake(self, task: BrakingTask) -> None:
        if not self._running:   # what it may yet take is not to move joints that stand
            self._disowned |= self._open.keys()
        self._task = task
        super()._brake(task)

    def disown(self) -> None:
        self._waiting = None
        self._disowned |= self._open.keys()

    def settle(self) -> None:
        # a controller that was killed answers nothing, and one that is started again knows nothing
        self.disown()
        self._open.clear()
        self._running.clear()

    def _release(self, reason: str) -> None:
        self.released = True
        self.failure = f"controller '{self.name}' {reason}"

    def close(self) -> None:
        super().close()
        self._client.destroy()
        self.context.node.destroy_subscription(self._others)
