"""Client of the action SolveConstrainedIK that measures round trip times of goals."""

from collections.abc import Callable, Iterator
import sys
import time
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile

from ros2_ik.action import SolveConstrainedIK

ANSWER_TIMEOUT = 20.0      # longest wait for the server or an answer [s]
LONG = Duration(sec=10)    # timeout of a goal that is cancelled earlier


def wait(executor: SingleThreadedExecutor, condition: Callable[[], Any], name: str) -> None:
    """Spin until a condition holds; exit after ANSWER_TIMEOUT."""
    end = time.perf_counter() + ANSWER_TIMEOUT
    while not condition():
        executor.spin_once(timeout_sec=1)
        if time.perf_counter() > end:
            sys.exit(f'no answer from {name} within {ANSWER_TIMEOUT} s')


class Goals:
    """A client of the action."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor) -> None:
        self._executor, queue = executor, QoSProfile(depth=5000)
        self._client = ActionClient(
            node, SolveConstrainedIK, 'ros2_ik/solve_constrained_ik',
            goal_service_qos_profile=queue, result_service_qos_profile=queue,
            cancel_service_qos_profile=queue)
        if not self._client.wait_for_server(ANSWER_TIMEOUT):
            sys.exit('no server for action solve_constrained_ik')

    def wait(self, condition: Callable[[], Any]) -> None:
        wait(self._executor, condition, 'solve_constrained_ik')

    def send(self, target: PoseStamped, timeout: Duration | None = None) -> Any:
        """Send a goal; return its handle and the future of its result."""
        goal = SolveConstrainedIK.Goal(targets=[target], timeout=timeout or Duration())
        sent = self._client.send_goal_async(goal)
        self.wait(sent.done)
        return sent.result(), sent.result().get_result_async()

    def round_trip(self, target: PoseStamped) -> tuple[Any, float]:
        """Return the result of a goal and the time from its sending [s]."""
        begin = time.perf_counter()
        _, result = self.send(target)
        self.wait(result.done)
        return result.result(), time.perf_counter() - begin

    def cancelled(self, target: PoseStamped, after: float) -> float:
        """Cancel a goal after a time `after` [s]; return the time from cancel to result [s]."""
        handle, result = self.send(target, LONG)
        end = time.perf_counter() + after
        while time.perf_counter() < end:
            self._executor.spin_once(timeout_sec=after / 5)
        begin = time.perf_counter()
        handle.cancel_goal_async()
        self.wait(result.done)
        if result.result().status != GoalStatus.STATUS_CANCELED:
            sys.exit(f'a cancelled goal ended with {result.result()}')
        return time.perf_counter() - begin


def cancel_times(goals: Goals, targets: Iterator[PoseStamped], count: int) -> list[float]:
    """Return the times to cancel goals [s], each cancelled 0.02 to 0.3 s after it was sent."""
    after = np.random.default_rng(0).uniform(0.02, 0.3, count)
    return [goals.cancelled(next(targets), float(seconds)) for seconds in after]
