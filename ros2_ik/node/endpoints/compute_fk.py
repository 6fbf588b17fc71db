"""Service ~/compute_fk."""

from typing import Any

from geometry_msgs.msg import PoseStamped

from ros2_ik.core import AmbiguousTipError, Configuration, group_tips, Robot, Status
from ros2_ik.messages.frames import group_name, link_name, reference, tip_name
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.node.endpoints.answering import answering
from ros2_ik.node.node_context import NodeContext

MAX_LINKS = 1000   # more would keep the node from other requests


class ComputeFK:
    """Answers where links are."""

    def __init__(self, context: NodeContext) -> None:
        self._context = context

    @answering('compute_fk')
    async def answer(self, request: Any, response: Any) -> None:
        """Answer a request."""
        await self._context.settled(lambda: self._answer(request, response))

    def _answer(self, request: Any, response: Any) -> None:
        context = self._context
        robot = context.robot()
        links = self._links(request.links, robot)
        frame = reference(robot, request.frame_id, context.transforms.lookup())
        needed = frozenset().union(*(robot.moving_joints(link, frame.frame) for link in links))
        q = context.state.start(robot, joint_values(request.state, robot, 'state'), needed).q
        at = Configuration(robot, q, robot.scratch_data())
        origin = frame.placement(at)
        header = context.header(request.frame_id.removeprefix('/') or robot.root_frame)
        for link in links:
            place = at.placement(link)
            pose = PoseStamped(header=header)
            fill_pose(pose.pose, place if origin is None else origin.actInv(place))
            response.poses.append(pose)
        response.links, response.status = links, int(Status.SUCCESS)
        response.message = f'{len(links)} pose{"s" * (len(links) != 1)} in {header.frame_id}'

    def _links(self, names: Any, robot: Robot) -> list[str]:
        if len(names) > MAX_LINKS:
            raise RequestError(Status.INVALID_LINK_NAME,
                               f'{len(names)} links; at most {MAX_LINKS} are read')
        if names:
            return [link_name(robot, name, 'links') for name in names]
        defaults = self._context.parameters
        try:
            return [tip_name(robot, '', defaults)]
        except AmbiguousTipError:
            group = group_name(robot, '', defaults)
            return list(group_tips(robot, group)) if group else self._all_tips(robot)

    def _all_tips(self, robot: Robot) -> list[str]:
        tips = list(group_tips(robot))
        if not tips:
            raise RequestError(
                Status.INVALID_LINK_NAME, 'no link is named and the robot has no tips')
        return tips
