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
from ros2_ik.node.state.joint_states import Reading

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
RETRY_PERIOD = 0.02    # between two tries of a request within that time [s]


class Transforms:
    """
    Poses from TF: of frames that neither robot nor scene has, and of the robot's base.

    Subscribes to TF at the first lookup, since each TF message costs time, and most robots never
    need a frame from TF.
    """

    def __init__(self, node: Node, parameters: Parameters) -> None:
        self._node, self._parameters = node, parameters
        # imported now: this takes too long for a callback; `find` reports a missing package
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
        found, limit = self.find(robot.root_frame, frame), self._parameters.tf_timeout
        # transforms of /tf_static have no stamp, and so no age
        if limit and found.stamp and abs(self._age(found)) > limit:
            raise RequestError(Status.FRAME_TRANSFORM_FAILURE,
                               f"TF: the newest transform of '{frame}' is {self.age_text(found)}; "
                               f'parameter tf_timeout allows {limit:g} s')
        return Reference(None, found.value)

    def _age(self, found: Reading) -> float:
        return float(self._node.get_clock().now().nanoseconds - found.stamp) * 1e-9

    def age_text(self, found: Reading) -> str:
        """Return the age of a transform in words."""
        return f'{self._age(found):.3g} s old (below 0: its stamp is in the future)'

    def find(self, target: str, source: str) -> Reading:
        """Return the newest pose of `source` in frame `target`, of any age; raises LookupError."""
        # locked, since the thread of scene changes looks up frames as well
        with self._start_lock:
            if self._buffer is None:
                try:
                    self._buffer, self._since = listen_to_tf(self._node), time.monotonic()
                except ImportError:
                    raise LookupError('TF is unavailable: tf2_ros is not installed') from None
        try:
            message = self._buffer.lookup_transform(target, source, Time())
            pose = placement(message.transform.translation, message.transform.rotation,
                             f"the transform of '{source}'")
        # the base class of tf2's errors differs between ROS distributions
        except Exception as error:
            raise LookupError(f'TF: {error}') from None
        return Reading.of(pose, message.header.stamp)

    def may_arrive(self, error: RequestError) -> bool:
        """Return whether a missing transform may still arrive, because the subscription is new."""
        # ROBOT_STATE_STALE may be due to a missing transform of the base
        missing = error.status in (Status.FRAME_TRANSFORM_FAILURE, Status.ROBOT_STATE_STALE)
        return (missing and self._buffer is not None
                and time.monotonic() < self._since + TRANSFORM_TIMEOUT)
