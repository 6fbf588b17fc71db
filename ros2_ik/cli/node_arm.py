"""The robot of a running node, for a page in a browser and for RViz."""

from collections.abc import Callable, Sequence
from functools import partial
import math
import time
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import CollisionObject, PlanningScene
import numpy as np
import pinocchio as pin
from rclpy.task import Future
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ros2_ik.cli.goal_client import state_values
from ros2_ik.cli.goal_file import fill, goal_of
from ros2_ik.cli.library import no_tf
from ros2_ik.cli.node_client import LATCHED, NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import Array, Configuration, Contact, IKError, Robot, Scene, Status
from ros2_ik.core.internals import TargetError
from ros2_ik.messages.planning_scenes import changed_scene, scene_message, SceneState
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.messages.scene_changes import ConversionContext
from ros2_ik.srv import ApplyPlanningScene, ComputeIK, Execute, GetPlanningScene
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import Question

PATIENCE = 5.0     # for an answer, besides the time for the search [s]
# while somebody drags: for a search near the seed, then for any other
NEAR_TIMEOUT, DRAG_TIMEOUT = Duration(nanosec=20_000_000), Duration(nanosec=100_000_000)
NEAR = 0.5         # largest joint change in the search near the seed [rad, m]
SILENT = 2.0       # age of joint_states above which they are stale [s]
SERVICES = {ComputeIK: 'compute_ik', Execute: 'execute', Trigger: 'stop',
            ApplyPlanningScene: 'apply_planning_scene', GetPlanningScene: 'get_planning_scene'}


class NodeArm:
    """
    An `Arm` for the robot of a running node, which solves, moves the robot and has the scene.

    `q` (nq,) are the latest joint_states. `moving` is True: a page watches what the robot does.
    Raises BadQuestion if the node does not come within `wait` seconds. Later the node may go and
    come back: meanwhile all requests raise IKError.
    """

    moving = True

    def __init__(self, client: NodeClient, robot: Robot, wait: float) -> None:
        self._client, self.robot = client, robot
        self.wait, self.wake = client.wait, client.wake
        self.q = np.array(robot.neutral)
        self._answered: Sequence[str] = robot.joint_names   # the joints of the last answer
        self.scene, self._outdated = Scene(robot), True
        self._services = {kind: client.connect(kind, service, wait)
                          for kind, service in SERVICES.items()}
        self._waiting: list[tuple[Future, Callable[[Any], str]]] = []
        self._had_trouble = False
        client.node.create_subscription(MarkerArray, f'{client.name}/scene_markers',
                                        self._on_markers, LATCHED)
        self.step()

    # -- messages of the node --------------------------------------------------------------

    def _on_markers(self, _: MarkerArray) -> None:
        self._outdated = True

    def step(self) -> str:
        """Process received messages; returns a note for the user, or ''."""
        for _ in range(2):    # messages for which a slow page leaves no time to wait
            self.wait(0.0)
        self.q = self.robot.to_q({
            name: value for name, value in self._client.joints.items()
            if name in self.robot.joint_names and math.isfinite(value)}, self.q)
        refusal, age = self._refusal(), time.monotonic() - self._client.joints_time
        if refusal:
            self._waiting, self._outdated = [], True    # answers may be about another robot
        elif self._outdated:
            self._outdated = False
            self._later(GetPlanningScene, GetPlanningScene.Request(), self._take_scene)
        trouble = refusal or (f'joint_states are silent for {age:.0f} s: the robot may stand '
                              'elsewhere' if age > SILENT else '')
        had_trouble, self._had_trouble = self._had_trouble, bool(trouble)
        answers = [note for note in self._answers() if note]
        return trouble or (answers[0] if answers else '') or (
            'the node and joint_states are there again' if had_trouble else '')

    def _answers(self) -> list[str]:
        """Return the notes on the answers that have come; one that raises is not read again."""
        come = [one for one in self._waiting if one[0].done()]
        self._waiting = [one for one in self._waiting if one not in come]
        return [note(future.result()) for future, note in come]

    def _take_scene(self, response: GetPlanningScene.Response) -> str:
        now = ConversionContext(lambda _: Configuration(self.robot, self.q), no_tf, 'exact',
                                lambda _: None)
        self.scene = changed_scene(SceneState(Scene(self.robot)), response.scene, now).scene
        return ''

    # -- requests --------------------------------------------------------------------------

    def _refusal(self) -> str:
        """Return why nothing can be asked, '' if it can."""
        if not self._services[ComputeIK].service_is_ready():
            return f'{self._client.name} is gone: start the node'
        return ('another robot_description has come than that of the robot drawn here: end the '
                'viewer and start it again') if self._client.has_another_robot else ''

    def _check(self) -> None:
        if refusal := self._refusal():
            raise IKError(refusal)

    def _ask(self, kind: type, request: object, seconds: float = PATIENCE) -> Any:
        """Ask and wait; raises IKError where there is no answer."""
        self._check()
        try:
            return self._client.ask(self._services[kind], request, seconds)
        except BadQuestion as error:
            raise IKError(str(error)) from None

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Stop waiting for answers, and raise, as soon as `true()` is true."""
        self._client.give_up = true

    def _later(self, kind: type, request: object, note: Callable[[Any], str]) -> None:
        """Ask; `step` returns the note on the answer when it comes."""
        self._waiting.append((self._services[kind].call_async(request), note))

    def change_scene(self, scene: Scene) -> None:
        """Send the objects that were added, changed or removed to the node's scene."""
        header = Header(frame_id=self.robot.root_frame)
        before, now = self.scene.objects, scene.objects
        message = scene_message(SceneState(scene), {}, 0, header)
        new = {name for name, item in now.items() if item is not before.get(name)}
        change = PlanningScene(is_diff=True)
        change.robot_state.is_diff = True
        change.object_colors = [color for color in message.object_colors if color.id in new]
        change.world.collision_objects = [
            *(item for item in message.world.collision_objects if item.id in new),
            *(CollisionObject(id=name, operation=CollisionObject.REMOVE)
              for name in before if name not in now)]
        answer = self._ask(ApplyPlanningScene, ApplyPlanningScene.Request(scene=change))
        if not answer.success:
            raise IKError(answer.message)
        # what the node has of it: numbers come back rounded
        self._take_scene(self._ask(GetPlanningScene, GetPlanningScene.Request()))

    def place(self, q: Array) -> None:
        """Raise: it stands where it is."""
        raise IKError('the robot stands where it is: drag a goal, and press Move there')

    def solve(self, question: Question) -> Answer:
        """Answer a question by ~/compute_ik."""
        request = self._request(question)
        if question.dragging:    # so that the arm does not jump while there is an answer near it
            request.timeout, request.max_joint_change = NEAR_TIMEOUT, NEAR
            response = self._ask(ComputeIK, request)
            if response.status == Status.SUCCESS:
                return self._answer(question, response)
            request.timeout, request.max_joint_change = DRAG_TIMEOUT, 0.0
        return self._answer(question, self._ask(ComputeIK, request,
                                                PATIENCE + request.timeout.sec))

    def _request(self, question: Question) -> ComputeIK.Request:
        try:
            goal = goal_of({name: value for name, value in question.problem.items()
                            if name not in ('targets', 'tips')})
        except BadQuestion as error:
            raise IKError(str(error)) from None
        request = fill(ComputeIK.Request(), goal)
        request.execute = False
        request.tips = list(question.targets)
        request.targets = [_pose(T) for T in question.targets.values()]
        # all other joints are where joint_states have them
        fill_state(request.seed, self.robot.to_joints(question.seed), self._answered)
        request.solutions = question.solutions
        return request

    def _answer(self, question: Question, response: ComputeIK.Response) -> Answer:
        status = Status(response.status)
        reached = Reached.YES if status is Status.SUCCESS else (
            Reached.TOUCHING if status is Status.GOAL_IN_COLLISION else Reached.NO)
        found = [response.solution if reached is Reached.YES else response.best_attempt,
                 *response.alternatives]
        message = f'{status.name}: {response.message}'
        if reached is Reached.NO and not found[0].joint_state.name:    # it was refused
            raise IKError(message)
        self._answered = list(found[0].joint_state.name)
        at = [self.robot.to_q(state_values(state, self.robot), self.q) for state in found]
        answer = partial(Answer, reached=reached, message=message)
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
        self._check()
        request = Execute.Request(avoid_collisions=avoid_collisions)
        fill_state(request.goal, self.robot.to_joints(q), self._answered)
        self._later(Execute, request,
                    lambda response: f'{Status(response.status).name}: {response.message}')
        return 'on the way'

    def stop(self) -> None:
        """Brake, also motions that other clients asked for."""
        if not self._services[Trigger].service_is_ready():    # but of another robot, too
            raise IKError(f'{self._client.name} is gone: start the node')
        self._later(Trigger, Trigger.Request(), lambda response: str(response.message))


def _pose(T: Array) -> PoseStamped:
    """Return a pose (4, 4) in the root frame."""
    message = PoseStamped()
    fill_pose(message.pose, pin.SE3(T))
    return message
