"""Base class of the mock controllers, and the mock of a forward_command_controller."""

from collections.abc import Sequence
import math

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import IKError
from ros2_ik.mock.controllers.joints import MockJoints

# SystemDefaultsQoS as Fast DDS interprets it for subscriptions
SYSTEM_DEFAULT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class MockController(Node):
    """
    Node of a controller, which commands joints of a mock robot while it is active.

    The node has the controller's name. Its parameter `joints` has the joints in the order of the
    commands. Raises IKError if __node:= renames all nodes of the process.
    """

    def __init__(self, name: str, hardware: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name)
        if self.get_name() != name:
            raise IKError(f"node name '{self.get_name()}' would replace '{name}': leave out "
                          "__node:= (in a launch file: name)")
        described = ParameterDescriptor(description='joints, in the order of the commands',
                                        read_only=True)
        self.declare_parameter('joints', list(joints), described, ignore_override=True)
        self.hardware, self.joints = hardware, tuple(joints)
        self.active = False

    def activate(self) -> None:
        """Start receiving commands."""
        self.active = True

    def deactivate(self) -> None:
        """Stop receiving commands; the joints keep their last command."""
        self.release()
        self.active = False

    def release(self) -> None:
        """Drop the current command, so that another source can command the joints."""
        raise NotImplementedError

    def update(self, now: int) -> None:
        """Command the joints at controller time `now` [ns], which time_scale slows down."""
        raise NotImplementedError

    def _check_active(self) -> bool:
        if not self.active:
            self.get_logger().warning('ignored a command: the controller is not active')
        return self.active


class PositionController(MockController):
    """
    Controller that commands the positions received on `~/commands` (std_msgs/Float64MultiArray).

    Messages of the wrong length, or with numbers that are not finite, are dropped with a warning.
    """

    def __init__(self, name: str, hardware: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name, hardware, joints)
        self._command: Sequence[float] | None = None
        self.create_subscription(Float64MultiArray, '~/commands', self._on_command, SYSTEM_DEFAULT)

    def _on_command(self, message: Float64MultiArray) -> None:
        if not self._check_active():
            return
        if len(message.data) != len(self.joints) or not all(map(math.isfinite, message.data)):
            self.get_logger().warning(f'dropped a command: {[*message.data]} are not '
                                      f'{len(self.joints)} finite positions')
            return
        self._command = message.data

    def release(self) -> None:
        """Drop the last command."""
        self._command = None

    def update(self, now: int) -> None:
        """Repeat the last command."""
        if self._command is not None:
            self.hardware.command(self.joints, self._command)
