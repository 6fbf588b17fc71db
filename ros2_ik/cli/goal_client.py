"""Sends a goal to the action solve_constrained_ik and judges the result."""

from collections.abc import Callable, Collection
from functools import partial
from importlib import import_module
import sys
import time
from typing import Any, NoReturn

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.cli.answer import Answer, WantedPose
from ros2_ik.cli.interfaces import fields, GOAL, is_message
from ros2_ik.cli.node_answer import PATIENCE, read_reply, recheck_reply, state_values
from ros2_ik.cli.node_client import NodeClient, WENT
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.stop import Interrupt, MAY_MOVE, PATIENCE as STOP_PATIENCE
from ros2_ik.messages.poses import read_pose

ACTION = 'solve_constrained_ik'


def ask_goal(client: NodeClient, goal: Any, wait: float) -> Answer:
    """
    Send a goal (of `read_goal`), show its feedback, and re-check the result.

    Ctrl-C, or another signal to end, cancels it: then the answer is the best so far, marked as
    interrupted. Raises BadQuestion, and KeyboardInterrupt when there is no answer to that; it is
    said on stderr then that a robot that the goal moves may still move.
    """
    action = ActionClient(client.node, SolveConstrainedIK, f'{client.name}/{ACTION}')
    client.await_server(action.server_is_ready, f'{ACTION}/_action/send_goal', wait,
                        f'action {client.name}/{ACTION}')
    joints = client.joints(live=not goal.execute)
    started = time.monotonic()
    running = _Running(client, client.watch(action.server_is_ready),
                       goal.timeout.sec + PATIENCE, goal.execute)
    result = running.result(action, goal_message(goal))
    wanted = _wanted(goal)
    answer, robot = read_reply(client, result, wanted, time.monotonic() - started)
    recheck_reply(answer, robot, wanted, joints, state_values(goal.seed, robot),
                  goal.follow_frames)
    answer.constraints, answer.explanation = result.constraints, result.explanation
    answer.interrupted = running.interrupted
    return answer


class _Running:
    """A goal on its way; `patience` seconds without a sign of it are too many."""

    def __init__(self, client: NodeClient, gone: Callable[[], bool], patience: float,
                 moves: bool) -> None:
        self._client, self._patience, self._heard = client, patience, time.monotonic()
        self._gone, self._moves = gone, moves
        self.interrupted = False

    def show(self, message: Any) -> None:
        """Print feedback on stderr, in one line."""
        self._heard = time.monotonic()
        print(feedback_line(message.feedback), file=sys.stderr)

    def result(self, action: ActionClient, goal: SolveConstrainedIK.Goal) -> Any:
        """Send a goal and wait for its end; an interrupt asks for that, whenever it comes."""
        with Interrupt() as interrupt:
            sent = action.send_goal_async(goal, self.show)
            # what was not taken cannot be cancelled
            self._await(sent, 'take the goal', interrupt.overdue)
            if not sent.done():
                self._say('has not taken the goal yet; it is cancelled as soon as it is taken, '
                          'unless you interrupt again')
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
                told = handle.cancel_goal_async()
                self._client.spin_until(lambda: told.done() or future.done(), STOP_PATIENCE)
                if not (told.done() or future.done()):
                    self._leave('was told to cancel the goal, but did not answer within '
                                f'{STOP_PATIENCE:g} s')
                self._await(future, 'end a cancelled goal', lambda: interrupt.again)
                if not future.done():
                    self._leave('was told to cancel the goal')
        wrapped = future.result()
        if wrapped.status == GoalStatus.STATUS_UNKNOWN:
            raise BadQuestion(f'{self._client.name} does not know the goal any longer')
        return wrapped.result

    def _say(self, what: str) -> None:
        """Say what became of an interrupt."""
        print(f'ros2_ik: interrupted: {self._client.name} {what}{self._caution()}',
              file=sys.stderr)

    def _leave(self, why: str) -> NoReturn:
        self._say(why)
        raise KeyboardInterrupt

    def _caution(self) -> str:
        return f'; the robot was to move: {MAY_MOVE}' if self._moves else ''

    def _await(self, future: Any, what: str,
               interrupted: Callable[[], bool] = lambda: False) -> None:
        """Spin until the future is done; raises BadQuestion after silence of the server."""
        def over() -> bool:
            return (future.done() or interrupted() or self._gone()
                    or time.monotonic() > self._heard + self._patience)
        while not over():
            self._client.spin_until(over, self._patience)
        if not (future.done() or interrupted()):
            why = WENT if self._gone() else f'did not {what} within {self._patience:g} s'
            raise BadQuestion(f'{self._client.name} {why}{self._caution()}')


def feedback_line(told: Any) -> str:
    """Say what goes on, and how the best attempt stands if there is one (not what it touches)."""
    now = f'{told.seconds:.1f} s, {told.phase}'
    if not (told.position_errors or told.constraints):
        return now
    hard = [item for item in told.constraints if not item.soft]
    parts = [f'{p:.1e} m {o:.1e} rad' for p, o in zip(
        told.position_errors, told.orientation_errors, strict=True)]
    parts += [f'{item.name} {item.violation:.2g} outside' for item in hard if not item.holds]
    if hard and all(item.holds for item in hard):
        parts.append('constraints hold')
    best = f'; best so far: {", ".join(parts)}' if parts else ''
    return f'{now}: {told.restarts} restarts{best}'


def goal_message(goal: Any) -> SolveConstrainedIK.Goal:
    """Make the message of a goal that was read from a file."""
    message: SolveConstrainedIK.Goal = fill_message(
        SolveConstrainedIK.Goal(), goal, f'ros2_ik/{GOAL}')
    return message


def fill_message(message: Any, content: Any, kind: str, names: Collection[str] = ()) -> Any:
    """Fill the fields of a message, or those called `names`, from an object that has them."""
    for name, field in fields(kind).items():
        if names and name not in names:
            continue
        value = getattr(content, name)
        if is_message(field.type):
            package, _, kind_name = field.type.rpartition('/')
            make = getattr(import_module(f'{package}.msg'), kind_name)
            fill = partial(fill_message, kind=field.type)
            value = ([fill(make(), item) for item in value] if field.array
                     else fill(getattr(message, name), value))
        elif field.type == 'byte':
            value = bytes([value])
        setattr(message, name, value)
    return message


def _wanted(goal: Any) -> list[WantedPose]:
    """Return the targets for the re-check; tips that the node chose have no name."""
    count = len(goal.targets)
    rows = [tuple(goal.weights[i:i + 6]) for i in range(0, len(goal.weights), 6)] or [(1.0,) * 6]
    rows = rows if len(rows) == count else rows * count
    tips = goal.tips or [''] * count
    return [WantedPose(tip, read_pose(target.pose, f"the target of '{tip}'").homogeneous,
                       target.header.frame_id.lstrip('/') or None, row)
            for tip, target, row in zip(tips, goal.targets, rows, strict=False)]
