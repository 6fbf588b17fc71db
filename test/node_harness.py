"""Nodes and mock robots in child processes, and a client that uses them over DDS."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import re
import signal
import subprocess
import threading
import time
from typing import Any

from ament_index_python.packages import get_package_prefix
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import RobotState
import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import collision_checker, Configuration, Robot, Scene
from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK, ComputeIK

TIMEOUT = 45.0           # of any wait; generous, as the machine may be busy [s]
RESEND_TIME = 10.0    # after which a request without a response is sent again [s]
START_TIMEOUT = 100.0    # of a node; all tests of a folder may depend on its start [s]
EXIT_TIMEOUT = 5         # of a node after a signal [s]


@contextmanager
def repeating(function: Callable[[], Any], period: float) -> Iterator[None]:
    """Call a function each period [s] in a thread until the block ends."""
    stopped = threading.Event()

    def repeat() -> None:
        while not stopped.wait(period):
            function()
    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def eventually(condition: Callable[[], Any], what: str, timeout: float = TIMEOUT) -> Any:
    """Wait until a condition returns a true value; return the value."""
    end = time.monotonic() + timeout
    pause = threading.Event()
    while not (result := condition()):
        assert time.monotonic() < end, f'timeout after {timeout} s: {what}'
        pause.wait(0.01)
    return result


def installed(name: str) -> str:
    """Return the path of an installed executable of the package."""
    return f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/{name}'


class Program:
    """An executable in a child process, in a ROS domain; the file `log` has its stderr."""

    def __init__(self, domain: int, log: Path, *words: str) -> None:
        self.log = log
        self.process = subprocess.Popen(
            words, env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, stdout=subprocess.DEVNULL,
            stderr=log.open('wb'), start_new_session=True)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def text(self) -> str:
        return self.log.read_text(errors='replace')

    def end(self, number: int = signal.SIGTERM, timeout: float = 5.0) -> int:
        """Send a signal, wait for the end and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout)


class NodeProcess(Program):
    """A node under test; tests set `allowed_long_callbacks`, a number of long callbacks."""

    allowed_long_callbacks = 0

    def __init__(self, domain: int, log: Path, parameters: dict[str, Any],
                 remappings: tuple[str, ...] = (), program: tuple[str, ...] = ()) -> None:
        super().__init__(domain, log, *(program or [installed('ik_node')]), '--ros-args',
                         *(x for name, value in parameters.items()
                           for x in ('-p', f'{name}:={_yaml(value)}')),
                         *(x for rule in remappings for x in ('-r', rule)))

    @property
    def long_callback_count(self) -> int:
        """Number of callbacks that computed for more than 30 ms; a busy machine reaches 20 ms."""
        return sum(int(ms) > 30 for ms in re.findall(r'a callback computed for (\d+) ms',
                                                     self.text))

    @property
    def description_count(self) -> int:
        """Number of robot descriptions that the node has read."""
        return len(re.findall("robot '.*': .* joints|description refused", self.text))

    def workers(self) -> list[int]:
        """Return the process ids of the workers, which are children of the node's fork server."""
        return [worker for server in children(self.pid)
                if 'forkserver' in proc_text(server, 'cmdline') for worker in children(server)]

    def started_workers(self) -> list[int]:
        """Wait for the first worker; return the process ids of all workers."""
        return eventually(self.workers, 'a worker')


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def proc_text(pid: int, file: str) -> str:
    """Return the text of the file /proc/<pid>/<file>, '' if the process has ended."""
    try:
        return Path(f'/proc/{pid}/{file}').read_text(errors='replace')
    except OSError:
        return ''


def children(pid: int) -> list[int]:
    try:
        files = Path(f'/proc/{pid}/task').glob('*/children')
        return [int(child) for file in files for child in file.read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *descendants(child))]


def has_ended(pid: int) -> bool:
    stat = proc_text(pid, 'stat')
    return not stat or ') Z ' in stat


def assert_clean_exit(node: NodeProcess, processes: Iterable[int]) -> None:
    """Assert that a node and its processes end after a signal, with code 0 and no traceback."""
    assert node.process.wait(EXIT_TIMEOUT) == 0
    eventually(lambda: all(map(has_ended, processes)), 'the end of all processes')
    assert 'Traceback' not in node.text and 'KeyboardInterrupt' not in node.text


StartNode = Callable[..., NodeProcess]


@contextmanager
def nodes(domain: int, folder: Path) -> Iterator[StartNode]:
    """
    Yield a function that starts nodes; all must exit with code 0 and without a traceback.

    A callback may be long only if it reads a description. A killed node may leave a traceback of
    the process that was receiving work. The output of a failing test contains the logs.
    """
    started: list[NodeProcess] = []

    def start(remappings: tuple[str, ...] = (), **parameters: Any) -> NodeProcess:
        # few processes and a long timeout, for a busy machine
        parameters = {'workers': 1, 'default_timeout': 5.0, **parameters}
        started.append(NodeProcess(domain, folder / f'{len(started)}.log', parameters, remappings))
        return started[-1]

    try:
        yield start
    finally:
        for node in started:
            running = node.process.poll() is None
            print(f'-- {node.log.name}, {"running" if running else "ended"}:\n{node.text[-6000:]}')
            try:
                code = node.end()
            except subprocess.TimeoutExpired:
                node.process.kill()
                pytest.fail(f'the node did not end on SIGTERM:\n{node.text}')
            assert not running or code == 0, f'exit code {code}:\n{node.text}'
            allowed = node.description_count + node.allowed_long_callbacks
            assert node.long_callback_count <= allowed, node.text
            assert code == -signal.SIGKILL or 'Traceback' not in node.text, node.text


class Client:
    """ROS node of the tests that spins in a thread and offers blocking calls."""

    def __init__(self, domain: int) -> None:
        self.domain = domain
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        # rcl registers loggers by node name for all contexts, so names must be unique
        self.node = rclpy.create_node(f'test_client_{domain}', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()
        self._clients: dict[str, Any] = {}
        self._goals: ActionClient | None = None
        self._publishers: dict[str, Any] = {}

    def _spin(self) -> None:
        while True:
            try:
                return self._executor.spin()
            except InvalidHandle:   # a test destroyed an entity of the wait set
                continue

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def service(self, kind: Any, name: str, until: Callable[..., Any] = eventually) -> Any:
        """Return a client of a service once the service is available."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name,
                                                          qos_profile=QoSProfile(depth=1000))
        until(self._clients[name].service_is_ready, f'service {name}')
        return self._clients[name]

    def call(self, kind: Any, name: str, request: Any, timeout: float = TIMEOUT) -> Any:
        """Call a service and return the response."""
        return self.wait(self.service(kind, name).call_async(request), timeout)

    def wait(self, future: Any, timeout: float = TIMEOUT) -> Any:
        """Wait for a future and return its result."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(timeout), f'no response within {timeout} s'
        return future.result()

    def ik(self, **fields: Any) -> Any:
        """Call compute_ik; repeat while the collision geometry is still being prepared."""
        def attempt() -> Any:
            future, done = self.ik_async(**fields), threading.Event()
            future.add_done_callback(lambda _: done.set())
            # DDS may lose a request to a node that has just started: repeat it, unless it moves
            if not done.wait(RESEND_TIME) and not fields.get('execute'):
                return None
            response = self.wait(future)
            return None if 'still being made' in response.message else response
        return eventually(attempt, 'collision geometry')

    def ik_async(self, **fields: Any) -> Any:
        """Call compute_ik without waiting; return the future."""
        service = self.service(ComputeIK, 'ros2_ik/compute_ik')
        return service.call_async(ComputeIK.Request(**fields))

    def fk(self, **fields: Any) -> Any:
        return self.call(ComputeFK, 'ros2_ik/compute_fk', ComputeFK.Request(**fields))

    def goal(self, **fields: Any) -> 'SentGoal':
        """Send a goal to solve_constrained_ik without waiting; return the goal."""
        if self._goals is None:
            queue = QoSProfile(depth=1000)
            self._goals = ActionClient(
                self.node, SolveConstrainedIK, 'ros2_ik/solve_constrained_ik',
                goal_service_qos_profile=queue, result_service_qos_profile=queue,
                cancel_service_qos_profile=queue, feedback_sub_qos_profile=queue)
        assert self._goals.wait_for_server(TIMEOUT), 'no action server'
        return SentGoal(self, self._goals, SolveConstrainedIK.Goal(**fields))

    def set(self, name: str, value: Any, node: str = 'ros2_ik',
            until: Callable[..., Any] = eventually) -> Any:
        """
        Set a parameter of a node; return the result. `until` waits for the response.

        A call without response is repeated: Fast DDS drops a response after 0.1 s if the service
        has not discovered the reader yet (ros2/rmw_fastrtps#842; 2 of 60 first calls).
        """
        request = SetParameters.Request(parameters=[Parameter(name, value=value)
                                                    .to_parameter_msg()])
        service = self.service(SetParameters, f'{node}/set_parameters', until)
        return self.repeat(service, request, 5.0, until).results[0]

    def repeat(self, service: Any, request: Any, period: float,
               until: Callable[..., Any] = eventually) -> Any:
        """Call a service each period [s] until the first response; return that response."""
        sent, start = list[Any](), time.monotonic()

        def first_response() -> Any:
            if time.monotonic() >= start + period * len(sent):
                sent.append(service.call_async(request))
            return next((future.result() for future in sent if future.done()), None)
        return until(first_response, f'a response of {service.srv_name}')

    def publish(self, topic: str, message: Any, latched: bool = False) -> None:
        """Publish a message once there is a subscriber."""
        publisher = self._publishers.get(topic)
        if publisher is None:
            durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
            publisher = self._publishers[topic] = self.node.create_publisher(
                type(message), topic, QoSProfile(depth=1, durability=durability))
        eventually(publisher.get_subscription_count, f'a subscriber of {topic}', START_TIMEOUT)
        publisher.publish(message)

    @contextmanager
    def publishing(self, topic: str, message: Any, period: float,
                   stamped: bool = False) -> Iterator[None]:
        """Publish a message each period [s] until the block ends; `stamped` sets its stamp."""
        publisher = self.node.create_publisher(type(message), topic, 1)
        eventually(publisher.get_subscription_count, f'a subscriber of {topic}')

        def send() -> None:
            if stamped:
                message.header.stamp = self.node.get_clock().now().to_msg()
            publisher.publish(message)
        try:
            with repeating(send, period):
                yield
        finally:
            self.node.destroy_publisher(publisher)

    def refusal(self, kind: Any, name: str, request: Any, timeout: float = 2.0) -> str:
        """Call a service; return '' for success, else the reason, such as a missing response."""
        future, done = self.service(kind, name).call_async(request), threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(timeout):
            return f'no response within {timeout} s'
        response = future.result()
        return '' if response.status == Status.SUCCESS else response.message or str(response)

    def on_executor(self, function: Callable[[], Any]) -> Any:
        """Call a function in the executor's thread: rclpy's action clients are not thread-safe."""
        return self.wait(self._executor.create_task(function))

    @contextmanager
    def other_node(self, name: str, **parameters: Any) -> Iterator[Any]:
        """Run another node with parameters, and without parameter services if there are none."""
        node = rclpy.create_node(name, context=self.context, use_global_arguments=False,
                                 start_parameter_services=bool(parameters))
        for key, value in parameters.items():
            node.declare_parameter(key, value)
        self._executor.add_node(node)
        yield node
        self._executor.remove_node(node)
        node.destroy_node()

    def publish_robot(self, robot: Robot) -> None:
        """Publish a robot's SRDF and URDF, and wait until the node has read them."""
        if robot.srdf:
            self.publish('robot_description_semantic', String(data=robot.srdf), latched=True)
        self.publish('robot_description', String(data=robot.urdf), latched=True)
        group = next(iter(robot.groups), '')   # the node has it only after the SRDF
        request = ComputeFK.Request(links=[robot.frame_names[-1]], state=neutral(robot))
        eventually(lambda: not self.refusal(ComputeFK, 'ros2_ik/compute_fk', request)
                   and self.ik(group=group).status != Status.INVALID_GROUP_NAME,
                   f'robot {robot.name}')

    def publish_joint_states(self, joints: dict[str, float], stamp: Any = None) -> None:
        """Publish joint_states once."""
        message = JointState(name=list(joints), position=[float(v) for v in joints.values()])
        if stamp is not None:
            message.header.stamp = stamp
        self.publish('joint_states', message)


class MockRobot(Program):
    """A mock robot in a child process, with a setter of its parameters."""

    def __init__(self, client: Client, log: Path, *words: str) -> None:
        super().__init__(client.domain, log, installed('mock_robot'), *words)
        self.client = client

    def set(self, name: str, value: Any) -> None:
        result = self.client.set(name, value, 'mock_robot')
        assert result.successful, result.reason


class SentGoal:
    """A goal sent to solve_constrained_ik; `feedback` lists its feedback messages."""

    def __init__(self, client: Client, actions: ActionClient, goal: Any) -> None:
        self._client, self.feedback = client, list[Any]()
        self.accepted = client.on_executor(lambda: actions.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)))
        self._result: Any = None

    def handle(self) -> Any:
        """Wait until the goal is accepted; return its handle."""
        handle = self._client.wait(self.accepted)
        assert handle.accepted
        return handle

    def result_async(self) -> Any:
        """Request the result unless requested before; return the future."""
        if self._result is None:
            self._result = self._client.on_executor(self.handle().get_result_async)
        return self._result

    def result(self, timeout: float = TIMEOUT) -> tuple[int, Any]:
        """Wait for the end; return the status of the goal and the result."""
        response = self._client.wait(self.result_async(), timeout)
        return response.status, response.result

    def cancel(self) -> Any:
        """Cancel the goal; return the response."""
        return self._client.wait(self._client.on_executor(self.handle().cancel_goal_async))

    def wait_for_feedback(self) -> 'SentGoal':
        """Wait for feedback of the search; return the goal."""
        def is_searching() -> bool:
            return any(f.phase == 'searching' for f in list(self.feedback))
        ended = self.result_async()
        eventually(lambda: is_searching() or ended.done(), 'feedback')
        assert is_searching(), ended.result()
        return self


def neutral(robot: Robot) -> RobotState:
    """Return a RobotState with every scalar joint at its neutral value."""
    return robot_state({joint.name: robot.neutral[joint.index] for joint in robot.joints
                        if joint.is_scalar})


def robot_state(joints: dict[str, float]) -> RobotState:
    """Return a RobotState of scalar joints."""
    state = RobotState()
    state.joint_state.name = list(joints)
    state.joint_state.position = [float(value) for value in joints.values()]
    return state


def values(state: RobotState) -> dict[str, float]:
    return dict(zip(state.joint_state.name, state.joint_state.position, strict=True))


def stamped(T: np.ndarray, frame: str = '') -> PoseStamped:
    """Return a PoseStamped from a pose (4, 4)."""
    message = PoseStamped()
    message.header.frame_id = frame
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = (float(x) for x in T[:3, 3])
    q.x, q.y, q.z, q.w = (float(x) for x in Rotation.from_matrix(T[:3, :3]).as_quat())
    return message


def matrix(pose: Any) -> np.ndarray:
    """Return a Pose as a matrix (4, 4)."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([pose.orientation.x, pose.orientation.y, pose.orientation.z,
                                    pose.orientation.w]).as_matrix()
    T[:3, 3] = pose.position.x, pose.position.y, pose.position.z
    return T


def reachable(robot: Robot, tip: str, number: int = 0, frame: str | None = None) -> PoseStamped:
    """Return the tip's pose in a random configuration without contact, one for each number."""
    state = Configuration(robot, contact_free_joints(robot, number, robot.joint_names))
    return stamped(state.transform(tip, frame), frame or '')


def contact_free_joints(robot: Robot, number: int, joints: Iterable[str]) -> dict[str, Any]:
    """Return joint values without contact; only `joints` are random, seeded by a number."""
    random, checker = np.random.default_rng(number), collision_checker(robot, Scene(robot))
    while True:
        sample = robot.to_joints(robot.random_q(random), joints)
        if not checker.collides(robot.to_q(sample)):
            return robot.to_joints(robot.to_q(sample))


def unreachable() -> PoseStamped:
    """Return a pose 5 m away, which no arm reaches."""
    T = np.eye(4)
    T[0, 3] = 5.0
    return stamped(T)
