"""Stand-in for tf2_ros: the parts of Buffer and TransformListener that the node uses."""

from geometry_msgs.msg import TransformStamped
import pinocchio as pin
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage


class Buffer:
    def __init__(self, cache_time=None, node=None):
        self.transforms, self.static = {}, set()

    def clear(self):
        """Remove all transforms except static transforms."""
        self.transforms = {name: self.transforms[name] for name in self.static}

    def set_transform(self, transform, authority):
        latest = self.transforms.get(transform.child_frame_id)
        if latest and _time(transform) < _time(latest):     # as tf2 does: TF_OLD_DATA
            return
        self.transforms[transform.child_frame_id] = transform
        self.static.discard(transform.child_frame_id)

    def set_transform_static(self, transform, authority):
        self.set_transform(transform, authority)
        self.static.add(transform.child_frame_id)

    def lookup_transform(self, target, source, time):
        """Return the newest transform, stamped as its oldest moving part; 0 if all are static."""
        parents = {transform.header.frame_id for transform in self.transforms.values()}
        for frame in (target, source):
            if frame not in self.transforms and frame not in parents:
                raise LookupError(f'"{frame}" does not exist')
        up, down = self._chain(target), self._chain(source)
        if up[-1] != down[-1]:
            raise LookupError(f'"{source}" and "{target}" are not part of the same tree')
        result = TransformStamped()
        T = self._pose(target).inverse() * self._pose(source)
        x, y, z, *quaternion = pin.SE3ToXYZQUAT(T)
        moved, turned = result.transform.translation, result.transform.rotation
        moved.x, moved.y, moved.z = x, y, z
        turned.x, turned.y, turned.z, turned.w = quaternion
        stamps = [self.transforms[frame].header.stamp for frame in {*up, *down} - ({*up} & {*down})
                  if frame in self.transforms and frame not in self.static]
        if stamps:
            result.header.stamp = min(stamps, key=lambda stamp: (stamp.sec, stamp.nanosec))
        return result

    def _chain(self, frame):
        """Return the frames from this frame to the root of its tree."""
        chain = [frame]
        while chain[-1] in self.transforms:
            chain.append(self.transforms[chain[-1]].header.frame_id)
        return chain

    def _pose(self, frame):
        T = pin.SE3.Identity()
        for name in self._chain(frame)[:-1]:
            moved = self.transforms[name].transform.translation
            turned = self.transforms[name].transform.rotation
            T = pin.XYZQUATToSE3([moved.x, moved.y, moved.z, turned.x, turned.y, turned.z,
                                  turned.w]) * T
        return T


def _time(transform):
    return transform.header.stamp.sec, transform.header.stamp.nanosec


class TransformListener:
    def __init__(self, buffer, node, **_):
        def receive(set_transform, message):
            for transform in message.transforms:
                set_transform(transform, 'default_authority')
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.subscriptions = [
            node.create_subscription(
                TFMessage, '/tf', lambda message: receive(buffer.set_transform, message),
                QoSProfile(depth=100)),
            node.create_subscription(
                TFMessage, '/tf_static',
                lambda message: receive(buffer.set_transform_static, message), latched)]
