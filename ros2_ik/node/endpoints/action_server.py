"""The server of an action: services and topics by the names and types that clients look for."""

from collections import deque
from collections.abc import Awaitable, Callable
import math
import time
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus
from action_msgs.srv import CancelGoal
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from rclpy.task import Future

from ros2_ik.node.endpoints.registry import publisher, serve, timer

KEEP = 10.0    # for so long results are kept for who asks late [s]
LISTED = 5     # goals whose result was sent that the status still lists: one message may get lost
UNASKED = 0.1  # so long after its end the status tells of a goal whose result nobody asks for [s],
TOLD = 1.0     # and for so long: thousands of them take 20 ms to send
OPEN = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)


class GoalHandle:
    """A goal that was accepted, `message` is its GoalInfo and where it stands."""

    def __init__(self, server: 'ActionServer', request: Any, stamp: Any) -> None:
        self._server, self.request = server, request.goal
        self.message = GoalStatus(goal_info=GoalInfo(goal_id=request.goal_id, stamp=stamp),
                                  status=GoalStatus.STATUS_ACCEPTED)
        self.answer: Future = Future()   # of the service get_result
        self.ended = math.inf

    @property
    def key(self) -> bytes:
        """Its id."""
        return bytes(self.message.goal_info.goal_id.uuid)

    @property
    def stamp(self) -> int:
        """When it was accepted [ns]."""
        return _nanoseconds(self.message.goal_info.stamp)

    @property
    def is_open(self) -> bool:
        """Whether it goes on, and nobody has cancelled it."""
        return self.message.status in OPEN

    @property
    def is_cancel_requested(self) -> bool:
        """Whether somebody has cancelled it."""
        return bool(self.message.status == GoalStatus.STATUS_CANCELING)

    def set_executing(self) -> None:
        """Tell that it takes its time."""
        if self.message.status == GoalStatus.STATUS_ACCEPTED:
            self.message.status = GoalStatus.STATUS_EXECUTING
            self._server.publish_status()

    def publish_feedback(self, feedback: Any) -> None:
        """Tell how it goes."""
        self._server.publish_feedback(self, feedback)


class ActionServer:
    """
    Accepts goals, runs each in a task of the executor and keeps its result for KEEP seconds.

    `cancel(handle)` is called for a goal that is to end, `execute(handle)` gives its last status
    and its result and must not raise. The server of rclpy publishes the status of all goals of
    the last seconds three times a goal, which takes clients longer to read than a goal to be
    answered. This one lists those that are open or ended a moment ago without their result being
    sent, and tells of the end of one when it was.
    """

    def __init__(self, node: Node, action: Any, name: str, *,
                 cancel: Callable[[GoalHandle], None],
                 execute: Callable[[GoalHandle], Awaitable[tuple[int, Any]]]) -> None:
        self._node, self._impl = node, action.Impl
        self._stop, self._execute = cancel, execute
        self._kept = dict[bytes, GoalHandle]()       # by their ids, as all of these
        self._unsent = dict[bytes, GoalHandle]()     # whose result was not sent
        self._sent = deque[GoalHandle](maxlen=LISTED)
        self._ended = deque[GoalHandle]()
        for kind, end, callback in (
                (self._impl.SendGoalService, 'send_goal', self._take_goal),
                (self._impl.CancelGoalService, 'cancel_goal', self._cancel),
                (self._impl.GetResultService, 'get_result', self._give_result)):
            serve(node, kind, f'{name}/_action/{end}', callback)
        self._feedback = publisher(node, self._impl.FeedbackMessage, f'{name}/_action/feedback')
        self._status = publisher(node, self._impl.GoalStatusMessage, f'{name}/_action/status',
                                 qos_profile_action_status_default)
        self._unasked = timer(node, UNASKED, self.publish_status)
        self._unasked.cancel()
        timer(node, KEEP, self._forget_old)

    def publish_status(self) -> None:
        """Tell where the goals stand."""
        self._unasked.cancel()
        since = time.monotonic() - TOLD
        unsent = (handle for handle in self._unsent.values() if handle.ended > since)
        self._status.publish(self._impl.GoalStatusMessage(status_list=[
            handle.message for handle in (*self._sent, *unsent)]))

    def publish_feedback(self, handle: GoalHandle, feedback: Any) -> None:
        """Tell how a goal goes."""
        self._feedback.publish(self._impl.FeedbackMessage(
            goal_id=handle.message.goal_info.goal_id, feedback=feedback))

    # -- the services ---------------------------------------------------------------------

    def _take_goal(self, request: Any, response: Any) -> Any:
        self._forget_old()
        key = bytes(request.goal_id.uuid)
        response.accepted = key not in self._kept
        if response.accepted:
            response.stamp = self._node.get_clock().now().to_msg()
            handle = GoalHandle(self, request, response.stamp)
            self._kept[key] = self._unsent[key] = handle
            self._sent = deque((each for each in self._sent if each.key != key), LISTED)
            self._node.executor.create_task(self._run, handle)   # when the response was sent
        return response

    async def _run(self, handle: GoalHandle) -> None:
        status, result = await self._execute(handle)
        handle.message.status, handle.ended = status, time.monotonic()
        self._ended.append(handle)
        if self._unasked.is_canceled():   # else those that end later would put it off
            self._unasked.reset()
        handle.answer.set_result(self._impl.GetResultService.Response(
            status=status, result=result))
        self._node.executor.wake()   # who waits for it is a task

    async def _give_result(self, request: Any, response: Any) -> Any:
        handle = self._kept.get(bytes(request.goal_id.uuid))
        if handle is None:
            response.status = GoalStatus.STATUS_UNKNOWN
            return response
        answer = await handle.answer
        if self._unsent.pop(handle.key, None):
            self._sent.append(handle)
            self._node.executor.create_task(self.publish_status)   # when the result was sent
        return answer

    def _cancel(self, request: Any, response: Any) -> Any:
        """Cancel the goal with an id, those up to a time, or, where both are zero, all."""
        key, until = bytes(request.goal_info.goal_id.uuid), _nanoseconds(request.goal_info.stamp)
        named = self._kept.get(key)
        if until or not any(key):
            chosen = [handle for handle in self._unsent.values()
                      if handle is named or not until or handle.stamp <= until]
        else:
            chosen = [named] if named else []
            response.return_code = (CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID if named is None
                                    else CancelGoal.Response.ERROR_NONE if named.is_open
                                    else CancelGoal.Response.ERROR_GOAL_TERMINATED)
        chosen = [handle for handle in chosen if handle.is_open]
        for handle in chosen:
            handle.message.status = GoalStatus.STATUS_CANCELING
            self._stop(handle)
        response.goals_canceling = [handle.message.goal_info for handle in chosen]
        if chosen:
            self.publish_status()
        return response

    def _forget_old(self) -> None:
        while self._ended and self._ended[0].ended < time.monotonic() - KEEP:
            key = self._ended.popleft().key
            del self._kept[key]
            self._unsent.pop(key, None)


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)
