"""
Transforms from TF, if tf2_ros is installed.

TF is received in a separate thread: tf2_ros needs 2.5 ms for a message with 30 transforms.
"""

from contextlib import suppress
import threading
import time
import traceback
from typing import Any, TYPE_CHECKING

import rclpy
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time

from ros2_ik.core import Robot, Status
from ros2_ik.messages.frames import Reference
from ros2_ik.messages.poses import placement
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.motion_clock import nanoseconds

if TYPE_CHECKING:
    import tf2_ros


def listen_to_tf(node: Node) -> 'tf2_ros.Buffer':
    """
    Subscribe to TF with a separate ROS node, and return the tf2_ros.Buffer that it fills.

    When the clock of `node` jumps back, the buffer is cleared except for static transforms.
    """
    import tf2_ros
    name = f'{node.get_name()}_tf_listener'
    # set the name by __node, since a node name on the command line would rename the listener, too
    listener = rclpy.create_node(
        name, context=node.context, namespace=node.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'], enable_rosout=False,
        start_parameter_services=False)
    buffer = tf2_ros.Buffer(node=listener)
    subscriptions = tf2_ros.TransformListener(buffer, listener)
    # tf2_ros watches the listener's clock, which does not use simulated time
    buffer.watched = node.get_clock().create_jump_callback(
        JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1)),
        post_callback=lambda _: buffer.clear())
    threading.Thread(target=_spin, args=(listener, subscriptions), name='tf', daemon=True).start()
    return buffer


def _spin(node: Node, _: object) -> None:
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    while node.context.ok():
        # an invalid message must not end this thread
        try:
            executor.spin_once(timeout_sec=0.5)
        except Exception:
            if node.context.ok():
                node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)


# time after the subscription in which missing transforms may still arrive [s]
TRANSFORM_TIMEOUT = 1.0
RETRY_PERIOD = 0.02    # between two tries of a request or scene change that lacks data [s]


class Transforms:
    """
    Poses from TF, of frames that neither robot nor scene has.

    Subscribes to TF at the first lookup, since each TF message costs time, and most robots never
    need a frame from TF.
    """

    def __init__(self, node: Node, parameters: Parameters) -> None:
        self._node, self._parameters = node, parameters
        # import now: an import takes too long for a callback; `_newest` reports a missing package
        with suppress(ImportError):
            import tf2_ros  # noqa: F401
        self._buffer: Any = None
        self._since = 0.0       # time of the subscription (steady clock [s])
        self._start_lock = threading.Lock()

    def locate(self, robot: Robot, frame: str) -> Reference:
        """
        Return the current pose of a frame in the root frame; implements `Lookup`.

        Raises LookupError for an unknown frame, RequestError for a stale transform.
        """
        message, limit = self._newest(robot.root_frame, frame), self._parameters.tf_timeout
        stamp = nanoseconds(message.header.stamp)
        age = (self._node.get_clock().now().nanoseconds - stamp) * 1e-9
        # transforms of /tf_static have no stamp, and so no age
        if limit and stamp and abs(age) > limit:
            raise RequestError(Status.FRAME_TRANSFORM_FAILURE,
                               f"TF: the newest transform of '{frame}' is {age:.3g} s old (below "
                               '0: its stamp is in the future); parameter tf_timeout allows '
                               f'{limit:g} s')
        return Reference(None, placement(
            message.transform.translation, message.transform.rotation,
            f"the transform of '{frame}'"))

    def _newest(self, target: str, source: str) -> Any:
        """Return the newest transform, of any age; raises LookupError."""
        # locked, since the thread of scene changes looks up frames as well
        with self._start_lock:
            if self._buffer is None:
                try:
                    self._buffer, self._since = listen_to_tf(self._node), time.monotonic()
                except ImportError:
                    raise LookupError('TF is unavailable: tf2_ros is not installed') from None
        try:
            return self._buffer.lookup_transform(target, source, Time())
        # the base class of tf2's errors differs between ROS distributions
        except Exception as error:
            raise LookupError(f'TF: {error}') from None

    def may_arrive(self, error: RequestError) -> bool:
        """Return whether a missing transform may still arrive, because the subscription is new."""
        return (error.status is Status.FRAME_TRANSFORM_FAILURE and self._buffer is not None
                and time.monotonic() < self._since + TRANSFORM_TIMEOUT)
