"""Asks ComputeIK and judges the reply."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
import math
import time
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import RobotState
import pinocchio as pin
from rclpy.client import Client

from ros2_ik.cli.answer import Answer, Check, recheck, WantedPose
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.poses import components
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.stop import ask_for_motion
from ros2_ik.core import Array, Robot, Status
from ros2_ik.messages.poses import fill_pose, read_pose
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.srv import ComputeIK

PATIENCE = 20.0   # seconds for a reply, besides the time for the search
LOST = 5.0        # seconds after which a reply seems lost, besides that
MOTION = 600.0    # seconds for a motion
MAKING = 'still being made'   # says a node that is making the robot's collision geometry,
UNHEARD = 'robot_description has not been received'   # or has not heard of a robot yet:
AGAIN = 0.2       # it is asked again so much later [s]
MEASURED = 1e-3   # joint_states of a real robot tremble, and the node read them at another moment
SUSPICION = ('Likely the node has another robot description than this command, or the robot was '
             'replaced meanwhile')
# without a solution, all other statuses refuse the question
SEARCHED = (Status.NO_IK_SOLUTION, Status.TIMED_OUT, Status.GOAL_IN_COLLISION,
            Status.GOAL_CONSTRAINTS_VIOLATED, Status.PREEMPTED, Status.APPROXIMATE)


def ik_request(wanted: Sequence[WantedPose], seed: dict[str, Any], timeout: float | None = None,
               **fields: Any) -> ComputeIK.Request:
    """Return a request; a field that is None keeps its default."""
    request = ComputeIK.Request()
    request.tips = [target.tip for target in wanted if target.tip]
    request.targets = [pose_message(target.T, target.frame) for target in wanted]
    request.weights = [float(weight) for target in wanted for weight in target.weights]
    fill_state(request.seed, seed, seed)
    if timeout is not None:
        fraction, whole = math.modf(timeout)
        request.timeout = Duration(sec=int(whole), nanosec=int(fraction * 1e9))
    for name, value in fields.items():
        if value is not None:
            setattr(request, name, value)
    return request


def ask_ik(client: NodeClient, service: Client, request: ComputeIK.Request,
           wanted: Sequence[WantedPose], seed: dict[str, Any], wait: float = 0.0) -> Answer:
    """
    Ask, and re-check the reply by forward kinematics of the received robot_description.

    A node that has no robot yet, or is still making its collision geometry, is asked again for up
    to `wait` seconds, unless it shall move the robot, which somebody may have stopped meanwhile.
    Ctrl-C stops a robot that the request moves.
    """
    joints = client.joints(live=not request.execute)
    patience = PATIENCE + request.timeout.sec + MOTION * request.execute
    ask = (partial(ask_for_motion, client) if request.execute
           else partial(client.ask, again=LOST + request.timeout.sec))
    end = time.monotonic() + wait
    while True:
        started = time.monotonic()
        response = ask(service, request, patience)
        starting = MAKING in response.message or UNHEARD in response.message
        if not starting or request.execute or time.monotonic() > end:
            break
        client.spin_until(lambda: False, AGAIN)
    answer, robot = read_reply(client, response, wanted, time.monotonic() - started)
    recheck_reply(answer, robot, wanted, joints, seed, request.follow_frames)
    return answer


def read_reply(client: NodeClient, reply: Any, wanted: Sequence[WantedPose],
               round_trip: float) -> tuple[Answer, Robot | None]:
    """
    Return what a response says, or the result of an action, and the robot that it is about.

    Raises BadQuestion where the node refused.
    """
    state = reply.solution
    found = bool(state.joint_state.name or state.multi_dof_joint_state.joint_names)
    status = accepted(reply, tuple(Status) if found else SEARCHED)   # the motion may have failed
    robot = client.robot()
    return Answer(
        status.name, reply.message, status is Status.SUCCESS,
        state_values(state if found else reply.best_attempt, robot),
        [Check(target.tip or 'target', *errors) for target, *errors in zip(
            wanted, reply.position_errors, reply.orientation_errors, strict=False)],
        not_reached=found and status is not Status.SUCCESS, suspicion=SUSPICION,
        figures={'iterations': reply.iterations, 'restarts': reply.restarts,
                 'seconds': reply.seconds, 'solver': reply.solver,
                 'impossible': reply.impossible, 'round_trip': round_trip,
                 'motion_seconds': reply.motion_seconds},
        alternatives=[state_values(other, robot) for other in reply.alternatives],
        not_checked=tuple(reply.not_checked)), robot


def accepted(response: Any, also: Sequence[Status] = ()) -> Any:
    """Return the status of a response, raising BadQuestion where the node refused."""
    try:
        status = Status(response.status)
    except ValueError:
        raise BadQuestion(f'status {response.status}: {response.message}') from None
    if status is not Status.SUCCESS and status not in also:
        raise BadQuestion(f'{status.name}: {response.message}')
    return status


def recheck_reply(answer: Answer, robot: Robot | None, wanted: Sequence[WantedPose],
                  joints: Mapping[str, float], seed: dict[str, Any], follow_frames: bool) -> None:
    """
    Fill in what forward kinematics says, or a note why it cannot say anything.

    Frames that follow nothing stand where `joints` and `seed` have them: before any motion.
    """
    if not (wanted and answer.values):
        return
    reason = _obstacle(robot, wanted, answer.values)
    if robot is not None and reason is None:
        measured = {name: value for name, value in joints.items()
                    if name in robot.joint_names and name not in seed}
        start = measured | seed
        tips, frames = (_movers(robot, names) for names in zip(
            *((target.tip, target.frame) for target in wanted), strict=True))
        taken = (tips | frames) - set(answer.values) | (set() if follow_frames else frames)
        if missing := taken - set(start):
            reason = f"the value of joint '{min(missing)}' is not known"
        else:
            if taken & set(measured):
                answer.noise = MEASURED
            answer.checked = recheck(robot, robot.to_q(start | answer.values), wanted,
                                     None if follow_frames else robot.to_q(start))
    if reason:
        answer.notes.append(f'not re-checked: {reason}')


def _obstacle(robot: Robot | None, wanted: Sequence[WantedPose],
              values: Iterable[str]) -> str | None:
    """Return why forward kinematics cannot judge, if it cannot."""
    if robot is None:
        return 'no robot_description was received'
    if not all(target.tip for target in wanted):
        return 'no tip is named (--tip), so only the node knows which link its errors are of'
    if strange := set(values).difference(robot.joint_names, robot.mimics):
        return (f"joint '{min(strange)}' of the answer is not in the robot_description that was "
                'received')
    unknown = [name for target in wanted for name in (target.tip, target.frame)
               if name and name not in robot.frame_names]
    return f"frame '{unknown[0]}' is not the robot's" if unknown else None


def _movers(robot: Robot, frames: Iterable[str | None]) -> set[str]:
    """Joints that move any of the frames."""
    return {name for frame in frames if frame for name in robot.moving_joints(frame)}


# -- messages to and from joint values by name and poses ---------------------------------------

def pose_message(T: Array, frame: str | None) -> PoseStamped:
    """Return a pose (4, 4) in a frame."""
    message = PoseStamped()
    message.header.frame_id = frame or ''
    fill_pose(message.pose, pin.SE3(T))
    return message


def pose_components(message: PoseStamped) -> dict[str, list[float]]:
    """Return xyz, rpy, quat of a pose."""
    return components(read_pose(message.pose, 'an answer').homogeneous)


def state_values(message: RobotState, robot: Robot | None) -> dict[str, Any]:
    """Return the joint values of a reply by name."""
    joints = zip(message.joint_state.name, message.joint_state.position, strict=True)
    values: dict[str, Any] = {name: float(value) for name, value in joints}
    planar = {j.name for j in robot.joints if j.kind == 'planar'} if robot else set()
    bases = message.multi_dof_joint_state
    for name, t in zip(bases.joint_names, bases.transforms, strict=True):
        p, r = t.translation, t.rotation
        values[name] = ([p.x, p.y, 2 * math.atan2(r.z, r.w)] if name in planar
                        else [p.x, p.y, p.z, r.x, r.y, r.z, r.w])
    return values
