"""Sends goals to the action solve_constrained_ik of a node and reads the results."""

from collections.abc import Callable, Mapping
import sys
import time
from types import SimpleNamespace
from typing import Any

from moveit_msgs.msg import RobotState
from rclpy.action import ActionClient
from rclpy.task import Future

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.cli.answer import Answer
from ros2_ik.cli.goal_file import fill
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.stop import Interrupt, PATIENCE as STOP_PATIENCE
from ros2_ik.core import Array, Robot, Status
from ros2_ik.core.internals import TargetError
from ros2_ik.messages.robot_states import fill_state, joint_values

PATIENCE = 20.0   # for a sign of the node, besides the time for the search [s]
LOST = 5.0        # after which DDS may have lost a response [s]
AGAIN = 0.2       # between two goals to a node that is starting [s]
# in the messages of a node that is making the robot's collision geometry, or has no robot yet
STARTING = ('still being made', 'robot_description has not been received')
# a search ended so; any other status without a solution means that the question was refused
SEARCHED = (Status.NO_IK_SOLUTION, Status.TIMED_OUT, Status.GOAL_IN_COLLISION,
            Status.GOAL_CONSTRAINTS_VIOLATED, Status.PREEMPTED, Status.APPROXIMATE)


def ask_goal(client: NodeClient, goal: SimpleNamespace, wait: float,
             seed: Mapping[str, float | Array] | None = None,
             show: Callable[[str], None] = lambda line: None) -> Answer:
    """
    Send a goal (of `goal_of`) and return the answer; `show` receives the feedback in words.

    `seed` adds joint values, by name. A node that is starting is asked again for up to `wait`
    seconds, unless the goal moves the robot: somebody may have stopped the robot meanwhile.
    Ctrl-C, or another signal to end, cancels the goal: then the answer is the best so far, marked
    as interrupted. Raises BadQuestion, and KeyboardInterrupt where a cancel is not answered: what
    is printed says that a robot that the goal moves may still move.
    """
    name = f'{client.name}/solve_constrained_ik'
    action = ActionClient(client.node, SolveConstrainedIK, name)
    client.await_server(action.server_is_ready, 'solve_constrained_ik/_action/send_goal', wait,
                        f'action {name}')
    message = fill(SolveConstrainedIK.Goal(), goal)
    if seed:
        fill_state(message.seed, seed, seed)
    end = time.monotonic() + wait
    while True:
        started = time.monotonic()
        running = _Running(client, message, show)
        result = running.result(action)
        starting = any(text in result.message for text in STARTING)
        if not starting or goal.execute or running.interrupted or time.monotonic() > end:
            break
        client.spin_until(lambda: False, AGAIN)
    answer = _answer(result, goal.tips, client.robot())
    answer.figures['round_trip'] = time.monotonic() - started
    answer.interrupted = running.interrupted
    return answer


class _Running:
    """A goal of the action, until its end."""

    def __init__(self, client: NodeClient, goal: SolveConstrainedIK.Goal,
                 show: Callable[[str], None]) -> None:
        self._client, self._goal, self._show = client, goal, show
        self._patience = goal.timeout.sec + PATIENCE
        self._last = time.monotonic()    # sign of the goal
        self.interrupted = False

    def _on_feedback(self, message: SolveConstrainedIK.Impl.FeedbackMessage) -> None:
        self._last = time.monotonic()
        now = message.feedback
        self._show(f'{now.seconds:.1f} s, {now.phase}: {now.restarts} restarts')

    def result(self, action: ActionClient) -> SolveConstrainedIK.Result:
        """Send the goal and return its result; an interrupt cancels the goal."""
        with Interrupt() as interrupt:
            # before it is accepted, a goal cannot be cancelled
            handle = self._response(
                lambda: action.send_goal_async(self._goal, self._on_feedback),
                'take the goal', repeat=not self._goal.execute)
            if not handle.accepted:
                raise BadQuestion(f'{self._client.name} refused the goal: it has too many')
            found = self._response(handle.get_result_async, 'send the result',
                                   lambda: interrupt.came)
            if found is None:
                self.interrupted = True
                cancelled = handle.cancel_goal_async()
                if not self._client.spin_until(cancelled.done, STOP_PATIENCE):
                    print(f'ros2_ik: interrupted: {self._client.name} was told to cancel the '
                          f'goal, but did not answer within {STOP_PATIENCE:g} s{self._caution}',
                          file=sys.stderr)
                    raise KeyboardInterrupt
                found = self._response(handle.get_result_async, 'end a cancelled goal')
        return found.result

    def _response(self, ask: Callable[[], Future], what: str,
                  interrupted: Callable[[], bool] = lambda: False, repeat: bool = True) -> Any:
        """
        Return the response to `ask`, None if `interrupted`; raises BadQuestion after silence.

        DDS loses a response where a busy server has not yet discovered its reader
        (https://github.com/ros2/rmw_fastrtps/issues/842); then `repeat` asks again.
        """
        asked = list[Future]()
        while True:
            if not asked or repeat and time.monotonic() > self._last + LOST:
                asked.append(ask())
            self._client.spin_until(
                lambda: interrupted() or any(one.done() for one in asked), LOST)
            for one in asked:
                if one.done():
                    return one.result()
            if interrupted():
                return None
            if time.monotonic() > self._last + self._patience:
                raise BadQuestion(f'{self._client.name} did not {what} within '
                                  f'{self._patience:g} s{self._caution}')

    @property
    def _caution(self) -> str:
        return '; the robot was to move: it may still move' if self._goal.execute else ''


def _answer(result: SolveConstrainedIK.Result, tips: list[str], robot: Robot | None) -> Answer:
    """Return the answer that a result holds; raises BadQuestion for a refusal."""
    state = result.solution
    found = bool(state.joint_state.name or state.multi_dof_joint_state.joint_names)
    try:
        status = Status(result.status)
    except ValueError:
        raise BadQuestion(f'status {result.status}: {result.message}') from None
    if not found and status not in SEARCHED:
        raise BadQuestion(f'{status.name}: {result.message}')
    return Answer(
        status.name, result.message, status is Status.SUCCESS,
        state_values(state if found else result.best_attempt, robot),
        [TargetError(tip, *errors) for tip, *errors in zip(
            tips or ['target'], result.position_errors, result.orientation_errors, strict=False)],
        not_reached=found and status is not Status.SUCCESS,    # the motion may have failed
        figures={name: getattr(result, name) for name in (
            'iterations', 'restarts', 'seconds', 'solver', 'impossible', 'motion_seconds')},
        alternatives=[state_values(other, robot) for other in result.alternatives],
        constraints=result.constraints, explanation=result.explanation,
        not_checked=tuple(result.not_checked))


def state_values(state: RobotState, robot: Robot | None) -> dict[str, float | Array]:
    """Return joint values by name; without the robot, only those of `joint_state`."""
    if robot is None:
        return dict(zip(state.joint_state.name, state.joint_state.position, strict=True))
    return joint_values(state, robot, 'the answer')
