"""Fixtures: nodes in child processes, and a ROS domain for each test module."""

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

if find_spec('rclpy'):   # other missing packages are errors
    from arm_harness import mock_robot, MockRobot, Recorder
    from node_harness import Client, NodeProcess, nodes, StartNode
    from scene_harness import clear_scene

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
    """Return a client in the ROS domain of the module."""
    client = Client(domain)
    yield client
    client.close()


@pytest.fixture
def make_client(domain: int) -> 'Iterator[Callable[[], Client]]':
    """Return a function that creates clients, which have not discovered an earlier node."""
    with ExitStack() as clients:
        def make() -> Client:
            client = Client(domain)
            clients.callback(client.close)
            return client
        yield make


@pytest.fixture
def start_node(domain: int, tmp_path: Path) -> 'Iterator[StartNode]':
    """Return a function that starts nodes with parameters; all nodes must end cleanly."""
    with nodes(domain, tmp_path) as start:
        yield start


@pytest.fixture(scope='module')
def start_shared_node(domain: int,
                      tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[StartNode]':
    """Return a function that starts nodes shared by a module; all nodes must end cleanly."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        yield start


@pytest.fixture(scope='session')
def panda() -> Robot:
    return Robot.load('panda')


@pytest.fixture(scope='module')
def panda_node(client: 'Client', panda: Robot, start_shared_node: 'StartNode') -> 'NodeProcess':
    """Return a node with the Panda, shared by a module."""
    node = start_shared_node()
    client.publish_robot(panda)
    return node


@pytest.fixture
def empty_scene(client: 'Client', panda_node: 'NodeProcess') -> None:
    """Remove all objects, including attached objects."""
    clear_scene(client)


@pytest.fixture(scope='session')
def panda_fk(panda: Robot) -> RestJudge:
    """Return yourdfpy's forward kinematics of the Panda, independent of the library."""
    return RestJudge(panda.urdf)


@pytest.fixture(scope='module')
def mock(client: 'Client', tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[MockRobot]':
    """Return a mock Panda that follows trajectories, shared by a module."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock:
        yield mock


@pytest.fixture
def record(client: 'Client', mock: 'MockRobot') -> 'Iterator[Recorder]':
    """Return a record of the joint_states and commands of the mock robot."""
    record = Recorder(client)
    record.read()
    yield record
    record.close()


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    """Return the two ends of a pipe: of the node, and of the worker."""
    node_end, worker_end = Pipe()
    yield node_end, worker_end
    node_end.close()
    worker_end.close()


@pytest.fixture
def worker(pipe: tuple[Connection, Connection], panda: Robot) -> 'Worker':
    """Return a worker that runs in this process and has received the Panda."""
    worker = Worker(pipe[1])
    worker.set_robot(panda.key, pickle.dumps(panda), 'exact', 'refuse')
    return worker
