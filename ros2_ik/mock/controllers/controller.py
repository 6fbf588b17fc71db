"""Base class of the mock controllers."""

from collections.abc import Sequence

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ros2_ik.core import IKError
from ros2_ik.core.errors import UnknownJointError
from ros2_ik.mock.controllers.joints import MockJoints

# SystemDefaultsQoS as Fast DDS interprets it for subscriptions
SYSTEM_DEFAULT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class MockController(Node):
    """
    Node of a controller, which commands joints of a mock robot while it is active.

    The node has the controller's name. Its parameter `joints` has the joints in the order of the
    commands. Raises UnknownJointError, and IKError if __node:= renames all nodes of the process.
    """

    def __init__(self, name: str, body: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name)
        if self.get_name() != name:
            raise IKError(f"node name '{self.get_name()}' would replace {name}'s: leave out "
                          "__node:= (in a launch file: name)")
        described = ParameterDescriptor(description='joints, in the order of the commands',
                                        read_only=True)
        self.body = body
        self.joints = tuple(self.declare_parameter('joints', list(joints), described).value)
        # the parameter can be overridden on the command line
        for joint in self.joints:
            if joint not in body.names:
                raise UnknownJointError(joint, body.names)
        self.active = False

    def activate(self) -> None:
        """Start to receive commands."""
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

    def _takes_commands(self) -> bool:
        if not self.active:
            self.get_logger().warning('ignored a command: the controller is not active')
        return self.active
