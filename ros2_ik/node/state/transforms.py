"""
TF, where tf2_ros is installed.

It is listened to in a thread of its own: tf2_ros takes 2.5 ms for a message of 30 transforms.
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
    """The parent of a frame, whether /tf_static gave it, and when it came (steady clock [s])."""

    frame: str
    static: bool
    received: float


def listen_to_tf(node: Node) -> 'tf2_ros.Buffer':
    """
    Begin to listen, by a node beside this one; return the tf2_ros.Buffer that is filled.

    Its `parents` has the newest Parent of each frame. Where the node's clock is set back, what
    was received before is forgotten, but for static transforms; `since` is when [s, steady].
    """
    import tf2_ros

    class Buffer(tf2_ros.Buffer):   # type: ignore[misc]
        """A TF buffer that returns the parent of a frame, which tf2_ros has only as text."""

        def __init__(self, **options: object) -> None:
            self.parents: dict[str, Parent] = {}
            self.since = time.monotonic()
            super().__init__(**options)
            # tf2_ros looks at the listener's clock, which is none of a simulation
            self._watched = node.get_clock().create_jump_callback(JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1)),
                post_callback=lambda _: self._forget())

        def _forget(self) -> None:
            self.clear()
            self.since = time.monotonic()
            for frame in [name for name, parent in self.parents.copy().items()
                          if not parent.static]:
                self.parents.pop(frame, None)

        def set_transform(self, transform: TransformStamped, authority: str) -> None:
            super().set_transform(transform, authority)
            self._hang(transform, False)

        def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
            super().set_transform_static(transform, authority)
            self._hang(transform, True)

        def _hang(self, transform: TransformStamped, static: bool) -> None:
            self.parents[transform.child_frame_id.removeprefix('/')] = Parent(
                transform.header.frame_id.removeprefix('/'), static, time.monotonic())

    name = f'{node.get_name()}_tf_listener'
    listener = rclpy.create_node(   # __node: else a name given on the command line would count
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
        except Exception:   # what one message does must not end the listening
            if node.context.ok():
                node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)


TRANSFORM_TIMEOUT = 1.0   # they are waited for so long after listening began, or began again [s]
UNKNOWN_YET = (Status.FRAME_TRANSFORM_FAILURE, Status.ROBOT_STATE_STALE)   # meanwhile
LOOK = 0.02      # and a question for want of them is read again so often [s]


class Transforms:
    """
    Placements of frames that are not the robot's; `now` is the node clock [ns].

    `simulated` tells whether that is the clock of a simulation, which may be slow or stand.

    TF is listened to from the first question on: each message costs, and most robots are never
    asked for a foreign frame. `listen(node)` gives a tf2_ros.Buffer with
    `parents`, as `listen_to_tf` does.
    """

    def __init__(self, node: Node, parameters: Parameters, now: Callable[[], int],
                 listen: 'Callable[[Node], tf2_ros.Buffer]' = listen_to_tf,
                 simulated: Callable[[], bool] = lambda: False) -> None:
        self._node, self._listen, self._now = node, listen, now
        self._parameters, self._simulated = parameters, simulated
        self._buffer: Any = None
        self._beginning = threading.Lock()
        self.absent = ''
        try:
            import tf2_ros  # noqa: F401
        except ImportError:
            self.absent = 'TF cannot be asked: tf2_ros is not installed'

    def lookup(self, execute: bool = False) -> Lookup:
        """
        Return what finds frames for a question, or for a motion, which wants newer transforms.

        It raises LookupError with the reason, OldTransformError for transforms that are too old.
        """
        parameter = 'execute_tf_timeout' if execute else 'tf_timeout'

        def find(robot: Robot, frame: str) -> Reference:
            self._begin()
            return self._reference(robot, frame, parameter)
        return find

    def find(self, target: str, source: str) -> Reading:
        """Return the newest T_target_source of any age; raises LookupError with the reason."""
        self._begin()
        return self._newest(target, source)

    def _begin(self) -> None:
        """Listen from now on; raises LookupError where there is no TF."""
        if self.absent:
            raise LookupError(self.absent)
        with self._beginning:   # changes of the scene ask in a thread of their own
            if self._buffer is None:
                self._buffer = self._listen(self._node)

    def may_pass(self, refusal: RequestError, moment: float) -> bool:
        """
        Return whether a question that was read at a moment [s, steady] should be read again.

        It should if TF had been received for so short a time that transforms may be missing.
        """
        return (refusal.status in UNKNOWN_YET and self._buffer is not None
                and moment < self._buffer.since + TRANSFORM_TIMEOUT)

    def _reference(self, robot: Robot, frame: str, parameter: str) -> Reference:
        """
        Put a frame on the link that it is fixed to, or to where it is in the root frame.

        What hangs on a link by a transform of /tf, such as what a camera on the arm sees, need
        not move with the link: it is where TF has it in the root frame.
        """
        in_root: Reading | LookupError
        try:
            in_root = self._newest(robot.root_frame, frame)
        except LookupError as error:
            in_root = error
        # after the look-up: what it has found hangs by parents that are known by now
        carrier, static = _carrier(self._buffer.parents, frame, set(robot.frame_names))
        loose = carrier if carrier and not static and robot.moving_joints(carrier) else None
        if carrier is None or loose:
            if isinstance(in_root, LookupError):
                raise in_root
            return Reference(None, self._fresh(in_root, frame, parameter), loose)
        place = self._fresh(self._newest(carrier, frame), frame, parameter)
        return Reference(None if carrier == robot.root_frame else carrier, place)

    def _fresh(self, reading: Reading, frame: str, parameter: str) -> pin.SE3:
        """Return the value of a transform that is new enough; raises OldTransformError."""
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
        """Return T_target_source, as received now if all is static. Raises LookupError."""
        try:
            message = self._buffer.lookup_transform(target, source, Time())
            place = placement(message.transform.translation, message.transform.rotation,
                              f"the transform of '{source}'")
        except Exception as error:   # tf2's own errors have no base class that is always there
            raise LookupError(f'TF: {error}') from None
        reading = Reading.of(place, message.header.stamp)
        received = [parent.received for parent in _between(self._buffer.parents, target, source)
                    if not parent.static]
        return reading._replace(received=min(received, default=reading.received))


def _ancestry(parents: Mapping[str, Parent], frame: str) -> dict[str, Parent]:
    """Return the parents from a frame upwards, by the frame that hangs on them."""
    found: dict[str, Parent] = {}
    while frame in parents and frame not in found:
        found[frame] = parents[frame]
        frame = parents[frame].frame
    return found


def _between(parents: Mapping[str, Parent], target: str, source: str) -> list[Parent]:
    """Return what connects two frames."""
    ways = _ancestry(parents, target), _ancestry(parents, source)
    return [way[frame] for way in ways for frame in way if not all(frame in w for w in ways)]


def _carrier(parents: Mapping[str, Parent], frame: str, links: set[str]) \
        -> tuple[str | None, bool]:
    """Return the nearest link above a frame, if there is one, and whether it is fixed to it."""
    static = True
    for parent in _ancestry(parents, frame).values():
        static = static and parent.static
        if parent.frame in links:
            return parent.frame, static
    return None, False
