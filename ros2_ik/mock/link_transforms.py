"""Publisher of a robot's link transforms on TF."""

from collections.abc import Mapping
import math
from typing import TYPE_CHECKING

from geometry_msgs.msg import TransformStamped
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from ros2_ik.core import Configuration, Robot
from ros2_ik.messages.poses import fill_transform

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time


class LinkTransforms:
    """Publishes the parent-to-child transforms of all joints, fixed joints included, on /tf."""

    def __init__(self, node: Node, robot: Robot) -> None:
        self._robot = robot
        self._publisher = node.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))

    def publish(self, joints: Mapping[str, float], stamp: 'Time') -> None:
        """Publish the link poses at joint positions [rad, m], unless a position is not finite."""
        robot = self._robot
        if not all(map(math.isfinite, joints.values())):
            return
        at = Configuration(robot, robot.to_q({name: value for name, value in joints.items()
                                              if name in robot.joint_names}))
        message = TFMessage()
        # fixed joints as well, for which robot_state_publisher would use /tf_static
        for joint in robot.tree.joints.values():
            T = pin.SE3(np.array(at.transform(joint.child, joint.parent)))
            transform = TransformStamped(header=Header(stamp=stamp, frame_id=joint.parent),
                                         child_frame_id=joint.child)
            fill_transform(transform.transform, pin.SE3ToXYZQUAT(T))
            message.transforms.append(transform)
        self._publisher.publish(message)
