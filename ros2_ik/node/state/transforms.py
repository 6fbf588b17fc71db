"""
Transforms of TF, if tf2_ros is installed.

TF is received in a separate thread: tf2_ros needs 2.5 ms for a message with 30 transforms.
"""

from collections.abc import Callable, Mapping
import threading
import time
import traceback
from typing import Any, NamedTuple, TYPE_CHECKING

from geometry_msgs.msg import TransformStamped
import pinocchio as pin
import rclpy
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time

from ros2_ik.core import Robot, Status
from ros2_ik.messages.frames import Lookup, OldTransformError, Reference
from ros2_ik.messages.poses import placement
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.joint_history import Reading

if TYPE_CHECKING:
    import tf2_ros


class Parent(NamedTuple):
    """Parent of a frame: name, from /tf_static or not, time of receipt (steady clock [s])."""

    frame: str
    static: bool
    received: float


def listen_to_tf(node: Node) -> 'tf2_ros.Buffer':
    """
    Subscribe to TF by a separate ROS node, and return the tf2_ros.Buffer that it fills.

    The buffer's `parents` has the newest Parent of each frame. When the clock of `node` jumps
    back, the buffer is cleared except for static transforms. `since` is the time of the
    subscription or of the last clearing, on the steady clock [s].
    """
    import tf2_ros

    class Buffer(tf2_ros.Buffer):   # type: ignore[misc]
        """A TF buffer with the parents of frames, which tf2_ros provides only as text."""

        def __init__(self, **options: object) -> None:
            self.parents: dict[str, Parent] = {}
            self.since = time.monotonic()
            super().__init__(**options)
            # tf2_ros watches the listener's clock, which does not use simulated time
            self._watched = node.get_clock().create_jump_callback(JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1)),
                post_callback=lambda _: self._reset())

        def _reset(self) -> None:
            self.clear()
            self.since = time.monotonic()
            for frame in [name for name, parent in self.parents.copy().items()
                          if not parent.static]:
                self.parents.pop(frame, None)

        def set_transform(self, transform: TransformStamped, authority: str) -> None:
            super().set_transform(transform, authority)
            self._set_parent(transform, False)

        def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
            super().set_transform_static(transform, authority)
            self._set_parent(transform, True)

        def _set_parent(self, transform: TransformStamped, static: bool) -> None:
            self.parents[transform.child_frame_id.removeprefix('/')] = Parent(
                transform.header.frame_id.removeprefix('/'), static, time.monotonic())

    name = f'{node.get_name()}_tf_listener'
    # remapped by __node, since a node name on the command line would apply to this node as well
    listener = rclpy.create_node(
        name, context=node.context, namespace=node.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'], enable_rosout=False,
        start_parameter_services=False)
    buffer = Buffer(node=listener)
    subscriptions = tf2_ros.TransformListener(buffer, listener)
    threading.Thread(target=_spin, args=(listener, subscriptions), name='tf', daemon=True).start()
    return buffer


def _spin(node: Node, _: object) -> None:
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    while node.context.ok():
        try:
            executor.spin_once(timeout_sec=0.5)
        except ExternalShutdownException:
            return
        # an invalid message must not end this thread
        except Exception:
            if node.context.ok():
                node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)


# time after the subscription in which missing transforms may still arrive [s]
TRANSFORM_TIMEOUT = 1.0
# statuses of requests that are retried within that time
RETRIED_STATUSES = (Status.FRAME_TRANSFORM_FAILURE, Status.ROBOT_STATE_STALE)
RETRY_PERIOD = 0.02    # between two retries [s]


class Transforms:
    """
    Poses of TF frames that are not links of the robot.

    `now` returns the time of the node clock [ns], `simulated` whether time is simulated. `listen`
    is `listen_to_tf` or a replacement. TF is subscribed to at the first lookup only, since each
    TF message costs time and most robots never need a foreign frame.
    """

    def __init__(self, node: Node, parameters: Parameters, now: Callable[[], int],
                 listen: 'Callable[[Node], tf2_ros.Buffer]' = listen_to_tf,
                 simulated: Callable[[], bool] = lambda: False) -> None:
        self._node, self._listen, self._now = node, listen, now
        self._parameters, self._simulated = parameters, simulated
        self._buffer: Any = None
        self._start_lock = threading.Lock()
        self.absent = ''
        try:
            import tf2_ros  # noqa: F401
        except ImportError:
            self.absent = 'TF is unavailable: tf2_ros is not installed'

    def lookup(self, execute: bool = False) -> Lookup:
        """
        Return a function that locates frames for a request; with `execute`, for a motion.

        Motions require newer transforms (parameter execute_tf_timeout). The function raises
        LookupError for an unknown frame, OldTransformError for a stale transform.
        """
        parameter = 'execute_tf_timeout' if execute else 'tf_timeout'

        def find(robot: Robot, frame: str) -> Reference:
            self._listen_once()
            return self._reference(robot, frame, parameter)
        return find

    def find(self, target: str, source: str) -> Reading:
        """Return the newest T_target_source, whatever its age; raises LookupError."""
        self._listen_once()
        return self._newest(target, source)

    def _listen_once(self) -> None:
        """Subscribe to TF if not done yet; raises LookupError if tf2_ros is not installed."""
        if self.absent:
            raise LookupError(self.absent)
        # the thread of scene changes looks up frames as well
        with self._start_lock:
            if self._buffer is None:
                self._buffer = self._listen(self._node)

    def may_pass(self, refusal: RequestError, moment: float) -> bool:
        """
        Return whether a request refused at `moment` (steady clock [s]) should be retried.

        A retry makes sense within TRANSFORM_TIMEOUT after the TF subscription, when transforms
        may be missing.
        """
        return (refusal.status in RETRIED_STATUSES and self._buffer is not None
                and moment < self._buffer.since + TRANSFORM_TIMEOUT)

    def _reference(self, robot: Robot, frame: str, parameter: str) -> Reference:
        """
        Return a frame's pose relative to the link that it is fixed to, or else to the root frame.

        A frame whose connection with a link contains a transform of /tf (not /tf_static), such as
        an object that a camera on the arm sees, need not move with the link. Such a frame is taken
        at its current pose in the root frame.
        """
        in_root: Reading | LookupError
        try:
            in_root = self._newest(robot.root_frame, frame)
        except LookupError as error:
            in_root = error
        # after the lookup, since TF may only then have received the parents of the frame
        carrier, static = _carrier(self._buffer.parents, frame, set(robot.frame_names))
        loose = carrier if carrier and not static and robot.moving_joints(carrier) else None
        if carrier is None or loose:
            if isinstance(in_root, LookupError):
                raise in_root
            return Reference(None, self._fresh(in_root, frame, parameter), loose)
        place = self._fresh(self._newest(carrier, frame), frame, parameter)
        return Reference(None if carrier == robot.root_frame else carrier, place)

    def _fresh(self, reading: Reading, frame: str, parameter: str) -> pin.SE3:
        """Return the pose of a transform that is not stale; raises OldTransformError."""
        limit, now = getattr(self._parameters, parameter), self._now()
        age = reading.age(now, bool(reading.stamp) and self._simulated())
        if limit and age > limit:
            ahead = (reading.stamp - now) * 1e-9
            what = (f'is stamped {ahead:.3g} s in the future' if ahead > limit else
                    f'is {age:.3g} s old')
            raise OldTransformError(f"TF: the newest transform of '{frame}' {what}; parameter "
                                    f'{parameter} allows {limit:g} s')
        return reading.value

    def _newest(self, target: str, source: str) -> Reading:
        """Return the newest T_target_source; raises LookupError with TF's reason."""
        try:
            message = self._buffer.lookup_transform(target, source, Time())
            place = placement(message.transform.translation, message.transform.rotation,
                              f"the transform of '{source}'")
        # the base class of tf2's errors differs between ROS distributions
        except Exception as error:
            raise LookupError(f'TF: {error}') from None
        # time of receipt: the earliest of the moving transforms', or now if all are static
        reading = Reading.of(place, message.header.stamp)
        received = [parent.received for parent in _between(self._buffer.parents, target, source)
                    if not parent.static]
        return reading._replace(received=min(received, default=reading.received))


def _ancestry(parents: Mapping[str, Parent], frame: str) -> dict[str, Parent]:
    """Return the parent of a frame and of all its ancestors, by child frame."""
    found: dict[str, Parent] = {}
    while frame in parents and frame not in found:
        found[frame] = parents[frame]
        frame = parents[frame].frame
    return found


def _between(parents: Mapping[str, Parent], target: str, source: str) -> list[Parent]:
    """Return the parents on the path between two frames, below their common ancestor."""
    chains = _ancestry(parents, target), _ancestry(parents, source)
    return [chain[frame] for chain in chains for frame in chain
            if not all(frame in other for other in chains)]


def _carrier(parents: Mapping[str, Parent], frame: str, links: set[str]) \
        -> tuple[str | None, bool]:
    """Return a frame's nearest ancestor link (or None), and whether the frame is fixed to it."""
    static = True
    for parent in _ancestry(parents, frame).values():
        static = static and parent.static
        if parent.frame in links:
            return parent.frame, static
    return None, False
