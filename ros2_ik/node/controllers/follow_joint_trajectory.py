"""Adapter to the action of a joint_trajectory_controller (ros2_controllers)."""

import math
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus
import numpy as np
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

from ros2_ik.core import IKError, Motion
from ros2_ik.node.controllers.controller import BrakingLimits, MAX_DELAY
from ros2_ik.node.controllers.trajectory_controller import (
    duration_message,
    JointTrajectoryController,
    PATH_TOLERANCE,
    RECEIVE_DELAY,
)

try:
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance
except ImportError:
    FollowJointTrajectory = None


class FollowJointTrajectoryController(JointTrajectoryController):
    """
    Sends each motion as a goal; the controller starts the motion when it accepts the goal.

    The controller aborts a goal when joints leave the goal's tolerances. If a goal of this node
    ends early, or another client's goal replaces it, this node sends nothing more: the controller
    then holds the position, is inactive, or follows the other client.

    To brake, this node sends another goal, since the controller stops in one step after a cancel.
    This node cancels goals in two cases only: a goal that is accepted after its motion ended,
    failed or was stopped at the start, and a motion's goal if its braking goal is rejected.
    """

    default_topic = '{}/follow_joint_trajectory'
    is_action = True

    def __init__(self, *arguments: Any) -> None:
        if FollowJointTrajectory is None:
            raise IKError('the actions of control_msgs are not installed (apt install '
                          'ros-$ROS_DISTRO-control-msgs); kind joint_trajectory needs no action')
        super().__init__(*arguments)
        self._client = ActionClient(self.context.node, FollowJointTrajectory, self.topic,
                                    callback_group=self.context.callback_group)
        # handles of the current motion's goals that have not ended, by UUID; None until accepted
        self._goals = dict[bytes, ClientGoalHandle | None]()
        # a motion that was stopped before its goal was accepted, and the argument of `stop`
        self._withdrawn: tuple[Motion, BrakingLimits] | None = None
        self._start_delay = 0.0    # time from a goal's acceptance to the start of its motion [s]

    def unavailable_reason(self) -> str:
        if not self._client.server_is_ready():
            return f'there is no action {self.topic}'
        return self.foreign_motion_reason()

    def start(self, motion: Motion, start_delay: float) -> None:
        # forget goals of earlier motions: `_on_response` cancels them if they are accepted later
        self._goals.clear()
        self._withdrawn = None
        super().start(motion, start_delay)
        # `start_time` is inf until the goal is accepted
        self._start_delay, self.start_time = start_delay, math.inf

    def send_trajectory(self, message: JointTrajectory) -> None:
        name, sent_at = uuid4().bytes, self.context.clock.now()
        self._goals[name] = None
        self.own_goals.append(name)
        goal = FollowJointTrajectory.Goal(trajectory=message)
        if not self._braking:
            self._set_tolerances(goal)
        self._client.send_goal_async(
            goal, goal_uuid=UUID(uuid=list(name))).add_done_callback(
            lambda future: self._on_response(name, sent_at, future.result()))

    def _set_tolerances(self, goal: 'FollowJointTrajectory.Goal') -> None:
        """Set the goal tolerances, and path tolerances that allow for the delay of the joints."""
        parameters = self.context.parameters
        goal.goal_tolerance = [JointTolerance(name=joint, position=parameters.goal_tolerance)
                               for joint in self.joints]
        goal.goal_time_tolerance = duration_message(parameters.arrival_timeout)
        if most := parameters.max_tracking_error:
            # a joint that lags by MAX_DELAY is up to speed * MAX_DELAY behind
            fastest = np.abs([point.velocities for point in goal.trajectory.points]).max(axis=0)
            goal.path_tolerance = [
                JointTolerance(name=joint, position=most + MAX_DELAY * speed)
                for joint, speed in zip(self.joints, fastest.tolist(), strict=True)]

    def _on_response(self, name: bytes, sent_at: float, handle: ClientGoalHandle) -> None:
        is_of_motion, withdrawn = name in self._goals, self._withdrawn
        if not handle.accepted:
            if is_of_motion:
                self._on_rejection(name)
            return
        if is_of_motion:
            self._goals[name] = handle
            handle.get_result_async().add_done_callback(
                lambda future: self._on_result(name, future.result()))
        # the motion was stopped before this response, but the joints move: brake below
        brakes = (is_of_motion and withdrawn and self.has_motion
                  and self._left_start(withdrawn[0]))
        # cancel a goal that nothing supervises, except a braking goal after a release
        if not (brakes or is_of_motion and not withdrawn and (self.has_motion or self._braking)):
            handle.cancel_goal_async()
            return
        # the response time of the last goal measures the current delay of the controller
        self.receive_delay = RECEIVE_DELAY + self.context.clock.now() - sent_at
        if withdrawn:
            self._withdrawn = None
            self._begin(withdrawn[0], False, self._start_delay)
            self.stop(withdrawn[1])
        elif math.isinf(self.start_time):
            self.start_time = self.context.clock.now() + self._start_delay

    def _on_rejection(self, name: bytes) -> None:
        del self._goals[name]
        # False for a rejected braking goal, which is sent only after the motion was accepted
        self.rejected = bool(self._withdrawn) or not self._braking
        text = f"controller '{self.name}' rejected the trajectory; see its log"
        # if the braking goal was rejected, the motion's goal would run unsupervised
        for open_handle in filter(None, self._goals.values()):
            open_handle.cancel_goal_async()
            text += '; the motion was cancelled instead of braked, and the arm may still move'
        self.release(text)

    def _left_start(self, motion: Motion) -> bool:
        """Return whether the joints are known to have left the start of a motion."""
        states = self.context.joint_states
        distance = np.abs(states.difference(self.joints, motion.at(0.0).position)).max()
        return bool(distance > PATH_TOLERANCE or states.have_velocities(self.joints)
                    and states.moving_reason(self.joints))

    def _on_result(self, name: bytes,
                   answer: 'FollowJointTrajectory.Impl.GetResultService.Response') -> None:
        # ignore goals of earlier motions; and below, goals that this node cancelled or replaced
        if name not in self._goals:
            return
        del self._goals[name]
        result, status = answer.result, answer.status
        has_succeeded = (status == GoalStatus.STATUS_SUCCEEDED
                         and result.error_code == result.SUCCESSFUL)
        if has_succeeded or self._withdrawn or name != self.own_goals[-1]:
            return
        did = 'cancelled' if status == GoalStatus.STATUS_CANCELED else 'aborted'
        self.release(f"controller '{self.name}' {did} the motion: "
                     f'{result.error_string or "no reason given"} ({result.error_code})')

    def unanswered_reason(self) -> str:
        # not `None in ...`: == between a handle of rclpy and None raises AttributeError
        if any(handle is None for handle in self._goals.values()):
            return f"controller '{self.name}' has not answered the goal request"
        if self._withdrawn and self._goals:
            return f"controller '{self.name}' has not ended the cancelled goal"
        return ''

    def braking_time(self, within: BrakingLimits) -> float:
        return super().braking_time(within) if self.start_time < math.inf else 0.0

    def stop(self, within: BrakingLimits) -> None:
        if self.start_time < math.inf:
            super().stop(within)
        # no goal is known to be accepted: assume that the joints are at the start
        else:
            self._withdrawn = self.motion, within
            self._come_to_rest(self.motion.at(0.0).position, 0.0)

    def close(self) -> None:
        super().close()
        self._client.destroy()
