"""Endpoints: services, actions and topics; a file of this folder registers each by its class."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from inspect import signature
import pkgutil
from typing import Any, ClassVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.timer import Timer

from ros2_ik.core import Robot

# DDS drops older requests without a sign. Fast DDS sends each answer to all clients of a service:
# when several ask at once, each needs a queue (QoS depth) for the answers to all.
QUEUE = QoSProfile(depth=1000)   # requests that may wait, for each service

DISCOVERY = 2.0     # until then others that offer a service have been discovered [s]

# wait(start) calls start(done) and awaits the value passed to `done`, which any thread may call
Wait = Callable[[Callable[[Callable[[Any], None]], None]], Awaitable[Any]]


class Endpoint:
    """
    An endpoint, registered as `name` by deriving from this class.

    The arguments of its constructor are named after the parts of the node, or other endpoints,
    that it needs; it makes its services and topics there.
    """

    kinds: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, name: str) -> None:
        Endpoint.kinds[name] = cls

    def set_robot(self, robot: Robot) -> None:
        """Take another robot."""

    def end(self) -> None:
        """End what is open: the node is being stopped, and answers until it is closed."""


def make_endpoints(parts: dict[str, Any]) -> list[Endpoint]:
    """Make all endpoints, and add each to `parts` by its name."""
    folder = __name__.rpartition('.')[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__):
        import_module(f'{folder}.{module.name}')
    return [_part(name, parts) for name in Endpoint.kinds]


def _part(name: str, parts: dict[str, Any]) -> Any:
    if name not in parts:
        kind = Endpoint.kinds[name]
        parts[name] = kind(**{need: _part(need, parts) for need in signature(kind).parameters})
    return parts[name]


def serve(node: Node, interface: Any, name: str, answer: Callable[[Any, Any], Any]) -> None:
    """
    Offer a service.

    In a reentrant group: else one request that waits for a worker stops all callbacks.
    """
    node.create_service(interface, name, answer, qos_profile=QUEUE,
                        callback_group=ReentrantCallbackGroup())


def serve_as_moveit(node: Node, parameters: Any, interface: Any, name: str,
                    answer: Callable[[Any, Any], Any]) -> None:
    """Offer a service of move_group's if parameter moveit_names is set and nobody else has it."""
    _offer(node, parameters, node.resolve_service_name(name), node.count_services,
           lambda: serve(node, interface, name, answer))


def publish_as_moveit(node: Node, parameters: Any, message: Any, name: str,
                      take: Callable[[Publisher], None]) -> None:
    """Publish a topic of move_group's likewise; `take` gets the publisher."""
    _offer(node, parameters, node.resolve_topic_name(name), node.count_publishers,
           lambda: take(publisher(node, message, name, 100)))


def _offer(node: Node, parameters: Any, name: str, count: Callable[[str], int],
           offer: Callable[[], Any]) -> None:
    if not parameters.moveit_names:
        return

    def decide() -> None:
        waiting.cancel()
        if count(name):
            node.get_logger().warning(f'{name} is offered by another node already: parameter '
                                      'moveit_names does not add it')
        else:
            offer()
    waiting = timer(node, DISCOVERY, decide)


def publisher(node: Node, message: Any, name: str, qos: Any = 10) -> Publisher:
    """Make a publisher that does not watch for incompatible subscribers, which slows services."""
    return node.create_publisher(message, name, qos, event_callbacks=PublisherEventCallbacks(
        use_default_callbacks=False))


def timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Make a timer [s] of the steady clock, which goes on while simulated time stands still."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
