"""Nodes in their own processes; each test module has a ROS domain of its own."""

from collections.abc import Iterator
import fcntl
import os
from pathlib import Path
import tempfile

import pytest

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'   # before any message module is imported

try:
    from node_harness import Client, Judge, NodeProcess, nodes, StartNode

    from ros2_ik.demo.domain import inhabited
except ImportError:   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py', '*/test_*.py']

from ros2_ik.core import Robot


@pytest.fixture(scope='module')
def domain() -> Iterator[int]:
    """Give a ROS domain that nobody else on this machine tests in."""
    for i in range(100):
        number = 1 + (os.getpid() + i) % 100
        if inhabited(number):
            continue
        lock = open(Path(tempfile.gettempdir()) / f'ros2_ik_domain_{number}.lock', 'w')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        yield number
        lock.close()
        return
    pytest.fail('all 100 domains are in use')


@pytest.fixture(scope='module')
def client(domain: int) -> 'Iterator[Client]':
    """Give a client in the module's domain."""
    client = Client(domain)
    yield client
    client.close()


@pytest.fixture
def start_node(domain: int, tmp_path: Path) -> 'Iterator[StartNode]':
    """Start nodes with parameters as keywords; they must end well."""
    with nodes(domain, tmp_path) as start:
        yield start


@pytest.fixture(scope='session')
def panda() -> Robot:
    """Give the Panda."""
    return Robot.load('panda')


@pytest.fixture(scope='module')
def panda_node(domain: int, client: 'Client', panda: Robot,
               tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[NodeProcess]':
    """Give a node that has the Panda; one for all tests of a module."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        node = start()
        client.describe(panda)
        yield node


@pytest.fixture(scope='session')
def panda_judge(panda: Robot) -> 'Judge':
    """Give the Panda's forward kinematics by another library."""
    return Judge(panda)
