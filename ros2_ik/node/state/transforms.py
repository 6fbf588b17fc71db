"""TF, where tf2_ros is installed."""

from collections.abc import Callable
import threading
import time
from typing import Any

import pinocchio as pin
from rclpy.node import Node
from rclpy.time import Time

from ros2_ik.node.conversions.poses import placement
from ros2_ik.node.state.reading import Reading
from ros2_ik.node.state.tf_listener import listen_to_tf

PATIENCE = 1.0   # from the first question on, so long transforms are waited for [s]
LOOK = 0.02      # and so often they are looked for [s]


class Transforms:
    """
    Placements of frames that are not the robot's.

    TF is listened to from the first question on, which waits a moment: each message costs, and
    most robots are never asked for a foreign frame. `listen(node)` gives a tf2_ros.Buffer.
    """

    def __init__(self, node: Node, wanted: bool,
                 listen: Callable[[Node], Any] = listen_to_tf) -> None:
        self._node, self._listen = node, listen
        self._buffer: Any = None
        self._wait_until, self._beginning = 0.0, threading.Lock()
        self.absent = '' if wanted else 'TF is off by parameter use_tf'
        if wanted:
            try:
                import tf2_ros  # noqa: F401
            except ImportError:
                self.absent = 'TF cannot be asked: tf2_ros is not installed'

    def find(self, target: str, source: str) -> Reading:
        """Give the newest T_target_source, with its stamp; raises LookupError with the reason."""
        if self.absent:
            raise LookupError(self.absent)
        try:
            message = self._newest(target, source)
            place = placement(message.transform.translation, message.transform.rotation,
                              f"the transform of '{source}'")
        except Exception as error:   # tf2's own errors have no base class that is always there
            raise LookupError(f'TF: {error}') from None
        return Reading.of(place, message.header.stamp)

    def _newest(self, target: str, source: str) -> Any:
        with self._beginning:   # changes of the scene ask in a thread of their own
            if self._buffer is None:
                self._buffer = self._listen(self._node)
                self._wait_until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._buffer.lookup_transform(target, source, Time())
            except Exception:
                if time.monotonic() > self._wait_until:
                    raise
            time.sleep(LOOK)

    def lookup(self, target: str, source: str) -> pin.SE3:
        """Give the newest T_target_source; raises LookupError with the reason."""
        return self.find(target, source).value
