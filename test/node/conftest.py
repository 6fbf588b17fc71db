"""Nodes in their own processes; each test module has a ROS domain of its own."""

from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
import os
from pathlib import Path
import pickle

import pytest

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'   # before any message module is imported

if find_spec('rclpy'):   # whatever else is missing is an error
    from arm_harness import mock_robot, MockRobot, Recorder
    from node_harness import Client, Judge, NodeProcess, nodes, StartNode
    from scene_harness import empty

    from ros2_ik.demo.domain import unused_domain
    from ros2_ik.node.workers.jobs import TakeRobot
    from ros2_ik.node.workers.serve import Worker
else:   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py', '*/test_*.py']

from ros2_ik.core import Robot


@pytest.fixture(scope='module')
def domain() -> int:
    """Give a ROS domain that nobody else on this machine tests in."""
    return unused_domain()


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


@pytest.fixture(scope='module')
def start_shared_node(domain: int,
                      tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[StartNode]':
    """Start nodes that run as long as the tests of a module; they must end well."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        yield start


@pytest.fixture(scope='session')
def panda() -> Robot:
    """Give the Panda."""
    return Robot.load('panda')


@pytest.fixture(scope='module')
def panda_node(client: 'Client', panda: Robot, start_shared_node: 'StartNode') -> 'NodeProcess':
    """Give a node that has the Panda; one for all tests of a module."""
    node = start_shared_node()
    client.describe(panda)
    return node


@pytest.fixture
def empty_scene(client: 'Client', panda_node: 'NodeProcess') -> None:
    """Have a node with the Panda and no objects, attached or not."""
    empty(client)


@pytest.fixture(scope='session')
def panda_judge(panda: Robot) -> 'Judge':
    """Give the Panda's forward kinematics by another library."""
    return Judge(panda)


@pytest.fixture(scope='module')
def mock(client: 'Client', tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[MockRobot]':
    """Give a mock Panda that follows trajectories; one for all tests of a module."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock:
        yield mock


@pytest.fixture
def record(client: 'Client', mock: 'MockRobot') -> 'Iterator[Recorder]':
    """Give a record of what the mock robot says and is told."""
    record = Recorder(client)
    record.listen()
    yield record
    record.close()


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    """Give the ends of a pipe: the node's and the worker's."""
    here, there = Pipe()
    yield here, there
    here.close()
    there.close()


@pytest.fixture
def worker(pipe: tuple[Connection, Connection], panda: Robot) -> 'Worker':
    """Give a worker in this process that is told of the Panda."""
    pipe[0].send(TakeRobot(panda.key, pickle.dumps(panda)))
    return Worker(pipe[1])
