"""A client of a running node, over DDS."""

from collections.abc import Callable
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
DISCOVERY = 0.3   # for the publisher of an SRDF, which is optional [s]
URDF, SRDF = DESCRIPTIONS = ('robot_description', 'robot_description_semantic')


class NodeClient:
    """
    A client of the node of the given full name, such as /ros2_ik; a context manager.

    Collects the robot's description and joint values from the topics of the node's namespace.
    No method waits any longer once `give_up` is true.
    """

    def __init__(self, node: str, give_up: Callable[[], bool] = lambda: False) -> None:
        self.name, self.give_up = '/' + node.strip('/'), give_up
        try:
            validate_full_topic_name(self.name)
        except InvalidTopicNameException:
            raise BadQuestion(f"'{node}' cannot be the name of a node") from None
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        namespace = self.name.rpartition('/')[0]
        self.node = Node(f'ros2_ik_call_{os.getpid()}', namespace=namespace or None,
                         use_global_arguments=False, start_parameter_services=False,
                         enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._woken = self.node.create_guard_condition(lambda: None)
        self._texts: dict[str, str] = {}
        self._described = ''    # of what `robot` returned
        self.joints: dict[str, float] = {}     # of joint_states, kept up to date
        self.joints_time = time.monotonic()    # of the last joint_states, or of the start [s]
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
        self.joints_time = time.monotonic()

    def spin_until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Process messages until `done` or the time is over; returns done()."""
        deadline = time.monotonic() + seconds
        while not done() and not self.give_up() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.05)
        return done()

    def wait(self, seconds: float) -> None:
        """Process messages until one has come, `wake` is called or the time [s] is over."""
        self._executor.spin_once(timeout_sec=seconds)

    def wake(self) -> None:
        """End the wait, or the next one; any thread may call."""
        self._woken.trigger()

    def connect(self, kind: type, service: str, wait: float) -> Client:
        """Return a client of the node's ~/service; raises BadQuestion after `wait` seconds."""
        name = f'{self.name}/{service}'
        # answers to other clients pass through this one's queue, too
        client = self.node.create_client(kind, name, qos_profile=QoSProfile(depth=1000))
        self.await_server(client.service_is_ready, service, wait, f'service {name}')
        return client

    def await_server(self, ready: Callable[[], bool], service: str, wait: float,
                     what: str) -> None:
        """Wait until a server of ~/service is there; raises BadQuestion with other nodes."""
        if self.spin_until(ready, wait):
            return
        services = self.node.get_service_names_and_types()
        known = [name.removesuffix(f'/{service}') for name, _ in services
                 if name.endswith(f'/{service}') and self.node.count_services(name)]
        nodes = [f'{namespace.rstrip("/")}/{name}' for name, namespace
                 in self.node.get_node_names_and_namespaces() if name != self.node.get_name()]
        seen = f'valid: --node {" or ".join(known)}' if known else (
            f'nodes seen (ROS_DOMAIN_ID {os.environ.get("ROS_DOMAIN_ID") or 0}): '
            f'{", ".join(sorted(nodes)) or "none"}; start one by tools/demo, or by ros2 launch '
            'ros2_ik ik.launch.py')
        raise BadQuestion(f'no {what} after {wait:g} s; {seen}')

    def ask(self, client: Client, request: object, patience: float) -> Any:
        """Return the response of a service; raises BadQuestion after `patience` seconds."""
        future = client.call_async(request)
        if self.spin_until(future.done, patience):
            return future.result()
        raise BadQuestion(f'{client.srv_name} was not waited for' if self.give_up() else
                          f'{client.srv_name} did not answer within {patience:g} s')

    def robot(self, seconds: float = 5.0) -> 'Robot | None':
        """Return the robot as its topic or the node's parameters describe it, None if neither."""
        if 'root_joint' not in self._texts:
            self._read_parameters(seconds)
        if not self.spin_until(lambda: URDF in self._texts, seconds):
            return None
        if not self.spin_until(lambda: SRDF in self._texts, min(seconds, DISCOVERY)) and (
                self.node.count_publishers(SRDF)):
            self.spin_until(lambda: SRDF in self._texts, seconds)
        from ros2_ik.core import Robot
        self._described = self._texts[URDF]
        return Robot.from_urdf(self._described, (), self._texts.get(SRDF),
                               self._texts.get('root_joint', 'fixed'))

    def needed_robot(self, seconds: float) -> 'Robot':
        """Return the robot; raises BadQuestion if none comes."""
        if (robot := self.robot(seconds)) is None:
            raise BadQuestion(f'no robot was received on {self.node.resolve_topic_name(URDF)} '
                              f'within {seconds:g} s: start robot_state_publisher, or what else '
                              'publishes it')
        return robot

    @property
    def has_another_robot(self) -> bool:
        """True if the description received last is not that of `robot`."""
        return self._texts.get(URDF, '') != self._described

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
