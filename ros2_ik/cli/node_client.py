"""A client of a running node, over DDS."""

from collections.abc import Callable
import math
import os
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
from std_msgs.msg import String

from ros2_ik.cli.question import BadQuestion

if TYPE_CHECKING:
    from ros2_ik.core import Robot

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
GONE = 5.0     # seconds; DDS, which announces a node every 3 s, may lose sight of it for a moment
ONCE = 8       # messages that are taken at once
WENT = 'is gone, or was started again, and did not answer before'
DESCRIPTIONS = ('robot_description', 'robot_description_semantic')


def _start(node: str) -> None:
    try:
        validate_full_topic_name(node)
    except InvalidTopicNameException:
        raise BadQuestion(f"'{node}' cannot be the name of a node") from None
    try:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        raise BadQuestion(f'ROS does not start: {str(error).splitlines()[0]}') from None


class NodeClient:
    """
    Asks the node of the given full name, such as /ros2_ik; a context manager.

    Collects the robot's description and joint values from the topics of the node's namespace.
    Waits for nothing any longer once `give_up` is true.
    """

    def __init__(self, node: str, give_up: Callable[[], bool] = lambda: False) -> None:
        self.name, self._give_up = '/' + node.strip('/'), give_up
        _start(self.name)
        namespace = self.name.rpartition('/')[0]
        self.node = Node(f'ros2_ik_call_{os.getpid()}', namespace=namespace or None,
                         use_global_arguments=False, start_parameter_services=False,
                         enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._texts: dict[str, str] = {}
        self._described = ''    # of what `robot` returned
        self.joints: dict[str, float] = {}    # of joint_states, kept up to date
        self.heard = time.monotonic()         # time of the last joint_states, or of the start [s]
        for topic in DESCRIPTIONS:
            self.node.create_subscription(String, topic, self._keep(topic), LATCHED)
        self.node.create_subscription(JointState, 'joint_states', self._on_joint_states,
                                      qos_profile_sensor_data)

    def __enter__(self) -> 'NodeClient':
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()

    def _keep(self, topic: str) -> Callable[[String], None]:
        return lambda message: self._texts.update({topic: message.data})

    def _on_joint_states(self, message: JointState) -> None:
        self.joints.update(zip(message.name, message.position, strict=False))
        self.heard = time.monotonic()

    def spin_until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Serve DDS until `done` or the time is over; gives done()."""
        deadline = time.monotonic() + seconds
        while not done() and not self._give_up() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.05)
        return done()

    def take(self) -> None:
        """Process the messages that have been received, without waiting."""
        for _ in range(ONCE):
            self._executor.spin_once(timeout_sec=0.0)

    def connect(self, kind: Any, service: str, wait: float) -> Client:
        """Find the node's ~/service; raises BadQuestion when it is not there after `wait` s."""
        name = f'{self.name}/{service}'
        # answers to other clients pass through this one's queue, too
        client = self.node.create_client(kind, name, qos_profile=QoSProfile(depth=1000))
        self.await_server(client.service_is_ready, service, wait, f'service {name}')
        return client

    def await_server(self, ready: Callable[[], bool], service: str, wait: float,
                     what: str) -> None:
        """Wait until a server is there, known by its `service`; raises BadQuestion."""
        if not self.spin_until(ready, wait):
            raise BadQuestion(f'no {what} after {wait:g} s; {self._seen(service)}')

    def watch(self, ready: Callable[[], bool]) -> Callable[[], bool]:
        """
        Return a function that is true once a server that was ready has ended.

        Where a process was killed or is held up, DDS notices after some 20 s, and so long one
        that was started anew stands beside it. A server that is merely busy stays.
        """
        since, first = math.inf, self.processes()

        def gone() -> bool:
            nonlocal since, first
            now = self.processes()
            first = first or now
            there = ready() and now <= first
            since = math.inf if there else min(since, time.monotonic())
            return time.monotonic() > since + GONE
        return gone

    def processes(self) -> frozenset[tuple[int, ...]]:
        """Return ids of the node's processes: the gid of a publisher of each."""
        return frozenset(tuple(found.endpoint_gid) for found in
                         self.node.get_publishers_info_by_topic(f'{self.name}/solution'))

    def ask(self, client: Client, request: Any, patience: float,
            interrupted: Callable[[], bool] = lambda: False, again: float = math.inf) -> Any:
        """
        Return the response; a request that moves nothing may be sent `again` each so many seconds.

        (A response is lost where a busy server has not yet discovered its reader,
        https://github.com/ros2/rmw_fastrtps/issues/842.) Raises BadQuestion when none comes
        within `patience` seconds or the server goes, KeyboardInterrupt as soon as `interrupted`
        is true.
        """
        gone, deadline = self.watch(client.service_is_ready), time.monotonic() + patience
        futures = list[Any]()

        def ended() -> bool:
            return any(one.done() for one in futures) or interrupted() or gone()
        while not futures or not (ended() or self._give_up()) and time.monotonic() < deadline:
            futures.append(client.call_async(request))
            self.spin_until(ended, min(again, deadline - time.monotonic()))
        for future in futures:
            if future.done():
                return future.result()
        if interrupted():
            raise KeyboardInterrupt
        if gone():
            raise BadQuestion(f'{client.srv_name} {WENT}')
        raise BadQuestion(f'{client.srv_name} did not answer within {patience:g} s')

    def _seen(self, service: str) -> str:
        """Describe the nodes that were discovered, after up to 2 s more."""
        self.spin_until(lambda: bool(self._alike(service)), 2.0)
        if alike := self._alike(service):
            node = alike[0].removesuffix(f'/{service}')
            return f'there is {", ".join(alike)}: say --node {node}'
        return (f'nodes seen (ROS_DOMAIN_ID {os.environ.get("ROS_DOMAIN_ID") or 0}, '
                f'{os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")}): '
                f'{", ".join(self._others()) or "none"}')

    def _alike(self, service: str) -> list[str]:
        return [name for name, _ in self.node.get_service_names_and_types()
                if name.endswith(f'/{service}') and self.node.count_services(name)]

    def _others(self) -> list[str]:
        mine = self.node.get_name()
        return sorted(f'{namespace.rstrip("/")}/{name}' for name, namespace
                      in self.node.get_node_names_and_namespaces() if name != mine)

    def robot(self, seconds: float = 5.0) -> 'Robot | None':
        """Return the robot as its topic or the node's parameters describe it, None if neither."""
        def described() -> bool:
            return 'robot_description' in self._texts
        if 'root_joint' not in self._texts:
            self._read_parameters(seconds)
        if not self.spin_until(described, seconds):
            return None
        self._await_srdf(seconds)
        from ros2_ik.core import Robot
        self._described = self._texts['robot_description']
        return Robot.from_urdf(self._described, (),
                               self._texts.get('robot_description_semantic'),
                               self._texts.get('root_joint', 'fixed'))

    @property
    def has_another_robot(self) -> bool:
        """True if the description received last is not that of `robot`."""
        return self._texts['robot_description'] != self._described

    def _await_srdf(self, seconds: float) -> None:
        """Wait for the SRDF, which is optional: for long only if somebody publishes it."""
        topic = DESCRIPTIONS[1]
        for most in (min(seconds, 0.3), seconds):
            if self.spin_until(lambda: topic in self._texts, most) or (
                    not self.node.count_publishers(topic)):
                return

    def _read_parameters(self, seconds: float) -> None:
        """Read descriptions and root_joint from parameters; a topic wins over a parameter."""
        names = ('root_joint', *DESCRIPTIONS)
        client = self.node.create_client(GetParameters, f'{self.name}/get_parameters')
        if not self.spin_until(client.service_is_ready, seconds):
            return
        future = client.call_async(GetParameters.Request(names=names))
        if self.spin_until(future.done, seconds):
            for name, value in zip(names, future.result().values, strict=False):
                if value.string_value:
                    self._texts.setdefault(name, value.string_value)
