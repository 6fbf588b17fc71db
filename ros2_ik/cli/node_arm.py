"""The robot of a running node, for a page in a browser."""

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
import math
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import CollisionObject, PlanningScene
import numpy as np
import pinocchio as pin
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ros2_ik.cli.goal_file import fill, goal_of
from ros2_ik.cli.node_answer import state_values
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import (
    Array,
    Configuration,
    Contact,
    IKError,
    IKRequest,
    Robot,
    Scene,
    Status,
    TargetError,
)
from ros2_ik.messages.dragged_goal import drag_requests
from ros2_ik.messages.planning_scenes import changed_scene, scene_message, SceneState
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.messages.scene_changes import ConversionContext
from ros2_ik.messages.servo_status import NODE_HELD_UP
from ros2_ik.msg import ServoStatus
from ros2_ik.srv import ApplyPlanningScene, ComputeIK, Execute, GetPlanningScene, SwitchServo
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import FollowingEndedError, Question, Reader

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
WAIT = 10.0                 # for the node's services, at the start [s]
PATIENCE = 5.0              # for an answer, besides the time for the search [s]
SILENT = 2.0                # so old joint_states are told of [s]
HELD_UP = 1.0               # so long the servo is left without a target by mistake [s]
SERVO_SILENT = 2.0          # it says ten times a second how it stands [s]
TURN = 0.5                  # so long others may take to notice whose turn it is now [s]
FRESH = 0.5                 # between two looks at whether the node is there [s]
ANOTHER = ('another robot_description has come than that of the robot drawn here: '
           'end the viewer and start it again')


class NodeArm:
    """
    An `Arm` for the robot of a running node, which solves, moves it and has the scene.

    The node may go and come back: until then what is asked of it raises IKError.
    """

    def __init__(self, client: NodeClient, robot: Robot, read: Reader) -> None:
        self._client, self._robot, self._read = client, robot, read
        self._joints = client.joints    # kept up to date
        self._q = np.array(robot.neutral)
        self._scene, self._known = Scene(robot), SceneState(Scene(robot))
        node, name = client.node, client.name
        self._services = {
            kind: node.create_client(kind, f'{name}/{service}', qos_profile=QoSProfile(depth=1000))
            for kind, service in ((ComputeIK, 'compute_ik'), (Execute, 'execute'),
                                  (Trigger, 'stop'), (SwitchServo, 'servo/switch'),
                                  (ApplyPlanningScene, 'apply_planning_scene'),
                                  (GetPlanningScene, 'get_planning_scene'))}
        ready = self._services[ComputeIK].service_is_ready
        client.await_server(ready, 'compute_ik', WAIT, f'service {name}/compute_ik')
        self._targets: dict[str, Array] = {}    # that are followed
        self._told, self._ended = 0.0, ''       # when of them [s], and why they are no longer
        self._target = node.create_publisher(PoseStamped, f'{name}/servo/target', 1)
        self._begun, self._others = 0.0, False  # when that did [s], and whether others command
        self._stamps = deque[tuple[int, int]](maxlen=100)    # of the last targets
        node.create_subscription(PoseStamped, f'{name}/servo/target', self._hear_target, 10)
        self._servo_says, self._servo_on, self._servo_heard = '', False, 0.0
        node.create_subscription(ServoStatus, f'{name}/servo/status', self._hear_servo, 10)
        self._outdated = True                   # what is known of the scene
        node.create_subscription(MarkerArray, f'{name}/scene_markers', self._hear_scene, LATCHED)
        self._waiting: list[tuple[Any, Callable[[Any], str]]] = []
        self._looked, self._there, self._silent = 0.0, True, False
        self._processes = client.processes()    # of the node, so far
        self._before: dict[str, float] = {}
        self._gives_up: Callable[[], bool] = lambda: False
        self.step()

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def q(self) -> Array:
        """The latest joint_states, (nq,)."""
        return self._q

    @property
    def scene(self) -> Scene:
        """The node's scene."""
        return self._scene

    @property
    def moving(self) -> bool:
        """Always: what the robot does is watched."""
        return True

    # -- what is heard ---------------------------------------------------------------------

    def _hear_servo(self, message: ServoStatus) -> None:
        self._servo_says, self._servo_heard = message.message, time.monotonic()
        was_on, self._servo_on = self._servo_on, message.mode != 'off'
        if self._targets and (message.message == NODE_HELD_UP
                              or was_on and not self._servo_on):
            self._ended = message.message

    def _hear_target(self, message: PoseStamped) -> None:
        stamp = message.header.stamp.sec, message.header.stamp.nanosec
        if self._targets and stamp not in self._stamps and time.monotonic() > self._begun + TURN:
            self._others, self._ended = True, 'another client commands the servo'

    def _hear_scene(self, _: MarkerArray) -> None:
        self._outdated = True

    def step(self) -> str:
        """Process received messages; returns a note for the user, or ''."""
        self._client.take()
        now = time.monotonic()
        joints = {name: value for name, value in self._joints.items() if math.isfinite(value)}
        if joints != self._before:
            self._before = joints
            self._q = self._robot.to_q({name: value for name, value in joints.items()
                                        if name in self._robot.joint_names}, self._q)
        if self._targets:
            self._check_following(now)
            self._tell_targets()
        another = self._client.has_another_robot
        if self._outdated and self._is_there and not another:
            self._outdated = False
            self._later(GetPlanningScene, GetPlanningScene.Request(), self._take_scene)
        if another:
            self._waiting.clear()    # answers may be about the other robot
            return ANOTHER
        return next((text for text in self._answers() if text), self._look(now))

    def _answers(self) -> list[str]:
        """Return what the answers say that have come; an answer that raises is not read again."""
        come = [one for one in self._waiting if one[0].done()]
        self._waiting = [one for one in self._waiting if one not in come]
        return [tell(future.result()) for future, tell in come]

    def _look(self, now: float) -> str:
        """Say whether the node has gone or come back, or what the servo says."""
        if now > self._looked + FRESH:
            self._looked, was = now, self._there
            self._there = self._is_there
            if self._there != was:
                self._outdated = self._there
                self._waiting.clear()
                return f'{self._client.name} is there again' if self._there else (
                    f'{self._client.name} is gone')
            known, self._processes = self._processes, self._client.processes()
            if known and self._processes - known:    # DDS may see the killed one for 20 s more
                self._outdated = True
                return f'{self._client.name} was started again'
        if not self._there:
            return f'{self._client.name} is gone'
        silent, was_silent = now - self._client.heard, self._silent
        self._silent = silent > SILENT
        if self._silent:
            return f'joint_states are silent for {silent:.0f} s: the robot may stand elsewhere'
        if was_silent:
            return 'joint_states come again'
        return self._servo_says if self._targets else ''

    @property
    def _is_there(self) -> bool:
        return bool(self._services[ComputeIK].service_is_ready())

    def _take_scene(self, response: Any) -> str:
        empty = SceneState(Scene(self._robot))
        now = ConversionContext(lambda _: Configuration(self._robot, self._q), _no_tf, 'exact',
                                lambda _: None)
        self._known = changed_scene(empty, response.scene, now)
        self._scene = self._known.scene
        return ''

    # -- what is asked ---------------------------------------------------------------------

    def _ask(self, kind: Any, request: Any, seconds: float = PATIENCE) -> Any:
        """Ask and wait; raises IKError where there is no answer."""
        if not self._is_there:
            raise IKError(f'{self._client.name} is gone: start the node')
        try:
            return self._client.ask(self._services[kind], request, seconds, self._gives_up)
        except BadQuestion as error:
            raise IKError(str(error)) from None
        except KeyboardInterrupt:
            if not self._gives_up():
                raise
            raise IKError(f'{self._services[kind].srv_name} was not waited for') from None

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Wait for no answer any longer, but raise, as soon as that is true."""
        self._gives_up = true

    def _later(self, kind: Any, request: Any, tell: Callable[[Any], str]) -> None:
        """Ask, and say something of the answer when it comes."""
        if not self._is_there:
            raise IKError(f'{self._client.name} is gone: start the node')
        self._waiting.append((self._services[kind].call_async(request), tell))

    def change_scene(self, scene: Scene) -> None:
        """Send the objects that were added, changed or removed to the node's scene."""
        self._check_robot()
        header = Header(frame_id=self._robot.root_frame)
        before, now = self._scene.objects, scene.objects
        told = scene_message(SceneState(scene), {}, 0, header).world.collision_objects
        change = PlanningScene(is_diff=True)
        change.robot_state.is_diff = True
        change.world.collision_objects = [
            *(item for item in told if now[item.id] is not before.get(item.id)),
            *(CollisionObject(id=name, operation=CollisionObject.REMOVE)
              for name in before if name not in now)]
        answer = self._ask(ApplyPlanningScene, ApplyPlanningScene.Request(scene=change))
        if not answer.success:
            raise IKError(answer.message)
        self._scene, self._outdated = scene, True

    def place(self, q: Array) -> None:
        """Raise: it stands where it is."""
        raise IKError('the robot stands where it is: drag a goal, and press Move there')

    def read(self, problem: Mapping[str, Any]) -> IKRequest:
        """Read what a problem file has."""
        return self._read(problem, self._scene, self._q).request

    def solve(self, question: Question) -> Answer:
        """Answer a question by ~/compute_ik."""
        self._check_robot()
        request = self._request(question)
        for attempt in drag_requests(request, near=True) if question.dragging else [request]:
            response = self._ask(ComputeIK, attempt, PATIENCE + attempt.timeout.sec)
            if response.status == Status.SUCCESS:
                break
        return self._answer(question, response)

    def _request(self, question: Question) -> ComputeIK.Request:
        try:
            goal = goal_of({name: value for name, value in question.problem.items()
                            if name not in ('targets', 'tips')})
        except BadQuestion as error:
            raise IKError(str(error)) from None
        request = fill(ComputeIK.Request(), goal)
        request.execute = False
        request.tips = list(question.targets)
        request.targets = [_pose(T, '') for T in question.targets.values()]
        fill_state(request.seed, self._robot.to_joints(question.seed), self._robot.joint_names)
        request.solutions = question.solutions
        return request

    def _answer(self, question: Question, response: Any) -> Answer:
        status = Status(response.status)
        reached = Reached.YES if status is Status.SUCCESS else (
            Reached.TOUCHING if status is Status.GOAL_IN_COLLISION else Reached.NO)
        found = [response.solution if reached is Reached.YES else response.best_attempt,
                 *response.alternatives]
        at = [self._robot.to_q(state_values(state, self._robot), question.seed)
              for state in found]
        if reached is Reached.NO and not found[0].joint_state.name:    # it was refused
            raise IKError(f'{status.name}: {response.message}')
        answer = partial(Answer, reached=reached, message=f'{status.name}: {response.message}')
        errors = tuple(TargetError(tip, position, orientation) for tip, position, orientation in
                       zip(question.targets, response.position_errors,
                           response.orientation_errors, strict=False))
        contacts = [Contact(one.contact_body_1, one.contact_body_2, one.depth,
                            (one.position.x, one.position.y, one.position.z))
                    for one in response.contacts]
        return answer(q=at[0], errors=errors, contacts=contacts, seconds=response.seconds,
                      not_checked=tuple(response.not_checked),
                      more=tuple(answer(q=q) for q in at[1:]))

    # -- motions ---------------------------------------------------------------------------

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """Have the node move the robot to q (nq,) if the path is free; returns a note."""
        self._check_robot()
        if self._targets:
            raise IKError('the servo moves the robot: switch following off first')
        request = Execute.Request(avoid_collisions=avoid_collisions)
        fill_state(request.goal, self._robot.to_joints(q), self._robot.joint_names)
        self._later(Execute, request,
                    lambda response: f'{Status(response.status).name}: {response.message}')
        return 'on the way'

    def _check_robot(self) -> None:
        if self._client.has_another_robot:
            raise IKError(ANOTHER)

    def follow(self, targets: Mapping[str, Array], avoid_collisions: bool) -> None:
        """Have the servo go after the pose (4, 4) of one tip."""
        self._check_robot()
        if not avoid_collisions:
            raise IKError('the servo always avoids collisions')
        if len(targets) != 1:
            raise IKError(f'the servo follows one tip, not {len(targets)}: {", ".join(targets)}')
        if targets.keys() != self._targets.keys():
            self._servo_on = False
            answer = self._ask(SwitchServo, SwitchServo.Request(mode='pose', tip=next(iter(
                targets))), 30.0)
            if not answer.success:
                raise IKError(answer.message)
            self._told, self._begun = time.time(), time.monotonic()
            self._servo_heard, self._others, self._ended = self._begun, False, ''
        self._targets = dict(targets)

    def _check_following(self, now: float) -> None:
        """Follow no longer where nobody would expect it to go on; raises FollowingEndedError."""
        late = time.time() - self._told     # this clock goes on while a computer sleeps
        if late > HELD_UP:
            self._ended = f'this page was held up for {late:.1f} s'
        elif now > self._servo_heard + SERVO_SILENT:
            self._ended = 'the servo is silent'
        if self._ended:
            self._targets = {}
            if self._is_there and not self._others:     # whose turn it is now
                self._switch_off()
            raise FollowingEndedError(self._ended)

    def _tell_targets(self) -> None:
        message = _pose(next(iter(self._targets.values())), self._robot.root_frame)
        message.header.stamp = stamp = self._client.node.get_clock().now().to_msg()
        self._stamps.append((stamp.sec, stamp.nanosec))
        self._told = time.time()
        self._target.publish(message)

    def _switch_off(self) -> None:
        self._later(SwitchServo, SwitchServo.Request(mode='off'), lambda _: '')

    def stop(self) -> None:
        """Brake: also what others have the node do."""
        if self._targets:
            self._targets = {}
            self._switch_off()
        self._later(Trigger, Trigger.Request(), lambda response: str(response.message))


def _pose(T: Array, frame: str) -> PoseStamped:
    """Return a pose (4, 4) in a frame."""
    message = PoseStamped(header=Header(frame_id=frame))
    fill_pose(message.pose, pin.SE3(T))
    return message


def _no_tf(_: Any, frame: str) -> Any:
    raise LookupError(f"'{frame}' is a frame of TF")
