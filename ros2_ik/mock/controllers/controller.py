"""Base of the mock controllers: a node of the controller's name, its joints, its activation."""

from collections.abc import Sequence

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ros2_ik.core import IKError
from ros2_ik.core.errors import UnknownJointError
from ros2_ik.mock.controllers.joints import MockJoints

# what SystemDefaultsQoS makes of a subscription on Fast DDS
SYSTEM_DEFAULT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class MockController(Node):
    """
    Commands joints of a mock robot while it is active.

    Parameter `joints`: which, in the order of its commands. Raises UnknownJointError, and IKError
    where __node:= renames all nodes of the process.
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
        for joint in self.joints:
            if joint not in body.names:
                raise UnknownJointError(joint, body.names)
        self.active = False

    def activate(self) -> None:
        """Listen from now on."""
        self.active = True

    def deactivate(self) -> None:
        """Stop receiving commands; the joints keep their last command."""
        self.release()
        self.active = False

    def release(self) -> None:
        """Drop the current command: another controller commands the joints."""
        raise NotImplementedError

    def update(self, now: int) -> None:
        """Command the joints; `now` in nanoseconds of the robot's own time, which may be slow."""
        raise NotImplementedError

    def _takes_commands(self) -> bool:
        if not self.active:
            self.get_logger().warning('ignored a command: the controller is not active')
        return self.active
