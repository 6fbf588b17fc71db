"""The action of the mock joint_trajectory_controller; needs control_msgs."""

from typing import Any, TYPE_CHECKING

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from ros2_ik.mock.controllers.trajectory import nanoseconds

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None

if TYPE_CHECKING:
    from control_msgs.msg import JointTolerance

    from ros2_ik.mock.controllers.trajectory_controller import TrajectoryController


def follow_joint_trajectory(controller: 'TrajectoryController') -> 'GoalWatch | None':
    """Create the action `<controller>/follow_joint_trajectory`; None without control_msgs."""
    return GoalWatch(controller) if FollowJointTrajectory else None


class GoalWatch:
    """
    Action server whose goals replace the controller's trajectory; monitors the current goal.

    A new goal aborts the current goal. After a cancel, the controller holds the measured position.
    A goal without goal tolerances succeeds at the end of its time, wherever the joints are. No
    feedback is published.
    """

    def __init__(self, controller: 'TrajectoryController') -> None:
        self._controller = controller
        self._goal: Any = None
        self._results: dict[bytes, Future] = {}   # of goals that have not ended, by UUID
        self._server = ActionServer(
            controller, FollowJointTrajectory, f'{controller.get_name()}/follow_joint_trajectory',
            execute_callback=self._execute, goal_callback=self._on_goal,
            handle_accepted_callback=self._start, cancel_callback=lambda _: CancelResponse.ACCEPT)

    def _on_goal(self, request: 'FollowJointTrajectory.Goal') -> GoalResponse:
        controller = self._controller
        if not controller.active:
            controller.get_logger().error('rejected a goal: the controller is not active')
            return GoalResponse.REJECT
        good = controller.accepts(request.trajectory)
        return GoalResponse.ACCEPT if good else GoalResponse.REJECT

    def _start(self, goal: ServerGoalHandle) -> None:
        self.abort('preempted by a new goal')
        self._goal = goal
        # `_execute` awaits this future, which `_end` completes
        self._results[bytes(goal.goal_id.uuid)] = Future()
        self._controller.take(goal.request.trajectory)
        goal.execute()

    async def _execute(self, goal: ServerGoalHandle) -> 'FollowJointTrajectory.Result':
        identity = bytes(goal.goal_id.uuid)
        result = await self._results[identity]
        del self._results[identity]
        return result

    def abort(self, text: str, code: int = -1) -> None:
        """Abort the current goal, if there is one."""
        if self._goal:
            self._goal.abort()
            self._end(text, code)

    def _end(self, text: str = '', code: int = 0) -> None:
        goal, self._goal = self._goal, None
        self._results[bytes(goal.goal_id.uuid)].set_result(
            FollowJointTrajectory.Result(error_code=code, error_string=text))

    def update(self, now: int) -> None:
        """Compare the joints with the current goal, and end the goal if it is reached or fails."""
        if not self._goal or not self._goal.is_active:
            return
        trajectory = self._controller.trajectory
        if self._goal.is_cancel_requested:
            self._controller.hold()
            self._goal.canceled()
            self._end()
        # `release` has dropped the trajectory
        elif trajectory is None:
            self.abort('another commands the joints')
        elif trajectory.begun:
            self._check_tolerances(now - trajectory.end)

    def _check_tolerances(self, late: int) -> None:
        # path tolerances before the end, goal tolerances after it; `late` is the time since [ns]
        request, errors = self._goal.request, self._errors()
        path = _tolerances(request.path_tolerance, errors)
        end = _tolerances(request.goal_tolerance, errors)
        patience = nanoseconds(request.goal_time_tolerance)
        if late < 0:
            violating = [joint for joint, bound in path.items() if abs(errors[joint]) > bound]
            self._fail(violating, 'path tolerance violated', -4)
        elif all(abs(errors[joint]) <= bound for joint, bound in end.items()):
            self._goal.succeed()
            self._end('goal successfully reached')
        # a goal time tolerance of 0 means no limit
        elif 0 < patience < late:
            self._fail(list(end), 'goal tolerance violated', -5)

    def _fail(self, joints: list[str], text: str, code: int) -> None:
        if joints:
            self._controller.hold()
            self.abort(f'{text}: {", ".join(joints)}', code)

    def _errors(self) -> dict[str, float]:
        body = self._controller.body
        return {joint: body.commanded[joint] - body.position[joint]
                for joint in self._controller.joints}


def _tolerances(given: 'list[JointTolerance]', joints: dict[str, float]) -> dict[str, float]:
    """Return the position tolerances of joints; 0 and -1 mean that a joint is not checked."""
    return {tolerance.name: tolerance.position for tolerance in given
            if tolerance.name in joints and tolerance.position > 0}
