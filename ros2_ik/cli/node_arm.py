"""The robot of a running node as an `Arm`, for the viewer and for RViz."""

from collections.abc import Callable, Mapping, Sequence
import math
import time
from typing import Any

import numpy as np
from rclpy.task import Future
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ros2_ik.cli.arguments import CommandError
from ros2_ik.cli.goal_client import state_values
from ros2_ik.cli.goal_file import fill, goal_of
from ros2_ik.cli.library import NO_TF
from ros2_ik.cli.node_client import LATCHED, NodeClient
from ros2_ik.core import Array, Configuration, Contact, IKError, Robot, Scene, Status
from ros2_ik.core.internals import TargetError
from ros2_ik.messages.frames import without_tf
from ros2_ik.messages.planning_scenes import changed_scene, SceneState
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.messages.scene_changes import ConversionContext
from ros2_ik.srv import ComputeIK, Execute, GetPlanningScene
from ros2_ik.view.arm import Answer, AnswerQuality, Arm

TIMEOUT = 5.0           # time for a response, in addition to the search's timeout [s]
STALE_STATE_AGE = 2.0         # age of joint_states above which they are stale [s]
SERVICES = {ComputeIK: 'compute_ik', Execute: 'execute', Trigger: 'stop',
            GetPlanningScene: 'get_planning_scene'}


class NodeArm(Arm):
    """
    `Arm` of a running node: the node solves problems, moves the robot and stores the scene.

    `step` updates `q` (nq,) from joint_states. `moving` is True: other clients may move the robot,
    too. Raises CommandError if the node's services are not available within `wait` seconds. If
    the node ends later, all requests raise IKError until the node is started again.
    """

    moving = True

    def __init__(self, client: NodeClient, robot: Robot, wait: float) -> None:
        self._client, self.robot = client, robot
        self.q = np.array(robot.neutral)
        self._answered: Sequence[str] = robot.joint_names   # joints of the last answer
        self.scene, self._outdated = Scene(robot), True
        self._services = {kind: client.connect(kind, service, wait)
                          for kind, service in SERVICES.items()}
        # pending requests, each with the function that turns its response into a note
        self._pending: list[tuple[Future, Callable[[Any], str]]] = []
        self._had_trouble = False
        client.node.create_subscription(MarkerArray, f'{client.name}/scene_markers',
                                        self._on_markers, LATCHED)
        self.step()

    # -- messages of the node --------------------------------------------------------------

    def _on_markers(self, _: MarkerArray) -> None:
        # the node publishes markers whenever its scene has changed
        self._outdated = True

    def step(self) -> str:
        """Process received messages; returns a note for the user, or ''."""
        # a slow page has no time to call `wait`, so up to two messages are processed here
        for _ in range(2):
            self.wait(0.0)
        self.q = self.robot.to_q({
            name: value for name, value in self._client.joints.items()
            if name in self.robot.joint_names and math.isfinite(value)}, self.q)
        reason, age = self._unavailable_reason(), time.monotonic() - self._client.joints_time
        if reason:
            # pending responses may belong to the previous robot
            self._pending, self._outdated = [], True
        elif self._outdated:
            self._outdated = False
            self._send(GetPlanningScene, GetPlanningScene.Request(), self._set_scene)
        trouble = reason or (f'no joint_states for {age:.0f} s: the robot may have moved'
                             if age > STALE_STATE_AGE else '')
        had_trouble, self._had_trouble = self._had_trouble, bool(trouble)
        notes = [note for note in self._received_notes() if note]
        return trouble or (notes[0] if notes else '') or (
            'the node and joint_states are available again' if had_trouble else '')

    def _received_notes(self) -> list[str]:
        """Return the notes of all responses received since the last call."""
        # remove responses before reading them: a response that raises must not be read again
        done = [one for one in self._pending if one[0].done()]
        self._pending = [one for one in self._pending if one not in done]
        return [note(future.result()) for future, note in done]

    def _set_scene(self, response: GetPlanningScene.Response) -> str:
        context = ConversionContext(lambda _: Configuration(self.robot, self.q),
                                    without_tf(NO_TF), 'exact')
        self.scene = changed_scene(SceneState(Scene(self.robot)), response.scene, context).scene
        return ''

    # -- requests --------------------------------------------------------------------------

    def _unavailable_reason(self) -> str:
        """Return the reason why requests cannot be sent, or ''."""
        if not self._services[ComputeIK].service_is_ready():
            return f'{self._client.name} is not available: start the node'
        return ('another robot_description was received: restart the viewer to show the new '
                'robot') if self._client.has_another_robot else ''

    def _check(self) -> None:
        if reason := self._unavailable_reason():
            raise IKError(reason)

    def add_abort_condition(self, condition: Callable[[], bool]) -> None:
        """Make waits for responses also end, with an IKError, as soon as `condition()` is True."""
        self._client.abort_conditions.append(condition)

    def wait(self, seconds: float) -> None:
        """Wait for a message or a call of `wake`, for at most `seconds`."""
        self._client.wait(seconds)

    def wake(self) -> None:
        """End the current or the next call of `wait`; thread-safe."""
        self._client.wake()

    def _send(self, kind: type, request: object, note: Callable[[Any], str]) -> None:
        """Call a service without waiting; `step` returns note(response) later."""
        self._pending.append((self._services[kind].call_async(request), note))

    def set_state(self, q: Array) -> None:
        """Raise IKError: only a simulated arm's joint values can be set."""
        raise IKError('the robot of a node cannot be placed: drag a goal, and click Move there')

    def solve(self, problem: Mapping[str, object], seed: Array) -> Answer:
        """Solve a problem with the service ~/compute_ik; the search starts at seed (nq,)."""
        self._check()
        try:
            request = fill(ComputeIK.Request(), goal_of(problem))
            # only the joints of the last answer: the node takes all others from joint_states
            fill_state(request.seed, self.robot.to_joints(seed), self._answered)
            return self._answer(request, self._client.ask(
                self._services[ComputeIK], request, TIMEOUT + request.timeout.sec))
        except CommandError as error:
            raise IKError(str(error)) from None

    def _answer(self, request: ComputeIK.Request, response: ComputeIK.Response) -> Answer:
        status = Status(response.status)
        quality = (AnswerQuality.SOLVED if status is Status.SUCCESS else AnswerQuality.IN_CONTACT
                   if status is Status.GOAL_IN_COLLISION else AnswerQuality.FAILED)
        found = [response.solution if quality is AnswerQuality.SOLVED else response.best_attempt,
                 *response.alternatives]
        message = f'{status.name}: {response.message}'
        # a response without joint values: the node rejected the request
        if quality is AnswerQuality.FAILED and not found[0].joint_state.name:
            raise IKError(message)
        self._answered = list(found[0].joint_state.name)
        at = [self.robot.to_q(state_values(state, self.robot), self.q) for state in found]
        errors = tuple(TargetError(tip, position, orientation) for tip, position, orientation in
                       zip(request.tips, response.position_errors,
                           response.orientation_errors, strict=False))
        contacts = [Contact(one.contact_body_1, one.contact_body_2, one.depth,
                            (one.position.x, one.position.y, one.position.z))
                    for one in response.contacts]
        return Answer(at[0], quality, message, errors, contacts, response.seconds,
                      tuple(response.not_checked),
                      tuple(Answer(q, quality, message) for q in at[1:]))

    # -- motions ---------------------------------------------------------------------------

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """Request a motion to q (nq,), collision-checked if `avoid_collisions`; returns a note."""
        self._check()
        request = Execute.Request(avoid_collisions=avoid_collisions)
        fill_state(request.goal, self.robot.to_joints(q), self._answered)
        self._send(Execute, request,
                   lambda response: f'{Status(response.status).name}: {response.message}')
        return 'on the way'

    def stop(self) -> None:
        """Stop the robot, including motions that other clients requested."""
        # instead of `_check`: a stop is sent even if the robot_description has changed
        if not self._services[Trigger].service_is_ready():
            raise IKError(f'{self._client.name} is not available: start the node')
        self._send(Trigger, Trigger.Request(), lambda response: str(response.message))
