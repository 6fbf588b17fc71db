"""TF, where tf2_ros is installed."""

from typing import Any

import pinocchio as pin
from rclpy.node import Node
from rclpy.time import Time

from ros2_ik.node.conversions.poses import placement
from ros2_ik.node.state.reading import Reading


class Transforms:
    """Placements of frames that are not the robot's."""

    def __init__(self, node: Node, wanted: bool) -> None:
        self._buffer: Any = None
        self.absent = 'TF is off by parameter use_tf'
        if wanted:
            try:
                import tf2_ros
            except ImportError:
                self.absent = 'TF cannot be asked: tf2_ros is not installed'
            else:
                self.absent = ''
                self._buffer = tf2_ros.Buffer(node=node)
                self._listener = tf2_ros.TransformListener(self._buffer, node)

    def find(self, target: str, source: str) -> Reading:
        """Give the newest T_target_source, with its stamp; raises LookupError with the reason."""
        if self._buffer is None:
            raise LookupError(self.absent)
        try:
            message = self._buffer.lookup_transform(target, source, Time())
            place = placement(message.transform.translation, message.transform.rotation,
                              f"the transform of '{source}'")
        except Exception as error:   # tf2's own errors have no base class that is always there
            raise LookupError(f'TF: {error}') from None
        return Reading.of(place, message.header.stamp)

    def lookup(self, target: str, source: str) -> pin.SE3:
        """Give the newest T_target_source; raises LookupError with the reason."""
        return self.find(target, source).value
