"""Services ~/compute_fk, and compute_fk of MoveIt's type GetPositionFK."""

from collections.abc import Sequence

from geometry_msgs.msg import Pose, PoseStamped
from moveit_msgs.msg import RobotState
from moveit_msgs.srv import GetPositionFK

from ros2_ik.core import Configuration, Status
from ros2_ik.core.errors import counted
from ros2_ik.messages.frames import framed_robot, link_name, reference, tip_name
from ros2_ik.messages.poses import fill_pose
from ros2_ik.node.endpoints.endpoint import Endpoint, set_status
from ros2_ik.srv import ComputeFK as Service


class ComputeFK(Endpoint):
    """Services that return the poses of links and frames."""

    def offer(self) -> None:
        self.serve(Service, '~/compute_fk', self.answer)
        self.serve_as_moveit(GetPositionFK, 'compute_fk', self.answer_moveit)

    def answer(self, request: Service.Request, response: Service.Response) -> None:
        """Answer ~/compute_fk."""
        response.links, response.poses = self._poses(request.links, request.state, 'state',
                                                     request.frame_id)
        set_status(response, Status.SUCCESS, f'{counted(len(response.links), "pose")} in '
                   f'{response.poses[0].header.frame_id}')

    def answer_moveit(self, request: GetPositionFK.Request,
                      response: GetPositionFK.Response) -> None:
        """Answer as move_group does, but without poses if any link is unknown."""
        response.fk_link_names, response.pose_stamped = self._poses(
            request.fk_link_names, request.robot_state, 'robot_state', request.header.frame_id)
        set_status(response, Status.SUCCESS, '')

    def _poses(self, names: Sequence[str], given: RobotState, label: str, frame_id: str) \
            -> tuple[list[str], list[PoseStamped]]:
        """
        Return links and their poses in a frame of the robot, the scene or TF ('': root frame).

        Without names, the link is the default tip.
        """
        state = self.scene.parse_state(given, self.description.current(), label)
        robot = framed_robot(state.scene, names)
        links = [link_name(robot, name, 'links', state.scene) for name in names] \
            or [tip_name(robot, '', self.parameters)]
        frame = reference(robot, state.scene, frame_id, self.transforms.locate)
        # only joints between the frame and a link need known positions
        required = frozenset().union(*(robot.moving_joints(link, frame.frame) for link in links))
        q = self.current_state.start(robot, state.given, required).q
        at = Configuration(robot, q, robot.scratch_data())
        origin = frame.placement(at)
        head = self.header(frame_id.removeprefix('/') or robot.root_frame)
        return links, [PoseStamped(header=head, pose=fill_pose(
            Pose(), origin.actInv(at.placement(link)))) for link in links]
