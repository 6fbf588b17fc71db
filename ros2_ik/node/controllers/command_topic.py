"""A topic on which commands are sent, and on which others may send theirs."""

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

# best effort matches every publisher
ANY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
KEPT = 100   # own messages on a topic: more than can be under way


def heard_by_others(node: Any, topic: str) -> bool:
    """Return whether another node listens to a topic."""
    own = node.get_name(), node.get_namespace()
    return any((one.node_name, one.node_namespace) != own
               for one in node.get_subscriptions_info_by_topic(topic))


class SentMessages:
    """
    What this node has sent on topics just now, as bytes, until it comes back to each listener.

    Several controllers may share a topic: each of them hears what the others send.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, list[deque[bytes]]] = {}

    def listen(self, topic: str) -> deque[bytes]:
        """Return what is sent on a topic from now on."""
        sent = deque[bytes](maxlen=KEPT)
        self._listeners.setdefault(topic, []).append(sent)
        return sent

    def count(self, topic: str) -> int:
        """Return how many listeners of this node a topic has."""
        return len(self._listeners[topic])

    def forget(self, topic: str, sent: deque[bytes]) -> None:
        """Keep no more for a listener."""
        self._listeners[topic] = [one for one in self._listeners[topic] if one is not sent]

    def add(self, topic: str, data: bytes) -> None:
        """Keep a message."""
        for sent in self._listeners.get(topic, ()):
            sent.append(data)


class CommandTopic:
    """
    Publishes commands, and tells of each one that another node publishes there, and of the topic.

    Who sends to a controller replaces what it was told before: then it is no longer ours.
    """

    def __init__(self, context: Any, message_type: Any, topic: str, depth: int,
                 on_other: Callable[[Any, str], None]) -> None:
        self._node, self._type, self._sent = context.node, message_type, context.sent
        self._on_other = on_other
        # reliable and volatile: matches whatever the controller's subscription asks for
        self._publisher = context.node.create_publisher(message_type, topic,
                                                        QoSProfile(depth=depth))
        self.name = self._publisher.topic_name
        self._own = self._sent.listen(self.name)
        self._subscription = context.node.create_subscription(
            message_type, topic, self._take, ANY, raw=True,
            callback_group=context.callback_group)

    def publish(self, message: Any) -> None:
        """Send a command."""
        data = serialize_message(message)
        self._sent.add(self.name, data)
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
        """Say that nobody but this node listens, or ''."""
        count, own = self._publisher.get_subscription_count(), self._sent.count(self.name)
        if count > own or count and heard_by_others(self._node, self.name):
            return ''
        return f'no subscriber on {self.name}'

    def unmatched(self, others: int) -> str:
        """Return why not all the subscribers of other nodes would receive a command, or ''."""
        count = self._publisher.get_subscription_count() - self._sent.count(self.name)
        return '' if count >= others else (
            f'{count} of {others} subscribers on {self.name} have been discovered: the controller '
            'may be missing')

    def close(self) -> None:
        """Give up publisher and subscription."""
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_subscription(self._subscription)
        self._sent.forget(self.name, self._own)
