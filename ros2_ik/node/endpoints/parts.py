"""The parts of the node that endpoints use, and factories for publishers and timers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.timer import Timer

from ros2_ik.node.endpoints.answering import Statistics
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.servo.process import ServoProcess
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.node.workers import Pool

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
    settled: Settled
    pool: Pool
    motions: MotionExecutor
    servo_process: ServoProcess
    wait: Wait


def publisher(node: Node, message: type, name: str, qos: QoSProfile | int = 10) -> Publisher:
    """Return a publisher without events for incompatible subscribers, which slow services."""
    return node.create_publisher(message, name, qos, event_callbacks=PublisherEventCallbacks(
        use_default_callbacks=False))


def timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Return a timer with a period [s] of the steady clock, which runs in paused simulations."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
