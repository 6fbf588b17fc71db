"""A command topic of a controller, with detection of other publishers."""

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

# a best-effort subscription matches every publisher
ANY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
MAX_IN_TRANSIT = 100   # own messages that have been published, but not received back


class CommandTopic:
    """
    Publisher of commands to a controller, and subscriber to the commands of other clients.

    Calls `on_other(message, topic)` for each command of another client, which replaces the
    previous command in the controller. `context.listeners` counts this node's own subscriptions
    by topic.
    """

    def __init__(self, context: Any, message_type: type, topic: str, depth: int,
                 on_other: Callable[[object, str], None]) -> None:
        self._node, self._type, self._on_other = context.node, message_type, on_other
        # reliable and volatile: matches every subscription but a transient_local one
        self._publisher = context.node.create_publisher(message_type, topic,
                                                        QoSProfile(depth=depth))
        self.name = self._publisher.topic_name
        self._own = deque[bytes](maxlen=MAX_IN_TRANSIT)   # serialized
        self._listeners = context.listeners
        self._listeners[self.name] += 1
        self._subscription = context.node.create_subscription(
            message_type, topic, self._take, ANY, raw=True,
            callback_group=context.callback_group)

    def publish(self, message: object) -> None:
        """Publish a command."""
        # before publishing, since the subscription may receive the message immediately
        data = serialize_message(message)
        self._own.append(data)
        self._publisher.publish(data)

    def _take(self, data: bytes) -> None:
        if self._is_own(data):
            return
        # The middleware may have padded an own message. Serializing again removes the padding.
        message = deserialize_message(data, self._type)
        if not self._is_own(serialize_message(message)):
            self._on_other(message, self.name)

    def _is_own(self, data: bytes) -> bool:
        if data not in self._own:
            return False
        # removed, so that an equal message of another client is recognized as foreign
        self._own.remove(data)
        return True

    def no_subscriber(self, others: int = 0) -> str:
        """
        Return 'no subscriber on ...' if no controller subscribes to the topic, else ''.

        `others` is the number of subscriptions of this program in other processes.
        """
        count = self._publisher.get_subscription_count() - self._listeners[self.name]
        return '' if count > others else f'no subscriber on {self.name}'

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_subscription(self._subscription)
        self._listeners[self.name] -= 1
