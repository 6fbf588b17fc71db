"""A mock robot in a child process, and its topics and services over DDS."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

from ament_index_python.packages import get_package_prefix
from builtin_interfaces.msg import Duration, Time
from rcl_interfaces.srv import GetParameters, SetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.demo.domain import unused_domain

PROGRAM = os.path.join(get_package_prefix('ros2_ik'), 'lib', 'ros2_ik', 'mock_robot')
LIMIT = 100.0   # seconds, only to end what hangs: the machine may be busy
ARM = [f'panda_joint{i}' for i in range(1, 8)]
HOME = [0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398]
TOPIC = 'arm_controller/joint_trajectory'


class Mock:
    """A running mock robot; `states` lists all joint_states messages."""

    def __init__(self, log: Path, words: Sequence[str]) -> None:
        domain = unused_domain()
        self._log = log
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=log.open('wb'),
            env=os.environ | {'ROS_DOMAIN_ID': str(domain)}, start_new_session=True)
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        # rcl keeps what it logs through by the names of nodes, of all domains together
        self.node = rclpy.create_node(f'judge_{domain}', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._publishers: dict[str, Any] = {}
        self._clients: dict[tuple[Any, str], Any] = {}
        self.states: list[JointState] = []
        self.node.create_subscription(JointState, 'joint_states', self.states.append, 1000)

    def end(self) -> None:
        """Terminate the process; it must end cleanly."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(LIMIT) == 0, self.log
        assert 'Traceback' not in self.log, self.log

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    @property
    def log(self) -> str:
        return self._log.read_text(errors='replace')

    def until(self, condition: Callable[[], Any], what: str, timeout: float = LIMIT) -> Any:
        """Spin until a condition returns something true, and return that."""
        deadline = time.monotonic() + timeout
        while not (result := condition()):
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, f'not within {timeout} s: {what}\n{self.log}'
            self._executor.spin_once(timeout_sec=0.02)
        return result

    def hear(self, count: int = 3) -> dict[str, float]:
        """Wait for new states; return the positions of the last one."""
        enough = len(self.states) + count
        self.until(lambda: len(self.states) >= enough, f'{count} joint states')
        return positions(self.states[-1])

    def rest(self) -> dict[str, float]:
        """Wait until no joint moves; return the positions."""
        self.hear()
        self.until(lambda: not any(self.states[-1].velocity)
                   and self.states[-1].position == self.states[-2].position, 'rest')
        return positions(self.states[-1])

    def send(self, topic: str, message: Any, arrived: Callable[[], Any], what: str) -> None:
        """Publish until the message has arrived: the subscription is best effort."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(type(message), topic,
                                                                 QoSProfile(depth=1))
        publisher = self._publishers[topic]
        self.until(publisher.get_subscription_count, f'a subscriber of {topic}')
        deadline = time.monotonic() + LIMIT
        while True:
            publisher.publish(message)
            try:
                return self.until(arrived, what, 5.0)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise

    def move(self, topic: str, message: Any) -> list[JointState]:
        """Move from rest to rest; return the states from the last one at rest on."""
        start = self.rest()
        first = len(self.states) - 1
        self.send(topic, message, lambda: positions(self.states[-1]) != start, 'motion')
        self.rest()
        states = self.states[first:]
        begun = next(i for i, state in enumerate(states) if positions(state) != start)
        return states[begun - 1:]

    def refused(self, topic: str, message: Any, reason: str) -> None:
        """Check that a command moves nothing and that the log names the reason."""
        start, known = self.rest(), self.log.count(reason)
        self.send(topic, message, lambda: self.log.count(reason) > known, f'in the log: {reason}')
        assert self.hear(5) == start

    def logged(self, text: str, known: int) -> None:
        self.until(lambda: self.log.count(text) > known, f'in the log: {text}')

    def set(self, name: str, value: Any, node: str = 'mock_robot') -> str:
        """Set a parameter; return '' or the reason of the refusal."""
        kind = Parameter.Type.STRING_ARRAY if isinstance(value, list) else None
        parameter = Parameter(name, kind, value).to_parameter_msg()
        result = self._call(SetParameters, f'{node}/set_parameters',
                            SetParameters.Request(parameters=[parameter])).results[0]
        assert result.successful != bool(result.reason)
        return result.reason

    def get(self, name: str, node: str = 'mock_robot') -> Any:
        """Return the value of a parameter."""
        answer = self._call(GetParameters, f'{node}/get_parameters',
                            GetParameters.Request(names=[name]))
        return parameter_value_to_python(answer.values[0])

    def _call(self, kind: Any, name: str, request: Any) -> Any:
        if (kind, name) not in self._clients:
            self._clients[kind, name] = self.node.create_client(kind, name)
        client = self._clients[kind, name]
        self.until(client.service_is_ready, f'service {name}')
        future = client.call_async(request)
        self.until(future.done, f'an answer of {name}')
        return future.result()


@contextmanager
def running(folder: Path, *words: str) -> Iterator[Mock]:
    """Run a mock robot, which must end cleanly."""
    mock = Mock(folder / 'mock_robot.log', words)
    try:
        mock.hear()
        yield mock
        mock.end()
    finally:
        mock.close()


def positions(state: JointState) -> dict[str, float]:
    return dict(zip(state.name, state.position, strict=True))


def velocities(state: JointState) -> dict[str, float]:
    return dict(zip(state.name, state.velocity, strict=True))


def seconds(state: JointState, since: JointState) -> float:
    """Return the time between the stamps of two states [s]."""
    a, b = since.header.stamp, state.header.stamp
    return (b.sec - a.sec) + (b.nanosec - a.nanosec) * 1e-9


def trajectory(joints: Sequence[str], *points: tuple[Any, ...],
               stamp: float = 0.0) -> JointTrajectory:
    """Return a trajectory of points (seconds, positions, velocities, accelerations, effort)."""
    message = JointTrajectory(joint_names=list(joints))
    message.header.stamp = Time(sec=int(stamp), nanosec=int(stamp % 1 * 1e9))
    fields = ('positions', 'velocities', 'accelerations', 'effort')
    for at, *values in points:
        given = {field: [float(x) for x in numbers]
                 for field, numbers in zip(fields, values, strict=False)}
        message.points.append(JointTrajectoryPoint(
            time_from_start=Duration(sec=int(at), nanosec=round(at % 1 * 1e9)), **given))
    return message
