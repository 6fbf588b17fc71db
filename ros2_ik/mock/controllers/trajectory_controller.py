"""Mock of a joint_trajectory_controller."""

from collections.abc import Sequence

from control_msgs.msg import JointTrajectoryControllerState
import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Array
from ros2_ik.mock.controllers.controller import MockController, SYSTEM_DEFAULT
from ros2_ik.mock.controllers.follow_joint_trajectory import follow_joint_trajectory, GoalWatch
from ros2_ik.mock.controllers.joints import MockJoints
from ros2_ik.mock.controllers.trajectory import nanoseconds, read_knots, refusal, Trajectory


class TrajectoryController(MockController):
    """
    Follows trajectories on `~/joint_trajectory` (trajectory_msgs/JointTrajectory).

    A new trajectory replaces the current one. As in joint_trajectory_controller 4.17, it starts at
    the measured state of the last cycle, so the first command is one cycle ahead of that state.
    `~/controller_state` reports the speed scaling alone. The action `~/follow_joint_trajectory` is
    offered if control_msgs has it.
    """

    def __init__(self, name: str, body: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name, body, joints)
        self.trajectory: Trajectory | None = None
        self._last_update = 0
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_trajectory,
                                 SYSTEM_DEFAULT)
        self._state = self.create_publisher(
            JointTrajectoryControllerState, '~/controller_state', 1)
        self._goal: GoalWatch | None = follow_joint_trajectory(self)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._takes_commands() and self.accepts(message):
            self.take(message)

    def accepts(self, message: JointTrajectory) -> bool:
        """Return whether a trajectory is valid; log the reason if not."""
        why = refusal(message, self.joints, self.get_clock().now().nanoseconds)
        if why:
            self.get_logger().error(f'refused a trajectory: {why}')
        return not why

    def take(self, message: JointTrajectory) -> None:
        """Follow a valid trajectory from the next update on."""
        stamp = nanoseconds(message.header.stamp)
        self.trajectory = Trajectory(read_knots(message, self.joints), stamp)

    def hold(self) -> None:
        """Stop immediately at the measured position."""
        self.release()
        self.body.command(self.joints, self._measured()[0])

    def release(self) -> None:
        """Drop the trajectory."""
        self.trajectory = None

    def activate(self) -> None:
        """Start to receive commands; earlier commands are ignored."""
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
            steps = not self.trajectory.begun and self._begin(self.trajectory, now)
            position, velocity = self.trajectory.sample(now)
            self.body.command(self.joints, position,
                              None if steps else velocity * self.body.time_scale)
        self._last_update = now
        self._state.publish(JointTrajectoryControllerState(
            joint_names=self.joints, speed_scaling_factor=self.body.time_scale))

    def _begin(self, trajectory: Trajectory, now: int) -> bool:
        """Start a trajectory; return whether it starts with a step from the measured positions."""
        # the measured state is that of the last update, so the motion starts at that time
        start, measured = self._last_update or now, self._measured()
        trajectory.begin(start, *measured, self.body.turning(self.joints), self.body.behind)
        return not np.allclose(trajectory.sample(start)[0], measured[0], rtol=0, atol=1e-9)

    def _measured(self) -> tuple[Array, Array]:
        """Return measured positions and velocities, (n,) each; velocities per controller time."""
        position, velocity = self.body.position, self.body.velocity
        return (np.array([position[joint] for joint in self.joints]),
                np.array([velocity[joint] for joint in self.joints]) / self.body.time_scale)
