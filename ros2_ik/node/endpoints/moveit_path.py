"""Service compute_cartesian_path of MoveIt's type GetCartesianPath."""

import math

from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import PositionIKRequest
from moveit_msgs.srv import GetCartesianPath
from trajectory_msgs.msg import JointTrajectoryPoint

from ros2_ik.core import Array, Configuration, IKProblem, MotionLimits, Scene, Status
from ros2_ik.core.internals import PathOptions, PathSearch
from ros2_ik.messages.frames import reference
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import check_lengths, invalid
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.node.controllers.controller import motion_limits
from ros2_ik.node.controllers.trajectory_controller import duration_message
from ros2_ik.node.endpoints.endpoint import set_status
from ros2_ik.node.endpoints.ik_requests import IKEndpoint
from ros2_ik.node.motion.planning import checked_scaling, MAX_TIP_SPEED, scaled_limits

MAX_WAYPOINTS = 1000     # of a request; parsing more would delay other requests
MAX_SPACING = 0.1        # upper bound on max_step, the tip's step between configurations [m]


class MoveItPath(IKEndpoint):
    """Service that computes straight paths through waypoints; it never moves the robot."""

    def offer(self) -> None:
        self.serve_as_moveit(GetCartesianPath, 'compute_cartesian_path', self.answer)

    async def answer(self, request: GetCartesianPath.Request,
                     response: GetCartesianPath.Response) -> None:
        """Answer compute_cartesian_path; as in MoveIt, a partial path is a success."""
        search = await self.when_ready(lambda: self._read(request))
        found = await self.by_worker(search)
        set_status(response, Status.SUCCESS if found.fraction > 0 else found.status, found.message)
        robot = search.problem.robot
        joints = robot.to_joints(search.problem.start, include_mimic=True)
        fill_state(response.start_state, joints, joints, robot.root_frame)
        response.fraction = found.fraction
        trajectory = response.solution.joint_trajectory
        trajectory.header.frame_id = robot.root_frame
        trajectory.joint_names = list(search.problem.joint_names)
        trajectory.points = [JointTrajectoryPoint(
            positions=position, velocities=velocity, accelerations=acceleration,
            time_from_start=duration_message(time)) for time, (
                position, velocity, acceleration) in zip(
                    found.times.tolist(), found.states.tolist(), strict=True)]

    def _read(self, request: GetCartesianPath.Request) -> PathSearch:
        robot = self.description.current()
        check_lengths(request, {'waypoints': MAX_WAYPOINTS})
        if not request.max_step > 0:
            raise invalid(f'max_step is {request.max_step:g}; valid: above 0 [m]')
        for name in ('max_cartesian_speed', 'revolute_jump_threshold',
                     'prismatic_jump_threshold'):
            if math.isnan(getattr(request, name)):
                raise invalid(f'{name} is nan; valid: above 0, or 0 (unlimited)')
        state = self.scene.parse_state(request.start_state, robot, 'start_state')
        # the target's pose is not set here: PathSearch moves the target through the waypoints
        problem = self.read_moveit(PositionIKRequest(
            group_name=request.group_name, ik_link_name=request.link_name,
            pose_stamped=PoseStamped(header=request.header), robot_state=request.start_state,
            avoid_collisions=request.avoid_collisions, constraints=request.path_constraints),
            state).search.problem
        # the path starts at this state, so all joints that move need known positions
        self.current_state.start(robot, state.given, frozenset(problem.joint_names))
        return PathSearch(problem, self._poses(request, problem, state.scene),
                          self._limits(request, problem),
                          _tip_speed(request, problem.targets[0].tip), self._options(request))

    def _limits(self, request: GetCartesianPath.Request, problem: IKProblem) -> MotionLimits:
        parameters = self.parameters
        velocity, acceleration = (checked_scaling(
            getattr(request, name := f'max_{kind}_scaling_factor'), parameters, kind, name)
            for kind in ('velocity', 'acceleration'))
        return scaled_limits(motion_limits(problem.robot, problem.joint_names, parameters),
                             velocity, acceleration)

    def _poses(self, request: GetCartesianPath.Request, problem: IKProblem,
               scene: Scene) -> list[Array]:
        """Return the poses (4, 4) of all waypoints, in the root frame."""
        robot, tip = problem.robot, problem.targets[0].tip
        at = Configuration(robot, problem.within_limits(problem.start), robot.scratch_data())
        frame = reference(robot, scene, request.header.frame_id, self.transforms.locate)
        # `origin` is the pose of the waypoints' frame
        origin, poses = frame.placement(at), [at.placement(tip)]
        for index, waypoint in enumerate(request.waypoints):
            pose = read_pose(waypoint, f'waypoints[{index}]')
            # as in MoveIt, a waypoint in the tip's frame is relative to the previous waypoint
            if request.header.frame_id.removeprefix('/') == tip:
                origin = poses[-1]
            poses.append(origin * pose)
        return [pose.homogeneous for pose in poses[1:]]

    def _options(self, request: GetCartesianPath.Request) -> PathOptions:
        # a threshold of 0 means no threshold
        jumps = [threshold for threshold in (request.revolute_jump_threshold,
                                             request.prismatic_jump_threshold) if threshold > 0]
        return PathOptions(spacing=min(request.max_step, MAX_SPACING),
                           max_joint_step=min([PathOptions.max_joint_step, *jumps]),
                           resolution=self.parameters.path_resolution,
                           timeout=self.parameters.max_timeout)


def _tip_speed(request: GetCartesianPath.Request, tip: str) -> float:
    """Return the tip's maximum speed [m/s]; RequestError if the request limits another link."""
    if not request.max_cartesian_speed > 0:
        return MAX_TIP_SPEED
    link = request.cartesian_speed_limited_link.removeprefix('/')
    if link not in ('', tip):
        raise invalid(f"cartesian_speed_limited_link is '{link}'; valid: '{tip}', the tip of the "
                      'path')
    return float(request.max_cartesian_speed)
