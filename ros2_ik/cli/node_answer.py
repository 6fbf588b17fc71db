"""Asks ComputeIK and reads the reply."""

from collections.abc import Sequence
import time
from typing import Any

from moveit_msgs.msg import RobotState
from rclpy.client import Client

from ros2_ik.cli.answer import Answer
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.stop import ask_for_motion
from ros2_ik.core import Robot, Status, TargetError
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.srv import ComputeIK

PATIENCE = 20.0   # for a reply, besides the time for the search [s]
LOST = 5.0        # besides the time for the search; then a reply counts as lost [s]
MOTION = 600.0    # for a motion [s]
AGAIN = 0.2       # between two requests to a node that is starting [s]
# in the messages of a node that is making the robot's collision geometry, or has no robot yet
STARTING = ('still being made', 'robot_description has not been received')
# without a solution, all other statuses refuse the question
SEARCHED = (Status.NO_IK_SOLUTION, Status.TIMED_OUT, Status.GOAL_IN_COLLISION,
            Status.GOAL_CONSTRAINTS_VIOLATED, Status.PREEMPTED, Status.APPROXIMATE)


def ask_ik(client: NodeClient, service: Client, request: ComputeIK.Request,
           wait: float = 0.0) -> Answer:
    """
    Return the answer to a request; raises BadQuestion where the node refuses.

    A node that is starting is asked again for up to `wait` seconds, unless the robot would move:
    somebody may have stopped the robot meanwhile. Ctrl-C stops a robot that the request moves.
    """
    patience, end = PATIENCE + request.timeout.sec, time.monotonic() + wait
    while True:
        started = time.monotonic()
        if request.execute:
            response = ask_for_motion(client, service, request, patience + MOTION)
            break
        response = client.ask(service, request, patience, again=LOST + request.timeout.sec)
        if not any(text in response.message for text in STARTING) or time.monotonic() > end:
            break
        client.spin_until(lambda: False, AGAIN)
    return read_reply(client, response, request.tips, time.monotonic() - started)


def read_reply(client: NodeClient, reply: Any, tips: Sequence[str], round_trip: float) -> Answer:
    """Return the answer of a response or an action's result; raises BadQuestion for a refusal."""
    state = reply.solution
    found = bool(state.joint_state.name or state.multi_dof_joint_state.joint_names)
    try:
        status = Status(reply.status)
    except ValueError:
        raise BadQuestion(f'status {reply.status}: {reply.message}') from None
    if not found and status not in SEARCHED:
        raise BadQuestion(f'{status.name}: {reply.message}')
    robot = client.robot()
    return Answer(
        status.name, reply.message, status is Status.SUCCESS,
        state_values(state if found else reply.best_attempt, robot),
        [TargetError(tip, *errors) for tip, *errors in zip(
            tips or ['target'], reply.position_errors, reply.orientation_errors, strict=False)],
        not_reached=found and status is not Status.SUCCESS,    # the motion may have failed
        figures={name: getattr(reply, name) for name in (
            'iterations', 'restarts', 'seconds', 'solver', 'impossible', 'motion_seconds')}
        | {'round_trip': round_trip},
        alternatives=[state_values(other, robot) for other in reply.alternatives],
        constraints=reply.constraints, explanation=reply.explanation,
        not_checked=tuple(reply.not_checked))


def state_values(state: RobotState, robot: Robot | None) -> dict[str, Any]:
    """Return joint values by name; without the robot, those of single joints alone."""
    if robot is None:
        return dict(zip(state.joint_state.name, state.joint_state.position, strict=True))
    return joint_values(state, robot, 'the answer')
