"""MoveIt's apply_planning_scene and get_planning_scene, and topic monitored_planning_scene."""

from dataclasses import dataclass
from typing import Any

from moveit_msgs.msg import PlanningScene as PlanningSceneMessage
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.node import Node
from rclpy.publisher import Publisher

from ros2_ik.core import Status
from ros2_ik.messages.planning_scenes import scene_diff, SceneState
from ros2_ik.node.endpoints.answering import header
from ros2_ik.node.endpoints.planning_scene import PlanningSceneEndpoints
from ros2_ik.node.endpoints.registry import Endpoint, publish_as_moveit, serve_as_moveit
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.srv import ApplyPlanningScene as Apply, GetPlanningScene as Get


@dataclass(eq=False)
class MoveItScene(Endpoint, name='moveit_scene'):
    """
    Answers by ~/apply_planning_scene and ~/get_planning_scene, and publishes changes.

    The requests are those of the node's own services.
    """

    node: Node
    parameters: Parameters
    current_state: CurrentState
    scene: PlanningScene
    planning_scene: PlanningSceneEndpoints

    def __post_init__(self) -> None:
        self._publisher: Publisher | None = None
        self._last: SceneState | None = None
        self.scene.receivers.append(self._publish)
        publish_as_moveit(self.node, self.parameters, PlanningSceneMessage,
                          'monitored_planning_scene', self._publish_to)
        for interface, name, answer in (
                (ApplyPlanningScene, 'apply_planning_scene', self.apply),
                (GetPlanningScene, 'get_planning_scene', self.get)):
            serve_as_moveit(self.node, self.parameters, interface, name, answer)

    async def apply(self, request: Any, response: Any) -> Any:
        """Change the scene; the log has the reason where that is refused."""
        ours = await self.planning_scene.apply(request, Apply.Response())
        response.success = ours.success
        if not ours.success:
            self.node.get_logger().error(f'apply_planning_scene: {ours.message}')
        return response

    async def get(self, request: Any, response: Any) -> Any:
        """Return the scene."""
        ours = await self.planning_scene.get(request, Get.Response())
        if ours.status != Status.SUCCESS:
            self.node.get_logger().error(f'get_planning_scene: {ours.message}')
        response.scene = ours.scene
        return response

    def _publish_to(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def _publish(self, known: SceneState) -> None:
        """Publish the change of the scene; called in the thread that makes changes."""
        last, self._last = self._last, known
        if self._publisher is not None and self._publisher.get_subscription_count():
            robot = known.scene.robot
            self._publisher.publish(scene_diff(last, known, self.current_state.known(robot),
                                               header(self.node, robot.root_frame)))
