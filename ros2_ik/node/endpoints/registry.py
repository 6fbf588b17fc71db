"""Base class and registry of endpoints, the parts of the node that they use, and factories."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
import pkgutil
from typing import Any, ClassVar, TYPE_CHECKING

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.timer import Timer

from ros2_ik.node.endpoints.answering import Request, Response, Statistics
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.servo.process import ServoProcess
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.node.workers.pool import Pool

if TYPE_CHECKING:
    from ros2_ik.node.endpoints.ik_requests import IKRequests

DISCOVERY_TIME = 2.0    # for DDS to discover other nodes that offer a service [s]

# Queue of requests of each service. When the queue is full, DDS drops older requests silently.
# Fast DDS sends each answer to all clients of a service, so the clients' queues must be as long.
QUEUE = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# wait(start) calls start(done), and awaits the value that any thread passes to `done`
Wait = Callable[[Callable[[Callable[[object], None]], None]], Awaitable[Any]]


@dataclass(eq=False)
class Parts:
    """References to the parts of the node, as attributes of each endpoint."""

    node: Node
    parameters: Parameters
    statistics: Statistics
    description: Description
    joint_states: JointStates
    current_state: CurrentState
    scene: PlanningScene
    transforms: Transforms
    pool: Pool
    motions: MotionExecutor
    servo_process: ServoProcess
    wait: Wait
    # awaits a time [s] without blocking the executor
    sleep: Callable[[float], Awaitable[None]]


def publisher(node: Node, message: type, name: str, qos: QoSProfile | int = 10) -> Publisher:
    """Return a publisher without events for incompatible subscribers, which slow services."""
    return node.create_publisher(message, name, qos, event_callbacks=PublisherEventCallbacks(
        use_default_callbacks=False))


def timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Return a timer with a period [s] of the steady clock, which runs in paused simulations."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


@dataclass(eq=False)
class Endpoint(Parts):
    """Base class of endpoints; subclasses are registered, and create their services in `offer`."""

    ik_requests: 'IKRequests'
    kinds: ClassVar[list[type['Endpoint']]] = []

    def __init_subclass__(cls) -> None:
        Endpoint.kinds.append(cls)

    def __post_init__(self) -> None:
        self.offer()

    def offer(self) -> None:
        """Create services, publishers and subscriptions."""

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
        """Create a service of move_group, see `offer_as_moveit`."""
        self.offer_as_moveit(self.node.resolve_service_name(name), self.node.count_services,
                             lambda: self.serve(interface, name, answer))

    def offer_as_moveit(self, name: str, count: Callable[[str], int],
                        offer: Callable[[], object]) -> None:
        """Call `offer` if moveit_names is set and `count(name)`, of other nodes' offers, is 0."""
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
    # imported here, since that module imports this one
    from ros2_ik.node.endpoints.ik_requests import IKRequests
    ik_requests, folder = IKRequests(**parts), __name__.rpartition('.')[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__):
        import_module(f'{folder}.{module.name}')
    return [kind(**parts, ik_requests=ik_requests) for kind in Endpoint.kinds]
