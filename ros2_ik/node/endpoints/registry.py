"""Endpoints: services, actions and topics; a file of this folder registers each by its class."""

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

DISCOVERY = 2.0     # until then others that offer a service have been discovered [s]


@dataclass(eq=False)
class Endpoint(Parts):
    """An endpoint, registered by deriving from this class; it makes its services in `offer`."""

    ik_requests: IKRequests
    kinds: ClassVar[list[type['Endpoint']]] = []

    def __init_subclass__(cls) -> None:
        Endpoint.kinds.append(cls)

    def __post_init__(self) -> None:
        self.offer()

    def offer(self) -> None:
        """Make services, publishers and subscriptions."""

    def end(self) -> None:
        """End open requests: the node shuts down, and answers until it is closed."""

    def serve(self, interface: type, name: str,
              answer: Callable[[Request, Response], Awaitable[Response]]) -> None:
        """
        Offer a service.

        In a reentrant group: else one request that waits for a worker stops all callbacks.
        """
        self.node.create_service(interface, name, answer, qos_profile=QUEUE,
                                 callback_group=ReentrantCallbackGroup())

    def serve_as_moveit(self, interface: type, name: str,
                        answer: Callable[[Request, Response], Awaitable[Response]]) -> None:
        """Offer a service of move_group's if parameter moveit_names is set and none is there."""
        self._offer_later(self.node.resolve_service_name(name), self.node.count_services,
                          lambda: self.serve(interface, name, answer))

    def publish_as_moveit(self, message: type, name: str,
                          take: Callable[[Publisher], None]) -> None:
        """Publish a topic of move_group's likewise; `take` gets the publisher."""
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
        waiting = timer(self.node, DISCOVERY, decide)


def make_endpoints(**parts: Any) -> list[Endpoint]:
    """Make all endpoints of the parts of the node."""
    ik_requests, folder = IKRequests(**parts), __name__.rpartition('.')[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__):
        import_module(f'{folder}.{module.name}')
    return [kind(**parts, ik_requests=ik_requests) for kind in Endpoint.kinds]
