"""A mock robot in a child process, and its topics and services over DDS."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
import time
from typing import Any

from builtin_interfaces.msg import Duration, Time
from node_harness import Client, eventually, MockRobot
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.demo.domain import unused_domain

TIMEOUT = 100.0   # of a hanging wait, long enough for a busy machine [s]
ARM = [f'panda_joint{i}' for i in range(1, 8)]
HOME = [0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398]
TOPIC = 'arm_controller/joint_trajectory'


class Mock(MockRobot):
    """A running mock robot; `states` lists all joint_states messages."""

    def __init__(self, log: Path, arguments: Sequence[str]) -> None:
        super().__init__(Client(unused_domain()), log, *arguments)
        self.node = self.client.node
        self.states: list[JointState] = []
        self.node.create_subscription(JointState, 'joint_states', self.states.append, 1000)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.client.close()

    def until(self, condition: Callable[[], Any], what: str, timeout: float = TIMEOUT) -> Any:
        """
        Wait until a condition returns a true value, and return that value.

        Fails with the log of the mock robot; immediately if its process has ended.
        """
        def met() -> Any:
            result = condition()
            assert result or self.process.poll() is None, 'the mock robot has ended'
            return result
        try:
            return eventually(met, what, timeout)
        except AssertionError as error:
            raise AssertionError(f'{error}\n{self.text}') from None

    def wait_for_states(self, count: int = 3) -> dict[str, float]:
        """Wait for new states; return the positions of the last one."""
        target_count = len(self.states) + count
        self.until(lambda: len(self.states) >= target_count, f'{count} joint states')
        return positions(self.states[-1])

    def wait_for_rest(self) -> dict[str, float]:
        """Wait until no joint moves; return the positions."""
        self.wait_for_states()
        self.until(lambda: not any(self.states[-1].velocity)
                   and self.states[-1].position == self.states[-2].position, 'rest')
        return positions(self.states[-1])

    def send(self, topic: str, message: Any, has_arrived: Callable[[], Any], what: str) -> None:
        """Publish until the message has arrived: the subscription is best effort."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            self.client.publish(topic, message)
            try:
                return self.until(has_arrived, what, 5.0)
            except AssertionError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise

    def move(self, topic: str, message: Any) -> list[JointState]:
        """Move from rest to rest; return the states, from the last one before the motion."""
        start = self.wait_for_rest()
        first = len(self.states) - 1
        self.send(topic, message, lambda: positions(self.states[-1]) != start, 'motion')
        self.wait_for_rest()
        states = self.states[first:]
        first_moved = next(i for i, state in enumerate(states) if positions(state) != start)
        return states[first_moved - 1:]

    def assert_refused(self, topic: str, message: Any, reason: str) -> None:
        """Assert that a command moves nothing and that the log names the reason."""
        start, before = self.wait_for_rest(), self.text.count(reason)
        self.send(topic, message, lambda: self.text.count(reason) > before, f'log of {reason}')
        assert self.wait_for_states(5) == start

    def wait_for_log(self, text: str, before: int) -> None:
        self.until(lambda: self.text.count(text) > before, f'in the log: {text}')

    def get(self, name: str) -> Any:
        service = self.client.service(GetParameters, 'mock_robot/get_parameters', self.until)
        answer = self.client.repeat(service, GetParameters.Request(names=[name]), 5.0, self.until)
        return parameter_value_to_python(answer.values[0])

    def set(self, name: str, value: Any) -> None:
        result = self.client.set(name, value, 'mock_robot', self.until)
        assert result.successful, result.reason


@contextmanager
def running_mock(folder: Path, *arguments: str) -> Iterator[Mock]:
    """Run a mock robot, which must end cleanly."""
    mock = Mock(folder / 'mock_robot.log', arguments)
    try:
        mock.wait_for_states()
        yield mock
        assert mock.end(timeout=TIMEOUT) == 0
        assert 'Traceback' not in mock.text
    finally:
        print(mock.text)
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
    """Return a trajectory of points (time [s], positions, velocities, accelerations, effort)."""
    message = JointTrajectory(joint_names=list(joints))
    message.header.stamp = Time(sec=int(stamp), nanosec=int(stamp % 1 * 1e9))
    fields = ('positions', 'velocities', 'accelerations', 'effort')
    for at, *values in points:
        values_by_field = {field: [float(x) for x in numbers]
                           for field, numbers in zip(fields, values, strict=False)}
        message.points.append(JointTrajectoryPoint(
            time_from_start=Duration(sec=int(at), nanosec=round(at % 1 * 1e9)), **values_by_field))
    return message
