"""Client of a node's action solve_constrained_ik: sends a goal and reads the result."""

from collections.abc import Callable, Mapping
import time
from types import SimpleNamespace
from typing import Any

from moveit_msgs.msg import RobotState
from rclpy.action import ActionClient
from rclpy.task import Future

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.cli.answer import Answer
from ros2_ik.cli.arguments import CommandError, warn
from ros2_ik.cli.goal_file import fill
from ros2_ik.cli.node_client import interrupts, NodeClient, STOP_TIMEOUT
from ros2_ik.core import Array, Robot, Status
from ros2_ik.core.internals import TargetError
from ros2_ik.messages.robot_states import fill_state, joint_values

MESSAGE_TIMEOUT = 20.0        # time to wait for a message, in addition to the search's timeout [s]
RESEND_PERIOD = 5.0   # time after which a request is sent again, as DDS may lose responses [s]
# statuses of failed searches; another status without a solution means a rejected request
FAILED_SEARCH_STATUSES = (Status.NO_IK_SOLUTION, Status.TIMED_OUT, Status.GOAL_IN_COLLISION,
                          Status.GOAL_CONSTRAINTS_VIOLATED, Status.PREEMPTED, Status.APPROXIMATE)


def ask_goal(client: NodeClient, goal: SimpleNamespace, wait: float,
             seed: Mapping[str, float | Array] | None = None,
             show: Callable[[str], None] = lambda line: None) -> Answer:
    """
    Send a goal (see `goal_of`) and return the answer; `show` is called with feedback as text.

    Joint values in `seed`, by name, replace the goal's seed. Waits up to `wait` seconds for the
    action server and, unless the goal has `execute`, up to `wait` more seconds until the node is
    ready. Ctrl-C, SIGTERM and SIGHUP cancel the goal; the answer is then marked as interrupted.
    Raises CommandError, and KeyboardInterrupt if the node does not confirm the cancellation.
    """
    name = f'{client.name}/solve_constrained_ik'
    action = ActionClient(client.node, SolveConstrainedIK, name)
    client.await_server(action.server_is_ready, wait, f'action {name}')
    message = fill(SolveConstrainedIK.Goal(), goal)
    if seed:
        fill_state(message.seed, seed, seed)
    # A goal that moves the robot is sent at once: ~/stop cannot cancel a goal that waits here.
    # Other goals wait for a ready node; a node that is not ready in time answers with the reason.
    if not goal.execute:
        client.spin_until(lambda: client.is_ready, wait)
    started = time.monotonic()
    active = _ActiveGoal(client, message, show)
    result = active.result(action)
    round_trip = time.monotonic() - started
    answer = _answer(result, goal.tips, client.robot())
    answer.figures['round_trip'] = round_trip
    answer.interrupted = active.interrupted
    return answer


class _ActiveGoal:
    """Sends one goal of the action, and waits for its result."""

    def __init__(self, client: NodeClient, goal: SolveConstrainedIK.Goal,
                 show: Callable[[str], None]) -> None:
        self._client, self._goal, self._show = client, goal, show
        self._timeout = goal.timeout.sec + MESSAGE_TIMEOUT
        self._caution = '; the goal moves the robot: it may still move' if goal.execute else ''
        self._last = time.monotonic()    # time of the start, or of the last feedback [s]
        self.interrupted = False

    def _on_feedback(self, message: SolveConstrainedIK.Impl.FeedbackMessage) -> None:
        self._last = time.monotonic()
        feedback = message.feedback
        self._show(f'{feedback.seconds:.1f} s, {feedback.phase}, restarts: {feedback.restarts}')

    def result(self, action: ActionClient) -> SolveConstrainedIK.Result:
        """Send the goal and return its result; an interrupt cancels the goal."""
        with interrupts() as received_signals:
            # only accepted goals can be cancelled: earlier interrupts are handled after acceptance
            handle = self._response(
                lambda: action.send_goal_async(self._goal, self._on_feedback),
                'accept the goal', repeat=not self._goal.execute)
            if not handle.accepted:
                raise CommandError(f'{self._client.name} rejected the goal')
            found = self._response(handle.get_result_async, 'send the result',
                                   lambda: bool(received_signals))
            if found is None:
                self.interrupted = True
                cancelled = handle.cancel_goal_async()
                if not self._client.spin_until(cancelled.done, STOP_TIMEOUT):
                    warn(f'interrupted: {self._client.name} was asked to cancel the goal, but '
                         f'did not answer within {STOP_TIMEOUT:g} s{self._caution}')
                    raise KeyboardInterrupt
                found = self._response(handle.get_result_async, 'end a cancelled goal')
        return found.result

    def _response(self, ask: Callable[[], Future], what: str,
                  interrupted: Callable[[], bool] = lambda: False, repeat: bool = True) -> Any:
        """
        Return the response to `ask`, or None if `interrupted()`; raises CommandError on timeout.

        If `repeat` is True, the request is sent again every RESEND_PERIOD: DDS may lose a response
        if the server has not found the reader (https://github.com/ros2/rmw_fastrtps/issues/842).
        """
        asked = list[Future]()
        while True:
            if not asked or repeat and time.monotonic() > self._last + RESEND_PERIOD:
                asked.append(ask())
            self._client.spin_until(
                lambda: interrupted() or any(one.done() for one in asked), RESEND_PERIOD)
            if done := [one for one in asked if one.done()]:
                return done[0].result()
            if interrupted():
                return None
            if self._client.is_aborted():
                raise CommandError(f'the wait for {self._client.name} was aborted{self._caution}')
            if time.monotonic() > self._last + self._timeout:
                raise CommandError(f'{self._client.name} did not {what} within '
                                   f'{self._timeout:g} s{self._caution}')


def _answer(result: SolveConstrainedIK.Result, tips: list[str], robot: Robot | None) -> Answer:
    """Convert a result to an answer; raises CommandError if the node rejected the request."""
    # the solution is empty if the search failed or the request was rejected
    state = result.solution
    found = bool(state.joint_state.name or state.multi_dof_joint_state.joint_names)
    status = Status(result.status)
    if not found and status not in FAILED_SEARCH_STATUSES:
        raise CommandError(f'{status.name}: {result.message}')
    return Answer(
        status.name, result.message, status is Status.SUCCESS,
        state_values(state if found else result.best_attempt, robot),
        [TargetError(tip, *errors) for tip, *errors in zip(
            tips or ['target'], result.position_errors, result.orientation_errors, strict=False)],
        # a solution with a status other than SUCCESS: the motion to the solution failed
        not_reached=found and status is not Status.SUCCESS,
        figures={name: getattr(result, name) for name in (
            'iterations', 'restarts', 'seconds', 'solver', 'impossible', 'motion_seconds')},
        alternatives=[state_values(other, robot) for other in result.alternatives],
        constraints=result.constraints, explanation=result.explanation,
        not_checked=tuple(result.not_checked))


def state_values(state: RobotState, robot: Robot | None) -> dict[str, float | Array]:
    """Return the joint values of a state by name; without a robot, only those of `joint_state`."""
    if robot is None:
        return dict(zip(state.joint_state.name, state.joint_state.position, strict=True))
    return joint_values(state, robot, 'the answer')
