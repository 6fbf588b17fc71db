"""Services ~/compute_fk, and compute_fk of MoveIt's type GetPositionFK."""

from collections.abc import Sequence

from geometry_msgs.msg import PoseStamped
from moveit_msgs.srv import GetPositionFK

from ros2_ik.core import Configuration, Scene, Status
from ros2_ik.core.errors import AmbiguousTipError
from ros2_ik.core.internals import group_tips
from ros2_ik.messages.frames import framed_robot, group_name, link_name, reference, tip_name
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.answering import answering, header, set_status, settled
from ros2_ik.node.endpoints.registry import Endpoint
from ros2_ik.node.state.planning_scene import StateInScene
from ros2_ik.srv import ComputeFK as Service


class ComputeFK(Endpoint):
    """Services that return the poses of links and frames."""

    def offer(self) -> None:
        self.serve(Service, '~/compute_fk', self.answer)
        self.serve_as_moveit(GetPositionFK, 'compute_fk', self.answer_moveit)

    @answering('compute_fk')
    @settled
    def answer(self, request: Service.Request, response: Service.Response) -> None:
        """Answer ~/compute_fk."""
        state = self.scene.of_state(request.state, self.description.current(), 'state')
        links = self._links(request.links, state.scene)
        response.poses = self._poses(links, state, request.frame_id)
        response.links, response.status = links, int(Status.SUCCESS)
        response.message = (f'{len(links)} pose{"s" * (len(links) != 1)} in '
                            f'{response.poses[0].header.frame_id}')

    @answering('compute_fk')
    @settled
    def answer_moveit(self, request: GetPositionFK.Request,
                      response: GetPositionFK.Response) -> None:
        """Answer as move_group does: poses of known links, INVALID_LINK_NAME if any is unknown."""
        state = self.scene.of_state(request.robot_state, self.description.current(), 'robot_state')
        asked, frames = request.fk_link_names, {*state.scene.frame_names}
        known = [name for name in asked if name.removeprefix('/') in frames]
        unknown = [name for name in asked if name not in known]
        if known:
            links = self._links(known, state.scene)
            response.pose_stamped = self._poses(links, state, request.header.frame_id)
            response.fk_link_names = links
        set_status(
            response, *(Status.SUCCESS, '') if known and not unknown else (
                Status.INVALID_LINK_NAME, f'unknown links: {", ".join(unknown) or "none named"}'))

    def _poses(self, links: Sequence[str], state: StateInScene, frame_id: str) \
            -> list[PoseStamped]:
        """Return the poses of links in a frame of the robot, the scene or TF ('': root frame)."""
        robot = framed_robot(state.scene, links)
        frame = reference(robot, state.scene, frame_id, self.transforms.lookup())
        # only joints between the frame and a link need known positions
        needed = frozenset().union(*(robot.moving_joints(link, frame.frame) for link in links))
        q = self.current_state.start(robot, state.given, needed).q
        at = Configuration(robot, q, robot.scratch_data())
        origin, poses = frame.placement(at), []
        head = header(self.node, frame_id.removeprefix('/') or robot.root_frame)
        for link in links:
            place = at.placement(link)
            poses.append(PoseStamped(header=head))
            fill_pose(poses[-1].pose, place if origin is None else origin.actInv(place))
        return poses

    def _links(self, names: Sequence[str], scene: Scene) -> list[str]:
        """Return the valid link names; without names, the default tip or all tips of the group."""
        robot = framed_robot(scene, names)
        if names:
            return [link_name(robot, name, 'links', scene) for name in names]
        try:
            return [tip_name(robot, '', self.parameters)]
        except AmbiguousTipError:
            tips = list(group_tips(robot, group_name(robot, '', self.parameters)))
        if not tips:
            raise RequestError(
                Status.INVALID_LINK_NAME, 'no link is named and the robot has no tips')
        return tips
