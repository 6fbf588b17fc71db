"""Sends a goal to the action solve_constrained_ik and reads the result."""

from collections.abc import Callable
import sys
import time
from typing import Any, NoReturn

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.cli.answer import Answer
from ros2_ik.cli.goal_file import fill
from ros2_ik.cli.node_answer import PATIENCE, read_reply
from ros2_ik.cli.node_client import NodeClient, WENT
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.stop import Interrupt, MAY_MOVE, PATIENCE as STOP_PATIENCE

ACTION = 'solve_constrained_ik'


def ask_goal(client: NodeClient, goal: Any, wait: float) -> Answer:
    """
    Send a goal (of `goal_of`), print its feedback on stderr, and return the answer.

    Ctrl-C, or another signal to end, cancels the goal: then the answer is the best so far, marked
    as interrupted. Raises BadQuestion, and KeyboardInterrupt when no answer comes; stderr says
    then that a robot that the goal moves may still move.
    """
    action = ActionClient(client.node, SolveConstrainedIK, f'{client.name}/{ACTION}')
    client.await_server(action.server_is_ready, f'{ACTION}/_action/send_goal', wait,
                        f'action {client.name}/{ACTION}')
    started = time.monotonic()
    running = _Running(client, client.watch(action.server_is_ready),
                       goal.timeout.sec + PATIENCE, goal.execute)
    result = running.result(action, fill(SolveConstrainedIK.Goal(), goal))
    answer = read_reply(client, result, goal.tips, time.monotonic() - started)
    answer.interrupted = running.interrupted
    return answer


class _Running:
    """A goal of the action; after `patience` seconds without a sign of it, the client gives up."""

    def __init__(self, client: NodeClient, gone: Callable[[], bool], patience: float,
                 moves: bool) -> None:
        self._client, self._patience, self._last = client, patience, time.monotonic()
        self._gone, self._moves = gone, moves
        self.interrupted = False

    def show(self, message: Any) -> None:
        """Print feedback on stderr, in one line."""
        self._last = time.monotonic()
        print(feedback_line(message.feedback), file=sys.stderr)

    def result(self, action: ActionClient, goal: SolveConstrainedIK.Goal) -> Any:
        """Send a goal and wait for its end; an interrupt cancels the goal."""
        with Interrupt() as interrupt:
            sent = action.send_goal_async(goal, self.show)
            # before it is accepted, a goal cannot be cancelled
            self._await(sent, 'take the goal', lambda: interrupt.again)
            if not sent.done():
                self._leave('did not take the goal, so it could not be cancelled')
            handle = sent.result()
            if not handle.accepted:
                raise BadQuestion(f'{self._client.name} refused the goal: it has too many')
            future = handle.get_result_async()
            self._await(future, 'send the result', lambda: interrupt.came)
            if not future.done():
                self.interrupted = True
                cancelled = handle.cancel_goal_async()
                if not self._client.spin_until(lambda: cancelled.done() or future.done(),
                                               STOP_PATIENCE):
                    self._leave('was told to cancel the goal, but did not answer within '
                                f'{STOP_PATIENCE:g} s')
                self._await(future, 'end a cancelled goal', lambda: interrupt.again)
                if not future.done():
                    self._leave('was told to cancel the goal')
        wrapped = future.result()
        if wrapped.status == GoalStatus.STATUS_UNKNOWN:
            raise BadQuestion(f'{self._client.name} does not know the goal any longer')
        return wrapped.result

    def _leave(self, why: str) -> NoReturn:
        print(f'ros2_ik: interrupted: {self._client.name} {why}{self._caution}', file=sys.stderr)
        raise KeyboardInterrupt

    @property
    def _caution(self) -> str:
        return f'; the robot was to move: {MAY_MOVE}' if self._moves else ''

    def _await(self, future: Any, what: str, interrupted: Callable[[], bool]) -> None:
        """Spin until the future is done; raises BadQuestion after silence of the server."""
        def over() -> bool:
            return (future.done() or interrupted() or self._gone()
                    or time.monotonic() > self._last + self._patience)
        while not over():
            self._client.spin_until(over, self._patience)
        if not (future.done() or interrupted()):
            why = WENT if self._gone() else f'did not {what} within {self._patience:g} s'
            raise BadQuestion(f'{self._client.name} {why}{self._caution}')


def feedback_line(feedback: Any) -> str:
    """Return what goes on, and how the best attempt stands if there is one (without contacts)."""
    now = f'{feedback.seconds:.1f} s, {feedback.phase}'
    if not (feedback.position_errors or feedback.constraints):
        return now
    hard = [item for item in feedback.constraints if not item.soft]
    parts = [f'{p:.1e} m {o:.1e} rad' for p, o in zip(
        feedback.position_errors, feedback.orientation_errors, strict=True)]
    parts += [f'{item.name} {item.violation:.2g} outside' for item in hard if not item.holds]
    if hard and all(item.holds for item in hard):
        parts.append('constraints hold')
    best = f'; best so far: {", ".join(parts)}' if parts else ''
    return f'{now}: {feedback.restarts} restarts{best}'
