"""The parts of the node that endpoints work with, and how they offer services and topics."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
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

# DDS drops older requests without a sign. Fast DDS sends each answer to all clients of a service:
# when several ask at once, each needs a queue (QoS depth) for the answers to all.
QUEUE = QoSProfile(depth=1000)   # requests that may wait, for each service

# wait(start) calls start(done) and awaits the value passed to `done`, which any thread may call
Wait = Callable[[Callable[[Callable[[object], None]], None]], Awaitable[Any]]


@dataclass(eq=False)
class Parts:
    """The parts of the node."""

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
    """Make a publisher that does not watch for incompatible subscribers, which slows services."""
    return node.create_publisher(message, name, qos, event_callbacks=PublisherEventCallbacks(
        use_default_callbacks=False))


def timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Make a timer [s] of the steady clock, which goes on while simulated time stands still."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
