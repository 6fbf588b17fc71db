"""Nodes in child processes; each test module has a ROS domain of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
import os
from pathlib import Path
import pickle

from judge import RestJudge
import pytest

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'   # before any message module is imported

if find_spec('rclpy'):   # whatever else is missing is an error
    from arm_harness import mock_robot, MockRobot, Recorder
    from node_harness import Client, NodeProcess, nodes, StartNode
    from scene_harness import empty

    from ros2_ik.demo.domain import unused_domain
    from ros2_ik.node.workers.serve import Worker
else:   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py', '*/test_*.py']

from ros2_ik.core import Robot


@pytest.fixture(scope='module')
def domain() -> int:
    """Return a ROS domain that no other test on this machine uses."""
    return unused_domain()


@pytest.fixture(scope='module')
def client(domain: int) -> 'Iterator[Client]':
    """Return a client in the domain of the module."""
    client = Client(domain)
    yield client
    client.close()


@pytest.fixture
def newcomer(domain: int) -> 'Iterator[Callable[[], Client]]':
    """Return a function that makes clients which have not discovered a killed node."""
    with ExitStack() as clients:
        def make() -> Client:
            made = Client(domain)
            clients.callback(made.close)
            return made
        yield make


@pytest.fixture
def start_node(domain: int, tmp_path: Path) -> 'Iterator[StartNode]':
    """Return a function that starts nodes with parameters; all must end cleanly."""
    with nodes(domain, tmp_path) as start:
        yield start


@pytest.fixture(scope='module')
def start_shared_node(domain: int,
                      tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[StartNode]':
    """Return a function that starts nodes for all tests of a module; all must end cleanly."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        yield start


@pytest.fixture(scope='session')
def panda() -> Robot:
    """Return the Panda."""
    return Robot.load('panda')


@pytest.fixture(scope='module')
def panda_node(client: 'Client', panda: Robot, start_shared_node: 'StartNode') -> 'NodeProcess':
    """Return a node with the Panda, shared by the tests of a module."""
    node = start_shared_node()
    client.describe(panda)
    return node


@pytest.fixture
def empty_scene(client: 'Client', panda_node: 'NodeProcess') -> None:
    """Remove all objects, attached ones included."""
    empty(client)


@pytest.fixture(scope='session')
def panda_judge(panda: Robot) -> RestJudge:
    """Return yourdfpy's forward kinematics of the Panda."""
    return RestJudge(panda.urdf)


@pytest.fixture(scope='module')
def mock(client: 'Client', tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[MockRobot]':
    """Return a mock Panda that follows trajectories, shared by the tests of a module."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock:
        yield mock


@pytest.fixture
def record(client: 'Client', mock: 'MockRobot') -> 'Iterator[Recorder]':
    """Return a record of the joint_states and commands of the mock robot."""
    record = Recorder(client)
    record.at()
    yield record
    record.close()


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    """Return the two ends of a pipe: that of the node and that of the worker."""
    here, there = Pipe()
    yield here, there
    here.close()
    there.close()


@pytest.fixture
def worker(pipe: tuple[Connection, Connection], panda: Robot) -> 'Worker':
    """Return a worker in this process that has received the Panda."""
    worker = Worker(pipe[1])
    worker.set_robot(panda.key, pickle.dumps(panda))
    return worker
