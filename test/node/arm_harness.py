"""A mock robot in a child process, and a record of its joint_states and commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import time
from typing import Any

from node_harness import Client, eventually, MockRobot, robot_state
import numpy as np
from rclpy.qos import QoSProfile
from state_record import StateRecord
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.msg import Status
from ros2_ik.srv import CheckState, Execute

ARM = tuple(f'panda_joint{i}' for i in range(1, 8))
HOME = dict(zip(ARM, (0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398), strict=True))
# parameters of the node
TRAJECTORIES = {'controllers': ['arm_controller'], 'arm_controller.group': 'arm'}
FAST = {'velocity_scaling': 1.0, 'acceleration_scaling': 1.0}
POSITIONS = {'controllers': ['arm_position_controller'],
             'arm_position_controller.kind': 'position', 'arm_position_controller.group': 'arm'}
STANDARD_PARAMETERS = {**FAST, 'arrival_timeout': 2.0, 'max_tracking_error': 0.2}
# of the mock robot
NO_FAULTS = {'publish_joint_states': True, 'nan_joint': '', 'blocked': False,
             'stamp': True, 'clock_offset': 0.0, 'time_scale': 1.0}


@contextmanager
def mock_robot(client: Client, folder: Path, robot: str = 'panda',
               **parameters: Any) -> Iterator[MockRobot]:
    words = (x for name, value in parameters.items() for x in ('-p', f'{name}:={value}'))
    mock = MockRobot(client, folder / 'mock.log', '--robot', robot, '--ros-args', *words)
    try:
        yield mock
    finally:
        mock.end(timeout=10)


def set_standard_parameters(client: Client, mock: MockRobot) -> None:
    """Reset the parameters of the node, and switch off all faults of the mock robot."""
    for name, value in NO_FAULTS.items():
        mock.set(name, value)
    for name, value in STANDARD_PARAMETERS.items():
        assert client.set(name, value).successful, name


class Recorder(StateRecord):
    """Record of the arm's joint_states and of the commands to the controllers."""

    def __init__(self, client: Client) -> None:
        super().__init__(client.node, ARM)
        self.trajectories: list[JointTrajectory] = []
        self.commands: list[tuple[float, list[float]]] = []
        node = client.node
        self._subscriptions = [
            node.create_subscription(JointTrajectory, 'arm_controller/joint_trajectory',
                                     self.trajectories.append, QoSProfile(depth=100)),
            node.create_subscription(
                Float64MultiArray, 'arm_position_controller/commands',
                lambda m: self.commands.append((time.monotonic(), list(m.data))),
                QoSProfile(depth=1000))]

    def has_command_publisher(self) -> bool:
        """Return True if a publisher of positions has been discovered."""
        return self._subscriptions[1].get_publisher_count() > 0

    def read_all(self) -> dict[str, float]:
        """Wait for the next message; return the positions of all joints by name."""
        return dict(zip(ARM, self.read(), strict=True)) | self.others

    def close(self) -> None:
        super().close()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


def wait_for_robot(client: Client, node: str = 'ros2_ik') -> None:
    """Wait until the node has the robot, its groups and its collision geometry."""
    request = CheckState.Request(group='arm')
    reasons = ['']

    def has_robot() -> bool:
        reasons[0] = client.refusal(CheckState, f'{node}/check_state', request)
        return not reasons[0]
    try:
        eventually(has_robot, 'the robot in the node', 90)
    except AssertionError as error:
        raise AssertionError(f'{error}: {reasons[0]}') from None


def move_home(client: Client) -> Client:
    """Wait until the node has moved the arm home; return the client."""
    wait_for_robot(client)

    def is_home() -> bool:
        response = execute(client, HOME)
        assert response.status in (Status.SUCCESS, Status.INVALID_ROBOT_STATE,
                                   Status.ROBOT_STATE_STALE, Status.CONTROL_FAILED,
                                   Status.COLLISION_CHECKING_UNAVAILABLE), response.message
        return response.status == Status.SUCCESS
    eventually(is_home, 'the arm at home', 60)
    return client


def goal_request(joints: dict[str, float], **fields: Any) -> Execute.Request:
    """Return a request of ~/execute to move to joint values."""
    return Execute.Request(**{'goal': robot_state(joints), **fields})


def execute(client: Client, joints: dict[str, float], timeout: float = 60.0,
            **fields: Any) -> Execute.Response:
    """Call ~/execute to move to joint values; return the response."""
    return client.call(Execute, 'ros2_ik/execute', goal_request(joints, **fields), timeout)


def execute_async(client: Client, joints: dict[str, float], node: str = 'ros2_ik',
                  **fields: Any) -> Any:
    """Call ~/execute without waiting; return the future."""
    return client.service(Execute, f'{node}/execute').call_async(goal_request(joints, **fields))


def stop(client: Client, node: str = 'ros2_ik') -> Trigger.Response:
    return client.call(Trigger, f'{node}/stop', Trigger.Request())


def distance(positions: np.ndarray, joints: dict[str, float]) -> float:
    """Return the largest distance of a joint from `joints`, or from HOME if not named [rad]."""
    expected = np.array([{**HOME, **joints}[joint] for joint in ARM])
    return float(np.abs(positions - expected).max())
