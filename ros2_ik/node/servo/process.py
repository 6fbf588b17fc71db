"""The node's handle to the servo's process."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
import time
from typing import Concatenate, ParamSpec

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ros2_ik.node.process import start_process
from ros2_ik.node.servo.loop import Loop, serve_servo
from ros2_ik.node.servo.messages import FromServo, ServoState

PIPE_POLL_PERIOD = 0.02      # between two checks for messages of the process [s]
RESTART_PERIOD = 1.0    # delay before each restart [s]
TOPICS = {'joint_states': 'joint_states', **{
    topic: f'~/servo/{topic}' for topic in ('target', 'twist', 'joint_jog', 'status')}}
P = ParamSpec('P')


class ServoProcess:
    """
    Handle to the servo's process; `call` starts the process, and restarts it after its end.

    Each of `receivers` is called with each message from the process, and with None when the
    process ends. The endpoint of the servo sets `state`, the last known state of the servo. When
    the node closes the pipe or ends, the servo brakes, streamed motions stop at their last
    command, and the process ends.
    """

    def __init__(self, node: Node) -> None:
        self._node, self.state = node, ServoState()
        self.receivers: list[Callable[[FromServo], None]] = []
        self._connection: Connection | None = None
        self._wait = 0.0    # delay before the next start [s]
        # in a thread: starting the process takes long, and sending blocks while the pipe is full
        self._sender = ThreadPoolExecutor(1, 'to the servo')
        self._timer = node.create_timer(PIPE_POLL_PERIOD, self.pass_on, ReentrantCallbackGroup(),
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._timer.cancel()

    def call(self, method: Callable[Concatenate[Loop, P], None], *arguments: P.args,
             **_: P.kwargs) -> None:
        """Call a method of the process's Loop asynchronously; start the process if necessary."""
        if self._connection is None:
            self._connection, servo_end = Pipe()
            node = self._node
            # resolved here, since remappings of this node do not apply in the servo's process
            topics = {name: node.resolve_topic_name(topic) for name, topic in TOPICS.items()}
            self._sender.submit(
                _start, self._wait, servo_end, node.get_name(), node.get_namespace(), topics,
                node.get_parameter('use_sim_time')).add_done_callback(self._log_error)
            self._wait = RESTART_PERIOD
            self._timer.reset()
        self._sender.submit(self._connection.send, (method, arguments)).add_done_callback(
            partial(self._log_error, expected=OSError))

    def _log_error(self, done: 'Future[None]', expected: type[Exception] | tuple[()] = ()) -> None:
        error = done.exception()
        # OSError on sending a call: the process has died, which `pass_on` reports
        if error and not isinstance(error, expected):
            self._node.get_logger().error(f"the servo's process: {type(error).__name__}: {error}")

    def pass_on(self) -> None:
        """Pass received messages to the receivers."""
        received = list[FromServo]()
        try:
            while self._connection and self._connection.poll():
                received.append(self._connection.recv())
        except (EOFError, OSError):
            self.close()
            received.append(None)
        for message in received:
            for receive in [*self.receivers]:
                receive(message)

    def close(self) -> None:
        """Close the pipe after all pending calls are sent; the process then ends."""
        if self._connection:
            self._timer.cancel()
            self._sender.submit(self._connection.close)
            self._connection = None


def _start(wait: float, servo_end: Connection, *arguments: object) -> None:
    time.sleep(wait)
    # close the servo's end of the pipe here, so that it is open only in the servo's process
    with servo_end:
        start_process(serve_servo, servo_end, *arguments)
