"""What all mock controllers share: a node of their name, its joints, being active or not."""

from collections.abc import Sequence

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ros2_ik.core import UnknownJointError
from ros2_ik.mock.controllers.joints import MockJoints

# what SystemDefaultsQoS makes of a subscription on Fast DDS
SYSTEM_DEFAULT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class MockController(Node):
    """
    Commands joints of a mock robot while it is active.

    Parameter `joints`: which, in the order of its commands. `words`: ROS arguments of the process.
    Raises UnknownJointError.
    """

    def __init__(self, name: str, body: MockJoints, joints: Sequence[str],
                 words: Sequence[str] = (), namespace: str = '') -> None:
        super().__init__(name, namespace=namespace, cli_args=_unnamed(words),
                         use_global_arguments=False)
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
        """Listen no more; the joints stay as they were commanded last."""
        self.release()
        self.active = False

    def release(self) -> None:
        """Forget what was asked for, since another commands the joints."""
        raise NotImplementedError

    def update(self, now: int) -> bool:
        """
        Command the joints; `now` in nanoseconds of the robot's own time, which may be slow.

        False is an error: it gets deactivated.
        """
        raise NotImplementedError

    def _takes_commands(self) -> bool:
        if not self.active:
            self.get_logger().warning('ignored a command: the controller is not active')
        return self.active


def _unnamed(words: Sequence[str]) -> list[str]:
    """Leave out what would rename every node of the process."""
    naming = [i for i, word in enumerate(words) if word.startswith(('__node:=', '__name:='))]
    return [word for i, word in enumerate(words) if i not in naming and i + 1 not in naming]
