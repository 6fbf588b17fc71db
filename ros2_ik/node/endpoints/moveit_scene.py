"""Services apply_planning_scene and get_planning_scene of MoveIt's types."""

from dataclasses import dataclass
from typing import Any

from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.node import Node

from ros2_ik.core import Status
from ros2_ik.node.endpoints.planning_scene import PlanningSceneEndpoints
from ros2_ik.node.endpoints.registry import Endpoint, serve_as_moveit
from ros2_ik.node.parameters import Parameters
from ros2_ik.srv import ApplyPlanningScene as Apply, GetPlanningScene as Get


@dataclass(eq=False)
class MoveItScene(Endpoint, name='moveit_scene'):
    """Answers by ~/apply_planning_scene and ~/get_planning_scene, whose requests are the same."""

    node: Node
    parameters: Parameters
    planning_scene: PlanningSceneEndpoints

    def __post_init__(self) -> None:
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
