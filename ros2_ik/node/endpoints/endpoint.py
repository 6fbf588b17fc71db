"""Base class of endpoints, with the parts of the node as attributes."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutinefunction
import pkgutil
import traceback
from typing import Any, TypeVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.timer import Timer
from std_msgs.msg import Header

from ros2_ik.core import IKError, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.msg import Solution
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.servo.process import ServoProcess
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import RETRY_PERIOD, Transforms
from ros2_ik.node.workers.pool import Pool

OFFER_DELAY = 2.0    # time for DDS to discover nodes that already offer MoveIt's names [s]

# Request queue of each service. When the queue is full, DDS drops older requests silently. Fast
# DDS sends each response to all clients of a service, so clients need queues of the same length.
QUEUE = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# wait(start) calls start(done), and awaits the value that any thread passes to `done`
Wait = Callable[[Callable[[Callable[[object], None]], None]], Awaitable[Any]]

Request = TypeVar('Request')
Response = TypeVar('Response')
T = TypeVar('T')
# fills a response; see `Endpoint.serve`
Fill = Callable[[Request, Response], Coroutine[object, object, None] | None]


def publisher(node: Node, message: type, name: str, qos: QoSProfile | int = 10) -> Publisher:
    """Return a publisher without events on incompatible QoS, since events slow down services."""
    return node.create_publisher(message, name, qos, event_callbacks=PublisherEventCallbacks(
        use_default_callbacks=False))


def timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Return a timer on the steady clock with a period [s]; it also runs in paused simulations."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


@dataclass(eq=False)
class Endpoint:
    """Base class of endpoints; subclasses create their services in `offer`."""

    node: Node
    parameters: Parameters
    description: Description
    joint_states: JointStates
    current_state: CurrentState
    scene: PlanningScene
    transforms: Transforms
    pool: Pool
    motions: MotionExecutor
    servo_process: ServoProcess
    solutions: Publisher        # of topic ~/solution
    wait: Wait
    # sleeps for a time [s] without blocking the executor
    sleep: Callable[[float], Awaitable[None]]

    def __post_init__(self) -> None:
        self.offer()

    def offer(self) -> None:
        """Create services, publishers and subscriptions."""

    def serve(self, interface: type, name: str, fill: Fill[Request, Response]) -> None:
        """
        Create a service; `fill` fills its responses, see `respond`.

        A `fill` that is not a coroutine function is called by `when_ready`. The callback group is
        reentrant, so that a request that awaits a worker does not block other callbacks.
        """
        async def fill_when_ready(request: Request, response: Response) -> None:
            await self.when_ready(lambda: fill(request, response))

        filled = fill if iscoroutinefunction(fill) else fill_when_ready

        async def answer(request: Request, response: Response) -> Response:
            return await self.respond(name, filled, request, response)
        self.node.create_service(interface, name, answer, qos_profile=QUEUE,
                                 callback_group=ReentrantCallbackGroup())

    def serve_as_moveit(self, interface: type, name: str, fill: Fill[Request, Response]) -> None:
        """Create a service under move_group's name; see `serve` and `offer_as_moveit`."""
        self.offer_as_moveit(self.node.resolve_service_name(name), self.node.count_services,
                             lambda: self.serve(interface, name, fill))

    def offer_as_moveit(self, name: str, count: Callable[[str], int],
                        offer: Callable[[], object]) -> None:
        """If moveit_names is set, call `offer` after OFFER_DELAY unless a node offers `name`."""
        if not self.parameters.moveit_names:
            return

        def decide() -> None:
            waiting.cancel()
            if count(name):
                self.node.get_logger().warning(f'{name} is offered by another node already: '
                                               'parameter moveit_names does not add it')
            else:
                offer()
        waiting = timer(self.node, OFFER_DELAY, decide)

    async def respond(self, service: str, fill: Callable[[Request, Response], Awaitable[None]],
                      request: Request, response: Response) -> Response:
        """
        Return the response of a service, filled by `fill(request, response)`; never raises.

        If `fill` raises, a new response with the reason is returned: without a response, the
        client would keep waiting.
        """
        try:
            await fill(request, response)
        except Exception as error:
            status, message = reason_of(error, self.node.get_logger())
            response = set_status(type(response)(), status, message)
            # a response without these fields cannot carry the reason: log it
            if not (hasattr(response, 'message') or hasattr(response, 'error_code')):
                self.node.get_logger().error(f'{service}: {message}')
        return response

    async def when_ready(self, read: Callable[[], T]) -> T:
        """
        Wait up to a few seconds for a first robot or new collision geometry, then return `read()`.

        In the first second after the subscription to TF, `read` is retried if it raises a
        RequestError that may be due to a missing transform.
        """
        while True:
            if not (self.description.is_pending or self.scene.geometry.is_pending):
                try:
                    return read()
                except RequestError as error:
                    if not self.transforms.may_arrive(error):
                        raise
            await self.sleep(RETRY_PERIOD)

    def header(self, frame_id: str) -> Header:
        """Return a header with the current time of the node's clock."""
        header = Header(frame_id=frame_id)
        header.stamp.sec, header.stamp.nanosec = self.node.get_clock().now().seconds_nanoseconds()
        return header


def make_endpoints(node: Node, **parts: Any) -> list[Endpoint]:
    """Import all modules of this package, and create an endpoint of each kind."""
    folder = __name__.rpartition('.')[0]
    for module in pkgutil.iter_modules(import_module(folder).__path__):
        import_module(f'{folder}.{module.name}')
    solutions = publisher(node, Solution, '~/solution')
    return [kind(node=node, solutions=solutions, **parts) for kind in _kinds(Endpoint)]


def _kinds(base: type[Endpoint]) -> Iterator[type[Endpoint]]:
    """Yield the direct and indirect subclasses of `base` that have no subclasses."""
    for kind in base.__subclasses__():
        yield from _kinds(kind) if kind.__subclasses__() else [kind]


def set_status(response: Response, status: Status, message: str) -> Response:
    """Set the status and message fields that the response has; return the response."""
    # MoveIt's types have a field error_code, which has a field message from Jazzy on
    for one in (response, getattr(response, 'error_code', None)):
        for name, value in (('status', int(status)), ('val', int(status)), ('message', message)):
            if hasattr(one, name):
                setattr(one, name, value)
    return response


def reason_of(error: Exception, log: RcutilsLogger) -> tuple[Status, str]:
    """Return the status and reason of an error; log an unexpected error with its traceback."""
    if isinstance(error, IKError):
        # in one line: names in the message may have line breaks
        return error.status, ' '.join(str(error).split())
    log.error(''.join(traceback.format_exception(error))[-20_000:], throttle_duration_sec=1.0)
    return Status.FAILURE, f'{type(error).__name__}: {error}'
