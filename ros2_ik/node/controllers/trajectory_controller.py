"""Commands and other clients of a joint_trajectory_controller (ros2_controllers)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Robot
from ros2_ik.node.controllers.controller import Controller, ControllerContext
from ros2_ik.node.controllers.motion_limits import acceleration_limits, position_bounds
from ros2_ik.node.controllers.trajectories import duration_message, seconds_of, SHORTEST
from ros2_ik.node.servo.servo_output import Knot, ServoOutput

STATUS = '/_action/status'    # topic of an action
STATUSES = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
OWN = 100      # goals of this node: more than a controller tells of at once


@dataclass(frozen=True)
class TrajectoryOutput(ServoOutput):
    """
    The steps of just now and of the next moment, by their times: messages overlap.

    Nothing depends on when a controller begins with one. `deceleration` (n,) brings the joints
    to rest after the newest step, should nothing more come; `lower` and `upper` (n,) bound that.
    """

    deceleration: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    message_type = JointTrajectory
    ahead = 0.06

    def concerns(self, message: JointTrajectory) -> bool:
        # one without points ends what is under way
        return not message.points or not set(self.joints).isdisjoint(message.joint_names)

    def message(self, knots: Sequence[Knot]) -> JointTrajectory:
        message, begin = JointTrajectory(joint_names=list(self.joints)), knots[0].time
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 10**9)
        message.points = [JointTrajectoryPoint(
            positions=knot.position.tolist(), velocities=knot.velocity.tolist(),
            time_from_start=duration_message((knot.time - begin) * 1e-9))
            for knot in (*knots, self.rest(knots[-1]))]
        return message

    def rest(self, last: Knot) -> Knot:
        seconds = max(float((np.abs(last.velocity) / self.deceleration).max()), SHORTEST)
        end = np.clip(last.position + last.velocity * (seconds / 2), self.lower, self.upper)
        return Knot(last.time + round(seconds * 1e9), end, np.zeros(len(end)))


class TrajectoryController(Controller):
    """Has the right of way of other clients' trajectories and goals."""

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        super().__init__(name, joints, topic, context)
        self.own_goals = deque[bytes](maxlen=OWN)   # their names, at the controller's action
        self._their_goal = ''            # where another client has one under way
        self._theirs_until = -math.inf   # a trajectory of another client lasts [s]
        self._goal_states: Any = None

    def watch_goals(self, action: str) -> None:
        """Subscribe to the states of goals of the controller's action; needs no control_msgs."""
        self._goal_states = self.context.node.create_subscription(
            GoalStatusArray, f'{action}{STATUS}', self._hear_goals, STATUSES,
            callback_group=self.context.callback_group)

    def _hear_goals(self, message: GoalStatusArray) -> None:
        theirs = any(goal.status in ACTIVE
                     and goal.goal_info.goal_id.uuid.tobytes() not in self.own_goals
                     for goal in message.status_list)
        self._their_goal = self._goal_states.topic_name.removesuffix(STATUS) if theirs else ''

    def under_way(self) -> str:
        """Return what another client has under way, so that no motion may begin, or ''."""
        if self.their_goal:
            return f'nothing was moved: another client has a goal under way on {self.their_goal}'
        # not only while the arm is seen to move: where it turns it stands for a moment
        left = self._theirs_until - self.context.now()
        if left > 0:
            return (f"nothing was moved: a trajectory of another client for controller "
                    f"'{self.name}' lasts for {left:.2g} s more")
        return ''

    @property
    def their_goal(self) -> str:
        present = self._their_goal and self.context.node.count_publishers(
            self._goal_states.topic_name)
        return self._their_goal if present else ''

    def trajectory_output(self, topic: str, robot: Robot) -> TrajectoryOutput:
        """Return how the servo's steps are told on a topic of trajectories."""
        parameters = self.context.parameters
        limits = (acceleration_limits(self.joints, parameters)
                  * parameters.servo_acceleration_scaling, *position_bounds(robot, self.joints))
        return TrajectoryOutput(topic, self.joints,
                                *(tuple(numbers.tolist()) for numbers in limits))

    def on_foreign_command(self, message: JointTrajectory, topic: str) -> None:
        """Give way to another client's trajectory for these joints."""
        if not message.points:   # ends what was under way
            self._theirs_until = -math.inf
        elif self.shares(message.joint_names):
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            begins = self.context.clock.of(stamp) if stamp else self.context.now()
            self._theirs_until = begins + seconds_of(message.points[-1])
            self.give_way(topic)

    def close(self) -> None:
        self.context.node.destroy_subscription(self._goal_states)
