"""Services ~/apply_planning_scene, ~/get_planning_scene, and topics that change the scene."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    PlanningScene as PlanningSceneMessage,
)
from rclpy.node import Node

from ros2_ik.core import Status
from ros2_ik.messages.planning_scenes import changed_scene, scene_message, SceneState
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.messages.scene_changes import changed_attached, changed_object, ConversionContext
from ros2_ik.node.endpoints.answering import answering, header, reason_of, Statistics
from ros2_ik.node.endpoints.registry import Endpoint, QUEUE, serve, Wait
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import Applied, Change, PlanningScene
from ros2_ik.srv import ApplyPlanningScene, GetPlanningScene


@dataclass(eq=False)
class PlanningSceneEndpoints(Endpoint, name='planning_scene'):
    """Takes changes of the scene, each as a whole or not at all, and gives the scene."""

    node: Node
    statistics: Statistics
    description: Description
    current_state: CurrentState
    scene: PlanningScene
    wait: Wait

    def __post_init__(self) -> None:
        serve(self.node, ApplyPlanningScene, '~/apply_planning_scene', self.apply)
        serve(self.node, GetPlanningScene, '~/get_planning_scene', self.get)
        # as deep: a publisher may tell of many objects at once, and none may be lost
        self._subscriptions = [
            self.node.create_subscription(message, name, take, QUEUE) for message, name, take in (
                (PlanningSceneMessage, '~/planning_scene', self.take_scene),
                (CollisionObject, '~/collision_object', self.take_object),
                (AttachedCollisionObject, '~/attached_collision_object', self.take_attached))]

    def end(self) -> None:
        """Take no more messages: nobody waits for an answer, and to take them may take long."""
        for subscription in self._subscriptions:
            self.node.destroy_subscription(subscription)

    @answering('apply_planning_scene')
    async def apply(self, request: Any, response: Any) -> None:
        """Answer ApplyPlanningScene when the scene has changed."""
        message = request.scene
        result = await self.wait(lambda done: self._ask(*_whole(message), done))
        response.success = True
        response.message = self._told(result, message)

    @answering('get_planning_scene')
    async def get(self, request: Any, response: Any) -> None:
        """Answer GetPlanningScene."""
        robot = self.description.current()
        known = self.scene.known
        response.scene = scene_message(known, self.current_state.known(robot),
                                       request.components.components,
                                       header(self.node, robot.root_frame))
        response.status = int(Status.SUCCESS)
        response.message = _contents(known.scene) + (
            f'; {self.scene.fault}' if self.scene.fault else '')

    # -- topics: what fails is told in the log --------------------------------------------

    def take_scene(self, message: Any) -> None:
        """Take a PlanningScene."""
        self._take('planning_scene', message, *_whole(message))

    def take_object(self, message: Any) -> None:
        """Take a CollisionObject."""
        def change(known: SceneState, now: ConversionContext) -> SceneState:
            return known._replace(scene=changed_object(known.scene, message, now))
        self._take('collision_object', message, change)

    def take_attached(self, message: Any) -> None:
        """Take an AttachedCollisionObject."""
        def change(known: SceneState, now: ConversionContext) -> SceneState:
            return known._replace(scene=changed_attached(known.scene, message, now))
        self._take('attached_collision_object', message, change)

    def _take(self, topic: str, message: Any, change: Change, state: Any = None) -> None:
        log = self.node.get_logger()

        def done(result: Applied | Exception) -> None:
            if isinstance(result, Exception):
                log.error(f'{topic}: a message is refused: {reason_of(result, log)[1]}')
            else:
                log.debug(f'{topic}: {self._told(result, message)}')
        try:
            self._ask(change, state, done)
        except Exception as error:
            done(error)

    # -- both -----------------------------------------------------------------------------

    def _ask(self, change: Change, state: Any, done: Callable[[Any], None]) -> None:
        """Have the scene changed; `state` is the RobotState that comes with it, or None."""
        self.description.current()
        self.scene.apply(change, lambda robot: {} if state is None else joint_values(
            state, robot, 'robot_state'), done)

    def _told(self, result: Applied, message: Any) -> str:
        for note in result.notes:
            self.node.get_logger().warning(note)
        said = [] if getattr(message, 'is_diff', True) else [
            'the whole scene was replaced, since is_diff is false']
        return '; '.join([_contents(result.scene), *said, *result.notes])


def _whole(message: Any) -> tuple[Change, Any]:
    return lambda known, now: changed_scene(known, message, now), message.robot_state


def _contents(scene: Any) -> str:
    objects, held = list(scene.objects), list(scene.attached)
    text = f'the scene has {_list(objects)}'
    return f'{text}; attached: {_list(held)}' if held else text


def _list(names: list[str]) -> str:
    return _some([f"'{name}'" for name in names]) or 'no objects'


def _some(names: Any) -> str:
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return ', '.join(names[:5]) + more
