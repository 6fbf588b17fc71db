"""Processes of the demo in a ROS domain of their own."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
import os
import signal
import subprocess
import sys

import pytest

from ros2_ik.demo.domain import unused_domain

os.environ.update(ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST', PYTHONUNBUFFERED='1')

if not find_spec('rclpy'):   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py']


@pytest.fixture(scope='module')
def domain() -> int:
    """Return a ROS domain for the tests of a module."""
    return unused_domain()


@pytest.fixture
def start(domain: int) -> Iterator[Callable[..., 'subprocess.Popen[str]']]:
    """Return a function that starts a Python program in the domain, killed after the test."""
    processes = []

    def run(*arguments: str, **environment: str) -> 'subprocess.Popen[str]':
        processes.append(subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE,
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
