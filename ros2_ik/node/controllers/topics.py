"""Topics of a controller: the commands of all clients, and the controller's speed scaling."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
import math
import time

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

# a best-effort subscription matches every publisher
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
MAX_IN_TRANSIT = 100   # maximum number of own messages published, but not received back
CONNECTION_TIME = 4.0   # from the start of a process, for DDS to find all subscribers [s]
READ_PERIOD = 0.05     # between two speed-scaling reports that are read [s]; up to 1,000/s arrive
MIN_SPEED_SCALING = 1e-3   # minimum speed scaling; a smaller factor counts as 0


def subscriber_nodes(node: Node, topic: str) -> list[str]:
    """Return the names, with namespaces, of the nodes that subscribe to a topic."""
    return [f'{one.node_namespace.rstrip("/")}/{one.node_name}'
            for one in node.get_subscriptions_info_by_topic(topic)]


@dataclass(frozen=True)
class TopicContext:
    """A node, and the data that all its command topics share."""

    node: Node
    callback_group: CallbackGroup | None
    # number of this node's own subscriptions to a command topic, by topic
    own_subscriptions: Counter[str] = field(default_factory=Counter, kw_only=True)
    # time by which DDS should have found all subscribers (steady clock [s])
    connected_at: float = field(default_factory=lambda: time.monotonic() + CONNECTION_TIME,
                                kw_only=True)


class CommandTopic:
    """
    Publisher of commands to a controller, and subscriber to the commands of other clients.

    Calls `on_foreign(message, topic)` for each command of another client, which replaces this
    node's command in the controller. Before `context.connected_at` only a subscriber in the
    controller's own node counts: DDS may have found other subscribers, but not the controller yet.
    """

    def __init__(self, context: TopicContext, message_type: type, topic: str, depth: int,
                 on_foreign: Callable[[object, str], None]) -> None:
        self._node, self._type, self._on_foreign = context.node, message_type, on_foreign
        # reliable and volatile: matches every subscription but a transient_local one
        self._publisher = context.node.create_publisher(message_type, topic,
                                                        QoSProfile(depth=depth))
        self.name = self._publisher.topic_name
        self._own = deque[bytes](maxlen=MAX_IN_TRANSIT)   # serialized
        self._last = b''
        self._own_subscriptions = context.own_subscriptions
        self._connected_at, self._is_connected = context.connected_at, False
        self._own_subscriptions[self.name] += 1
        self._subscription = context.node.create_subscription(
            message_type, topic, self._on_message, BEST_EFFORT, raw=True,
            callback_group=context.callback_group)

    def publish(self, message: object) -> None:
        """Publish a command."""
        self._last = serialize_message(message)
        self.repeat()

    def repeat(self) -> None:
        """Publish the last command again."""
        # record the message first: the subscription may receive it immediately
        self._own.append(self._last)
        self._publisher.publish(self._last)

    def _on_message(self, data: bytes) -> None:
        if self._is_own(data):
            return
        # Deserializing and serializing removes padding that the middleware may have added.
        message = deserialize_message(data, self._type)
        if not self._is_own(serialize_message(message)):
            self._on_foreign(message, self.name)

    def _is_own(self, data: bytes) -> bool:
        if data not in self._own:
            return False
        # remove it, so that an equal message of another client is recognized as foreign
        self._own.remove(data)
        return True

    def no_subscriber_reason(self, others: int = 0) -> str:
        """
        Return why no controller is known to subscribe to the topic, or ''.

        `others` subscriptions belong to other processes of this program, and do not count.
        """
        # the first subscriber found may be a recorder: the controller would miss the commands
        if not self._is_connected:
            # ros2_control's node `x` subscribes to the topics `x/...`
            node_name = self.name.rpartition('/')[0]
            self._is_connected = (node_name in subscriber_nodes(self._node, self.name)
                                  or time.monotonic() >= self._connected_at)
            if not self._is_connected:
                return f'subscribers of {self.name} are still being discovered'
        count = self._publisher.get_subscription_count() - self._own_subscriptions[self.name]
        return '' if count > others else f'no subscriber on {self.name}'

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_subscription(self._subscription)
        self._own_subscriptions[self.name] -= 1


class SpeedScaling:
    """
    The factor (0 to 1) by which a controller slows its trajectories; 1 before the first report.

    joint_trajectory_controller has reported the factor since 4.39 (Jazzy) and 5.3 (Kilted). In
    earlier versions the field is missing or 0, so a 0 counts only after a value above 0. The
    controller reports at each update; while the factor is below 1, each report calls `on_slow`.
    """

    def __init__(self, node: Node, topic: str, on_slow: Callable[[], None]) -> None:
        self.factor, self._reports, self._read_at, self._node = 1.0, False, -math.inf, node
        self._on_slow = on_slow
        self._subscription = node.create_subscription(
            JointTrajectoryControllerState, topic, self._on_report, qos_profile_sensor_data,
            raw=True)

    def _on_report(self, data: bytes) -> None:
        if self.factor < 1.0:
            self._on_slow()
        if time.monotonic() < self._read_at + READ_PERIOD:
            return
        self._read_at = time.monotonic()
        message = deserialize_message(data, JointTrajectoryControllerState)
        factor = getattr(message, 'speed_scaling_factor', 0.0)
        if factor >= MIN_SPEED_SCALING:
            self.factor, self._reports = min(factor, 1.0), True
        elif self._reports:
            self.factor = 0.0

    def close(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)
