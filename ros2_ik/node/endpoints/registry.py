"""Base class and registry of endpoints, and the function that creates them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
import pkgutil
from typing import Any, ClassVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.publisher import Publisher

from ros2_ik.node.endpoints.answering import Request, Response
from ros2_ik.node.endpoints.ik_requests import IKRequests
from ros2_ik.node.endpoints.parts import Parts, publisher, QUEUE, timer

DISCOVERY_TIME = 2.0    # for DDS to discover other nodes that offer a service [s]


@dataclass(eq=False)
class Endpoint(Parts):
    """Base class of endpoints; subclasses are registered, and create their services in `offer`."""

    ik_requests: IKRequests
    kinds: ClassVar[list[type['Endpoint']]] = []

    def __init_subclass__(cls) -> None:
        Endpoint.kinds.append(cls)

    def __post_init__(self) -> None:
        self.offer()

    def offer(self) -> None:
        """Create services, publishers and subscriptions."""

    def end(self) -> None:
        """End open requests with their best results, because the node shuts down."""

    def serve(self, interface: type, name: str,
              answer: Callable[[Request, Response], Awaitable[Response]]) -> None:
        """
        Create a service.

        Its callback group is reentrant, so that a request that awaits a worker does not block
        other callbacks.
        """
        self.node.create_service(interface, name, answer, qos_profile=QUEUE,
                                 callback_group=ReentrantCallbackGroup())

    def serve_as_moveit(self, interface: type, name: str,
                        answer: Callable[[Request, Response], Awaitable[Response]]) -> None:
        """Create a service of move_group if moveit_names is set and no other node offers it."""
        self._offer_later(self.node.resolve_service_name(name), self.node.count_services,
                          lambda: self.serve(interface, name, answer))

    def publish_as_moveit(self, message: type, name: str,
                          take: Callable[[Publisher], None]) -> None:
        """Pass `take` a publisher of a move_group topic, on the terms of `serve_as_moveit`."""
        self._offer_later(self.node.resolve_topic_name(name), self.node.count_publishers,
                          lambda: take(publisher(self.node, message, name, 100)))

    def _offer_later(self, name: str, count: Callable[[str], int],
                     offer: Callable[[], object]) -> None:
        if not self.parameters.moveit_names:
            return

        def decide() -> None:
            waiting.cancel()
            if count(name):
                self.node.get_logger().warning(f'{name} is offered by another node already: '
                                               'parameter moveit_names does not add it')
            else:
                offer()
        waiting = timer(self.node, DISCOVERY_TIME, decide)


def make_endpoints(**parts: Any) -> list[Endpoint]:
    """Import all modules of this package, and create an endpoint of each registered class."""
    ik_requests, folder = IKRequests(**parts), __name__.rpartition('.')[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__):
        import_module(f'{folder}.{module.name}')
    return [kind(**parts, ik_requests=ik_requests) for kind in Endpoint.kinds]
