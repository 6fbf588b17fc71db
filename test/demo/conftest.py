"""Processes of the demo, watched from a node of the test's own."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
import os
import signal
import subprocess
import sys
import time

import pytest

ENVIRONMENT = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', 'PYTHONUNBUFFERED': '1'}
os.environ.update(ENVIRONMENT)

if find_spec('rclpy'):   # whatever else is missing is an error
    from mock_harness import Mock, running
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    from ros2_ik.demo.domain import unused_domain
else:   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py']

TIMEOUT = 30.0   # generous: the machine may be busy


@pytest.fixture(scope='module')
def domain() -> int:
    """Give a ROS domain of the module's own."""
    return unused_domain()


@pytest.fixture
def start(domain: int) -> Iterator[Callable[..., 'subprocess.Popen[str]']]:
    """Start a Python program in the domain; whatever still runs at the end is killed."""
    processes = []

    def run(*words: str, **environment: str) -> 'subprocess.Popen[str]':
        processes.append(subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=os.environ | {'ROS_DOMAIN_ID': str(domain)} | environment))
        return processes[-1]
    yield run
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()


class Watcher:
    """A node that listens."""

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = rclpy.create_node('watcher', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Listen until the condition holds."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f'not within {TIMEOUT} s: {what}'
            self._executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


@pytest.fixture
def watcher(domain: int) -> Iterator[Watcher]:
    """Give a node in the domain."""
    watcher = Watcher(domain)
    yield watcher
    watcher.close()


@pytest.fixture(scope='module')
def mock(tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[Mock]':
    """Give a mock robot; one for all tests of a module."""
    with running(tmp_path_factory.mktemp('mock')) as mock:
        yield mock
