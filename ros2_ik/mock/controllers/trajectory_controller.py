"""Mock of a joint_trajectory_controller, with its action if control_msgs has that action."""

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

from control_msgs.msg import JointTrajectoryControllerState
import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Array
from ros2_ik.mock.controllers.controller import MockController, SYSTEM_DEFAULT
from ros2_ik.mock.controllers.joints import MockJoints
from ros2_ik.mock.controllers.trajectory import invalid_reason, nanoseconds, read_knots, Trajectory

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None

if TYPE_CHECKING:
    from control_msgs.msg import JointTolerance


class TrajectoryController(MockController):
    """
    Controller that follows trajectories on `~/joint_trajectory` (trajectory_msgs/JointTrajectory).

    A new trajectory replaces the current one. As in joint_trajectory_controller 4.17, each starts
    at the measured state of the last cycle; the first command is one cycle ahead of that state.
    `~/controller_state` reports only the speed scaling. If control_msgs has FollowJointTrajectory,
    the controller offers the action `~/follow_joint_trajectory`.
    """

    def __init__(self, name: str, hardware: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name, hardware, joints)
        self.trajectory: Trajectory | None = None
        self._last_update = 0
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_trajectory,
                                 SYSTEM_DEFAULT)
        self._state = self.create_publisher(
            JointTrajectoryControllerState, '~/controller_state', 1)
        self._goal = GoalServer(self) if FollowJointTrajectory else None

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._check_active() and self.accepts(message):
            self.follow(message)

    def accepts(self, message: JointTrajectory) -> bool:
        """Return whether a trajectory is valid; log the reason if not."""
        if reason := invalid_reason(message, self.joints, self.get_clock().now().nanoseconds):
            self.get_logger().error(f'refused a trajectory: {reason}')
        return not reason

    def follow(self, message: JointTrajectory) -> None:
        """Follow a valid trajectory from the next update on."""
        stamp = nanoseconds(message.header.stamp)
        self.trajectory = Trajectory(read_knots(message, self.joints), stamp)

    def hold(self) -> None:
        """Stop immediately at the measured position."""
        self.release()
        self.hardware.command(self.joints, self._measured()[0])

    def release(self) -> None:
        """Drop the trajectory."""
        self.trajectory = None

    def activate(self) -> None:
        """Start receiving commands; earlier commands are ignored."""
        super().activate()
        self._last_update = 0

    def deactivate(self) -> None:
        """Stop receiving commands and abort the goal; the joints keep their last command."""
        super().deactivate()
        if self._goal:
            self._goal.abort('the controller was deactivated')

    def update(self, now: int) -> None:
        """Command the joints along the trajectory."""
        if self._goal:
            # check the goal before the next command: tolerances apply to the last command
            self._goal.update(now)
        if self.trajectory:
            jumps = not self.trajectory.has_started and self._begin(self.trajectory, now)
            position, velocity = self.trajectory.sample(now)
            self.hardware.command(self.joints, position,
                                  None if jumps else velocity * self.hardware.time_scale)
        self._last_update = now
        self._state.publish(JointTrajectoryControllerState(
            joint_names=self.joints, speed_scaling_factor=self.hardware.time_scale))

    def _begin(self, trajectory: Trajectory, now: int) -> bool:
        """Begin a trajectory; return whether it begins with a jump from measured positions."""
        # the measured state is that of the last update, so the motion starts at that time
        start, measured, hardware = self._last_update or now, self._measured(), self.hardware
        trajectory.begin(start, *measured, hardware.is_continuous(self.joints), hardware.time_lag)
        return not np.allclose(trajectory.sample(start)[0], measured[0], rtol=0, atol=1e-9)

    def _measured(self) -> tuple[Array, Array]:
        """Return measured positions (n,), and velocities (n,) per second of controller time."""
        position, velocity = self.hardware.position, self.hardware.velocity
        return (np.array([position[joint] for joint in self.joints]),
                np.array([velocity[joint] for joint in self.joints]) / self.hardware.time_scale)


class GoalServer:
    """
    Action server that passes goals to the controller, and monitors the current goal.

    A new goal aborts the current goal. After a cancel, the controller holds the measured position.
    A goal without goal tolerances succeeds at the end of its duration, wherever the joints are.
    The server publishes no feedback.
    """

    def __init__(self, controller: TrajectoryController) -> None:
        self._controller = controller
        self._goal: Any = None
        self._results: dict[bytes, Future] = {}   # results of goals that have not ended, by UUID
        self._server = ActionServer(
            controller, FollowJointTrajectory, f'{controller.get_name()}/follow_joint_trajectory',
            execute_callback=self._execute, goal_callback=self._on_goal,
            handle_accepted_callback=self._start, cancel_callback=lambda _: CancelResponse.ACCEPT)

    def _on_goal(self, request: 'FollowJointTrajectory.Goal') -> GoalResponse:
        controller = self._controller
        if not controller.active:
            controller.get_logger().error('rejected a goal: the controller is not active')
            return GoalResponse.REJECT
        accepted = controller.accepts(request.trajectory)
        return GoalResponse.ACCEPT if accepted else GoalResponse.REJECT

    def _start(self, goal: ServerGoalHandle) -> None:
        self.abort('preempted by a new goal')
        self._goal = goal
        # `_execute` awaits this future, which `_end` completes
        self._results[bytes(goal.goal_id.uuid)] = Future()
        self._controller.follow(goal.request.trajectory)
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
            self.abort('another source commands the joints')
        elif trajectory.has_started:
            self._check_tolerances(now - trajectory.end)

    def _check_tolerances(self, late: int) -> None:
        # path tolerances apply before the end, goal tolerances after; `late`: time since end [ns]
        request, errors = self._goal.request, self._errors()
        path = _tolerances(request.path_tolerance, errors)
        end = _tolerances(request.goal_tolerance, errors)
        time_tolerance = nanoseconds(request.goal_time_tolerance)
        if late < 0:
            violating = [joint for joint, bound in path.items() if abs(errors[joint]) > bound]
            self._fail(violating, 'path tolerance violated', -4)
        elif all(abs(errors[joint]) <= bound for joint, bound in end.items()):
            self._goal.succeed()
            self._end('goal successfully reached')
        # a goal time tolerance of 0 means no limit
        elif 0 < time_tolerance < late:
            self._fail(list(end), 'goal tolerance violated', -5)

    def _fail(self, joints: list[str], text: str, code: int) -> None:
        if joints:
            self._controller.hold()
            self.abort(f'{text}: {", ".join(joints)}', code)

    def _errors(self) -> dict[str, float]:
        hardware = self._controller.hardware
        return {joint: hardware.commanded[joint] - hardware.position[joint]
                for joint in self._controller.joints}


def _tolerances(given: 'list[JointTolerance]', joints: dict[str, float]) -> dict[str, float]:
    """Return the position tolerances of joints; 0 and -1 mean that a joint is not checked."""
    return {tolerance.name: tolerance.position for tolerance in given
            if tolerance.name in joints and tolerance.position > 0}
