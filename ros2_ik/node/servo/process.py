"""The servo's process as the node sees it."""

from collections.abc import Callable
import math
import multiprocessing
from multiprocessing.connection import Connection
from queue import SimpleQueue
import threading
import time
from typing import NamedTuple

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.servo.messages import Died, FromServo, ToServo

LOOK = 0.02    # between two looks at what the process has sent [s]
RESTART = 1.0  # between two starts of it, at least [s]
TOPICS = ('target', 'twist', 'joint_jog', 'status', 'speed_scaling')


class Names(NamedTuple):
    """Names of the node and full names of topics; `topics` are those below `~/servo`."""

    node: str
    namespace: str
    joint_states: str
    topics: dict[str, str]
    simulated: bool


class ServoProcess:
    """
    The servo's process; the first message to it starts it, and starts it again if it died.

    Each of `receivers` is called with each message from it, and with `Died` at its end. It comes
    to rest and ends when the node closes its pipe or is gone.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.receivers: list[Callable[[FromServo], None]] = []
        self._pipe: _Pipe | None = None
        self._started = -math.inf
        self._timer = node.create_timer(LOOK, self.pass_on, ReentrantCallbackGroup(),
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._timer.cancel()

    def send(self, message: ToServo) -> None:
        """Send a message; start the process if there is none."""
        if self._pipe is None:
            now = time.monotonic()
            wait = max(self._started + RESTART - now, 0.0)
            self._started = now + wait
            self._pipe = _Pipe(self._names(), wait)
            self._timer.reset()
        self._pipe.outbox.put(message)

    def _names(self) -> Names:
        node, resolved = self._node, self._node.resolve_topic_name      # topics may be remapped
        return Names(node.get_name(), node.get_namespace(), resolved('joint_states'),
                     {name: resolved(f'~/servo/{name}') for name in TOPICS},
                     bool(node.get_parameter('use_sim_time').value))

    def pass_on(self) -> None:
        """Pass on received messages."""
        said = list[FromServo]()
        try:
            while self._pipe and self._pipe.connection.poll():
                said.append(self._pipe.connection.recv())
        except (EOFError, OSError):
            self.close()
            said.append(Died())
        for message in said:
            for receive in [*self.receivers]:
                receive(message)

    def close(self) -> None:
        """End the process."""
        if self._pipe:
            self._timer.cancel()
            self._pipe.outbox.put(None)
            self._pipe.connection.close()
            self._pipe = None


class _Pipe:
    """The node's end of the pipe to a new process, which a thread starts and sends `outbox`."""

    def __init__(self, names: Names, wait: float) -> None:
        self.connection, there = multiprocessing.Pipe()
        self.outbox = SimpleQueue[ToServo | None]()
        threading.Thread(target=self._run, args=(there, names, wait), name='to the servo',
                         daemon=True).start()

    def _run(self, there: Connection, names: Names, wait: float) -> None:
        time.sleep(wait)
        with there:     # at its end here the process has it alone, or nobody
            ensure_fork_server()
            context = multiprocessing.get_context('forkserver')
            context.Process(target=_serve, args=(there, names), daemon=True).start()
        message = self.outbox.get()
        try:
            while message is not None:
                self.connection.send(message)
                message = self.outbox.get()
        except OSError:     # it has died
            while self.outbox.get() is not None:
                continue


def _serve(connection: Connection, names: Names) -> None:
    # late: in the fork server there is no rclpy
    from ros2_ik.node.servo.loop import serve_servo
    serve_servo(connection, names)
