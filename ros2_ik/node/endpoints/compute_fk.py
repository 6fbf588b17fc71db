"""Service ~/compute_fk."""

from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from ros2_ik.core import AmbiguousTipError, Configuration, group_tips, Robot, Scene, Status
from ros2_ik.messages.frames import framed_robot, group_name, link_name, reference, tip_name
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.answering import answering, header, Statistics
from ros2_ik.node.endpoints.registry import Endpoint, serve
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.srv import ComputeFK as Service

MAX_LINKS = 1000   # more would keep the node from other requests


@dataclass(eq=False)
class ComputeFK(Endpoint, name='compute_fk'):
    """Answers where links are."""

    node: Node
    parameters: Parameters
    statistics: Statistics
    description: Description
    current_state: CurrentState
    scene: PlanningScene
    transforms: Transforms
    settled: Settled

    def __post_init__(self) -> None:
        serve(self.node, Service, '~/compute_fk', self.answer)

    @answering('compute_fk')
    async def answer(self, request: Any, response: Any) -> None:
        """Answer a request."""
        await self.settled.read(lambda: self._answer(request, response))

    def _answer(self, request: Any, response: Any) -> None:
        scene, given = self.scene_of(request.state)
        robot = framed_robot(scene, request.links[:MAX_LINKS])
        links = self._links(request.links, robot, scene)
        frame = reference(robot, scene, request.frame_id, self.transforms.lookup())
        needed = frozenset().union(*(robot.moving_joints(link, frame.frame) for link in links))
        q = self.current_state.start(robot, given, needed).q
        at = Configuration(robot, q, robot.scratch_data())
        origin = frame.placement(at)
        head = header(self.node, request.frame_id.removeprefix('/') or robot.root_frame)
        for link in links:
            place = at.placement(link)
            pose = PoseStamped(header=head)
            fill_pose(pose.pose, place if origin is None else origin.actInv(place))
            response.poses.append(pose)
        response.links, response.status = links, int(Status.SUCCESS)
        response.message = f'{len(links)} pose{"s" * (len(links) != 1)} in {head.frame_id}'

    def scene_of(self, state: Any) -> tuple[Scene, dict[str, Any]]:
        """Return the scene with what a RobotState holds, and its joint values; raises IKError."""
        scene, given, _ = self.scene.of_state(state, self.description.current(), 'state')
        return scene, given

    def _links(self, names: Any, robot: Robot, scene: Scene) -> list[str]:
        if len(names) > MAX_LINKS:
            raise RequestError(Status.INVALID_LINK_NAME,
                               f'{len(names)} links; at most {MAX_LINKS} are read')
        if names:
            return [link_name(robot, name, 'links', scene) for name in names]
        defaults = self.parameters
        try:
            return [tip_name(robot, '', defaults)]
        except AmbiguousTipError:
            group = group_name(robot, '', defaults)
        tips = list(group_tips(robot, group))
        if not tips:
            raise RequestError(
                Status.INVALID_LINK_NAME, 'no link is named and the robot has no tips')
        return tips
