"""Services ~/compute_ik, and ~/solve_ik of MoveIt's type GetPositionIK."""

from moveit_msgs.srv import GetPositionIK

from ros2_ik.core import Status
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.node.endpoints.endpoint import set_status
from ros2_ik.node.endpoints.ik_requests import IKEndpoint
from ros2_ik.srv import ComputeIK as Service

# MoveIt reports every failed search as NO_IK_SOLUTION
SEARCH_FAILED = {Status.TIMED_OUT, Status.GOAL_IN_COLLISION, Status.GOAL_CONSTRAINTS_VIOLATED,
                 Status.APPROXIMATE}


class ComputeIK(IKEndpoint):
    """IK services; short searches for poses run in the node's thread, all others in a worker."""

    def offer(self) -> None:
        self.serve(Service, '~/compute_ik', self.answer)
        self.serve(GetPositionIK, '~/solve_ik', self.answer_moveit)
        self.serve_as_moveit(GetPositionIK, 'compute_ik', self.answer_moveit)

    async def answer(self, request: Service.Request, response: Service.Response) -> None:
        """Answer ~/compute_ik."""
        # read before the first await, so that a later stop prevents the motion
        stop_count = self.motions.stop_count
        prepared = await self.when_ready(lambda: self.read(request))
        await self.solve(prepared, response, stop_count, 'service compute_ik')

    async def answer_moveit(self, request: GetPositionIK.Request,
                            response: GetPositionIK.Response) -> None:
        """Answer as move_group's compute_ik does: the solution has all joints of the robot."""
        ik_request, answer = request.ik_request, Service.Response()
        prepared = await self.when_ready(lambda: self.read_moveit(
            ik_request, self.scene.parse_state(ik_request.robot_state, self.description.current(),
                                               'robot_state')))
        # `stop_count` is 0, since this service never moves the robot
        solution = await self.solve(prepared, answer, 0, 'service solve_ik')
        status = Status(answer.status)
        # MoveIt's type has no field for links that were not checked: the message names them
        notes = self.scene.left_out if ik_request.avoid_collisions else []
        set_status(response, Status.NO_IK_SOLUTION if status in SEARCH_FAILED else status,
                   '; '.join([answer.message, *notes]))
        if status is Status.SUCCESS:
            robot = prepared.robot
            joints = robot.to_joints(solution.best_q, include_mimic=True)
            fill_state(response.solution, joints, joints, robot.root_frame)
