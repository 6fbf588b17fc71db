"""Where the links of a robot are, for TF."""

from collections.abc import Iterable, Mapping
import math
from typing import Any

from geometry_msgs.msg import Transform, TransformStamped
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from ros2_ik.core import Configuration, Robot


class LinkTransforms:
    """
    Publishes the transforms of all joints, as robot_state_publisher does.

    Those of fixed joints once on /tf_static, the others on /tf, each from its parent link.
    """

    def __init__(self, node: Node, robot: Robot) -> None:
        self._robot = robot
        joints = robot.tree.joints.values()
        fixed = [(joint.parent, joint.child) for joint in joints if joint.kind == 'fixed']
        self._moving = [(joint.parent, joint.child) for joint in joints if joint.kind != 'fixed']
        self._tf = node.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._static = node.create_publisher(TFMessage, '/tf_static', latched)
        self._static.publish(self._message(fixed, {}, node.get_clock().now().to_msg()))

    def publish(self, joints: Mapping[str, float], stamp: Any) -> None:
        """Publish where joint values [rad, m] put the links; nothing for what is no number."""
        if not all(map(math.isfinite, joints.values())):
            return
        self._tf.publish(self._message(self._moving, joints, stamp))

    def _message(self, links: Iterable[tuple[str, str]], joints: Mapping[str, float],
                 stamp: Any) -> TFMessage:
        robot = self._robot
        at = Configuration(robot, robot.to_q({name: value for name, value in joints.items()
                                              if name in robot.joint_names}))
        return TFMessage(transforms=[
            TransformStamped(header=Header(stamp=stamp, frame_id=parent), child_frame_id=child,
                             transform=_transform(at.transform(child, parent)))
            for parent, child in links])


def _transform(T: Any) -> Transform:
    transform = Transform()
    place, turn = transform.translation, transform.rotation
    (place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w) = pin.SE3ToXYZQUAT(
        pin.SE3(np.array(T))).tolist()
    return transform
