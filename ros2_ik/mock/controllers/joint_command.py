"""Commands as simulators take them: joint_command, a JointState."""

from collections.abc import Callable, Iterable

from rclpy.node import Node
from sensor_msgs.msg import JointState

from ros2_ik.mock.controllers.controller import SYSTEM_DEFAULT
from ros2_ik.mock.controllers.joints import MockJoints


def listen_to_joint_command(node: Node, body: MockJoints,
                            taken: Callable[[Iterable[str]], None]) -> None:
    """
    Make joints step to the positions of `joint_command` (sensor_msgs/JointState), by name.

    `taken` hears which joints now have another owner. Unknown names are passed over with a
    warning, a message with fewer or more positions than names is refused.
    """
    def on_command(message: JointState) -> None:
        if len(message.name) != len(message.position):
            node.get_logger().error(f'refused joint_command: {len(message.position)} positions '
                                    f'for {len(message.name)} names')
            return
        wanted = dict(zip(message.name, message.position, strict=True))
        unknown = [name for name in wanted if name not in body.names]
        if unknown:
            node.get_logger().warning(f'joint_command: no joints {unknown}')
        known = [name for name in wanted if name in body.names]
        taken(known)
        body.command(known, [wanted[name] for name in known])

    node.create_subscription(JointState, 'joint_command', on_command, SYSTEM_DEFAULT)
