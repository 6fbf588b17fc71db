"""
Stands in for tf2_ros where it is not installed: what Buffer and TransformListener are used for.

tf2_msgs/TFMessage is a list of TransformStamped, as are a PlanningScene's fixed_frame_transforms.
"""

from rclpy.qos import DurabilityPolicy, QoSProfile

from ros2_ik.msg import PlanningScene


class Buffer:
    def __init__(self, cache_time=None, node=None):
        self.known = {}

    def lookup_transform(self, target, source, time):
        if (target, source) not in self.known:
            raise LookupError(f'"{source}" passed to lookupTransform does not exist')
        return self.known[target, source]


class TransformListener:
    def __init__(self, buffer, node, **_):
        def take(message):
            for transform in message.fixed_frame_transforms:
                buffer.known[transform.header.frame_id, transform.child_frame_id] = transform
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.subscriptions = [
            node.create_subscription(PlanningScene, '/tf', take, QoSProfile(depth=100)),
            node.create_subscription(PlanningScene, '/tf_static', take, latched)]
