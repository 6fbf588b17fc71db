"""A topic on which commands are sent, and on which others may send theirs."""

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

# best effort matches every publisher
ANY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
KEPT = 100   # own messages: more than can be under way


class CommandTopic:
    """
    Publishes commands, and calls `on_other` with each one from elsewhere, and the topic's name.

    A command from elsewhere replaces what the controller received before. `context.listeners`
    counts the listeners of this node by topic.
    """

    def __init__(self, context: Any, message_type: type, topic: str, depth: int,
                 on_other: Callable[[object, str], None]) -> None:
        self._node, self._type, self._on_other = context.node, message_type, on_other
        # reliable and volatile: matches whatever the controller's subscription asks for
        self._publisher = context.node.create_publisher(message_type, topic,
                                                        QoSProfile(depth=depth))
        self.name = self._publisher.topic_name
        self._own = deque[bytes](maxlen=KEPT)   # sent, and not come back yet
        self._listeners = context.listeners
        self._listeners[self.name] += 1
        self._subscription = context.node.create_subscription(
            message_type, topic, self._take, ANY, raw=True,
            callback_group=context.callback_group)

    def publish(self, message: object) -> None:
        """Send a command."""
        data = serialize_message(message)
        self._own.append(data)
        self._publisher.publish(data)

    def _take(self, data: bytes) -> None:
        if self._is_own(data):
            return
        message = deserialize_message(data, self._type)
        if not self._is_own(serialize_message(message)):   # the middleware may have padded it
            self._on_other(message, self.name)

    def _is_own(self, data: bytes) -> bool:
        if data not in self._own:
            return False
        self._own.remove(data)   # what comes twice has been sent by two
        return True

    def unheard(self) -> str:
        """Return that nobody but this node listens, or ''."""
        count = self._publisher.get_subscription_count()
        return '' if count > self._listeners[self.name] else f'no subscriber on {self.name}'

    def unmatched(self, others: int) -> str:
        """Return why not all the subscribers of other nodes would receive a command, or ''."""
        count = self._publisher.get_subscription_count() - self._listeners[self.name]
        return '' if count >= others else (
            f'{count} of {others} subscribers on {self.name} have been discovered: the controller '
            'may be missing')

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_subscription(self._subscription)
        self._listeners[self.name] -= 1
