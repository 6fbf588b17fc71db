"""ROS client of a running node, and a context manager that collects interrupts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import os
import signal
import time
from typing import Any, TYPE_CHECKING

from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.client import Client
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.validate_full_topic_name import validate_full_topic_name
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from ros2_ik.cli.arguments import CommandError, warn

if TYPE_CHECKING:
    from ros2_ik.core import Robot

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STOP_TIMEOUT = 2.0   # time for the response to a stop [s]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DISCOVERY = 0.3   # time for the discovery of a publisher of the SRDF, which is optional [s]
URDF, SRDF = DESCRIPTIONS = ('robot_description', 'robot_description_semantic')


class NodeClient:
    """
    Client of the node with the full name `node`, such as /ros2_ik; a context manager.

    The client subscribes to robot_description and joint_states in the namespace of the node. All
    waits except `wait` end as soon as one of the `abort_conditions` returns True.
    """

    def __init__(self, node: str, *abort_conditions: Callable[[], bool]) -> None:
        self.name, self.abort_conditions = '/' + node.strip('/'), [*abort_conditions]
        try:
            validate_full_topic_name(self.name)
        except InvalidTopicNameException:
            raise CommandError(f"'{node}' cannot be the name of a node") from None
        # rclpy's signal handlers would shut the context down before a goal is cancelled
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        namespace = self.name.rpartition('/')[0]
        self.node = Node(f'ros2_ik_call_{os.getpid()}', namespace=namespace or None,
                         use_global_arguments=False, start_parameter_services=False,
                         enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._woken = self.node.create_guard_condition(lambda: None)
        self._texts: dict[str, str] = {}
        self._tried_texts: dict[str, str] = {}    # texts that `_latest_robot` has read last
        self._robot: Robot | None = None          # robot of `_tried_texts`, None if malformed
        self._described = ''    # URDF of the robot that `robot` returned last
        self.joints: dict[str, float] = {}     # latest joint values by name
        self.joints_time = time.monotonic()    # time of the last joint_states, or of the start [s]
        self.is_ready = False    # True once the node has its robot and its geometry
        self.node.create_subscription(Bool, f'{self.name}/ready', self._on_ready, LATCHED)
        for topic in DESCRIPTIONS:
            self.node.create_subscription(String, topic, partial(self._store_text, topic), LATCHED)
        self.node.create_subscription(JointState, 'joint_states', self._on_joint_states,
                                      qos_profile_sensor_data)

    def __enter__(self) -> 'NodeClient':
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()

    def _store_text(self, topic: str, message: String) -> None:
        self._texts[topic] = message.data

    def _on_ready(self, message: Bool) -> None:
        self.is_ready = message.data

    def _on_joint_states(self, message: JointState) -> None:
        self.joints.update(zip(message.name, message.position, strict=False))
        self.joints_time = time.monotonic()

    def is_aborted(self) -> bool:
        """Return True if waits must end."""
        return any(condition() for condition in self.abort_conditions)

    def spin_until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Process messages until `done()`, at most for `seconds`; returns done()."""
        deadline = time.monotonic() + seconds
        while not done() and not self.is_aborted() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.05)
        return done()

    def wait(self, seconds: float) -> None:
        """Wait for a message and process it, or return after `wake` or `seconds`."""
        self._executor.spin_once(timeout_sec=seconds)

    def wake(self) -> None:
        """End the current or the next call of `wait`; thread-safe."""
        self._woken.trigger()

    def connect(self, kind: type, service: str, wait: float) -> Client:
        """Return a client of a service; raises CommandError if no server appears in `wait` s."""
        name = f'{self.name}/{service}'
        # a deep queue, because responses to other clients pass through this client's queue
        client = self.node.create_client(kind, name, qos_profile=QoSProfile(depth=1000))
        self.await_server(client.service_is_ready, wait, f'service {name}')
        return client

    def await_server(self, ready: Callable[[], bool], wait: float, what: str) -> None:
        """Wait until `ready()`; after `wait` seconds, raises CommandError, which lists nodes."""
        if self.spin_until(ready, wait):
            return
        nodes = [f'{namespace.rstrip("/")}/{name}' for name, namespace
                 in self.node.get_node_names_and_namespaces() if name != self.node.get_name()]
        # DDS reports a killed node until its lease expires
        hint = (f'{self.name} is still starting, or was killed less than 20 s ago'
                if self.name in nodes else
                'start one by tools/demo, or by ros2 launch ros2_ik ik.launch.py')
        raise CommandError(
            f'no {what} after {wait:g} s; nodes seen (ROS_DOMAIN_ID '
            f'{os.environ.get("ROS_DOMAIN_ID") or 0}): {", ".join(sorted(nodes)) or "none"}; '
            f'{hint}')

    def ask(self, client: Client, request: object, timeout: float) -> Any:
        """Call a service and return its response; raises CommandError after `timeout` seconds."""
        future = client.call_async(request)
        if self.spin_until(future.done, timeout):
            return future.result()
        raise CommandError(f'the wait for {client.srv_name} was aborted' if self.is_aborted() else
                           f'{client.srv_name} did not answer within {timeout:g} s')

    def robot(self, seconds: float = 5.0) -> 'Robot | None':
        """
        Return the robot that topics or the node's parameters describe, or None if neither does.

        Each wait takes up to `seconds`. The SRDF is optional. Malformed texts cause warnings.
        """
        if 'root_joint' not in self._texts:
            self._read_parameters(seconds)
        if not self.spin_until(lambda: URDF in self._texts, seconds):
            return None
        # wait longer for the SRDF only if there is a publisher
        if not self.spin_until(lambda: SRDF in self._texts, min(seconds, DISCOVERY)) and (
                self.node.count_publishers(SRDF)):
            self.spin_until(lambda: SRDF in self._texts, seconds)
        self.spin_until(lambda: self._latest_robot() is not None, seconds)
        if (robot := self._latest_robot()) is not None:
            self._described = robot.urdf
        return robot

    def _latest_robot(self) -> 'Robot | None':
        """Return the robot of the latest texts; None without a URDF, or for malformed texts."""
        if URDF in self._texts and self._texts != self._tried_texts:
            from ros2_ik.core import IKError, Robot
            self._tried_texts, self._robot = dict(self._texts), None
            try:
                self._robot = Robot.from_urdf(self._texts[URDF], (), self._texts.get(SRDF),
                                              self._texts.get('root_joint', 'fixed'))
            except IKError as error:
                warn(f'waiting for another robot description: {error}')
        return self._robot

    def needed_robot(self, seconds: float) -> 'Robot':
        """Return the robot as `robot` does, but raise CommandError instead of returning None."""
        if (robot := self.robot(seconds)) is None:
            raise CommandError(f'no valid robot on {self.node.resolve_topic_name(URDF)} '
                               f'within {seconds:g} s: start robot_state_publisher or another '
                               'publisher of that topic')
        return robot

    @property
    def has_another_robot(self) -> bool:
        """True if the latest robot_description is valid, and not the one `robot` used last."""
        robot = self._latest_robot()
        return robot is not None and robot.urdf != self._described

    def _read_parameters(self, seconds: float) -> None:
        """Read descriptions and root_joint from parameters; topics have precedence."""
        names = ('root_joint', *DESCRIPTIONS)
        client = self.node.create_client(GetParameters, f'{self.name}/get_parameters')
        if not self.spin_until(client.service_is_ready, seconds):
            return
        future = client.call_async(GetParameters.Request(names=names))
        if self.spin_until(future.done, seconds):
            for name, value in zip(names, future.result().values, strict=False):
                if value.string_value:
                    self._texts.setdefault(name, value.string_value)


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """
    Context manager: yield a list to which Ctrl-C, SIGTERM and SIGHUP add signal numbers.

    The `with` body must end soon after a signal. A KeyboardInterrupt could get lost in a
    destructor, or end the process before the node has received the stop; the list avoids both.
    """
    received, handlers = list[int](), {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in handlers.items():
        # ignored signals stay ignored, as in a shell's background job
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: received.append(number))
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
