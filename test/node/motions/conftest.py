"""One mock Panda and one node for this folder; motion tests start with the arm at home."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec('rclpy'):
    from arm_harness import (
        execute,
        FAST,
        HOME,
        mock_robot,
        MockRobot,
        move_home,
        Recorder,
        set_standard_parameters,
        TRAJECTORIES,
        wait_for_robot,
    )
    from node_harness import Client, eventually, NodeProcess, nodes
    from package_domain import client, domain  # noqa: F401
    from scene_harness import clear_scene
    from servo_harness import Servo

    from ros2_ik.msg import Status


@pytest.fixture(scope='package')
def mock(client: 'Client', tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[MockRobot]':
    """Return a mock Panda that follows trajectories."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock:
        yield mock


@pytest.fixture(scope='package')
def node(client: 'Client', domain: int, mock: 'MockRobot',
         tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[NodeProcess]':
    """Return a node that moves the mock robot."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        node = start(**TRAJECTORIES, **FAST)
        move_home(client)
        yield node


@pytest.fixture(scope='module', autouse=True)
def standard_parameters(client: 'Client', node: 'NodeProcess',
                        mock: 'MockRobot') -> Iterator[None]:
    """Reset all parameters before each module; the mock robot must report no defect."""
    set_standard_parameters(client, mock)
    count = mock.text.count('defect')
    yield
    assert mock.text.count('defect') == count, mock.text


@pytest.fixture
def home(client: 'Client', standard_parameters: None) -> None:
    """Move the arm home in an empty scene."""
    wait_for_robot(client)
    eventually(lambda: execute(client, HOME, avoid_collisions=False, velocity_scaling=1.0).status
               == Status.SUCCESS, 'the arm at home', 90.0)
    clear_scene(client)


@pytest.fixture
def record(home: None, record: 'Recorder') -> 'Recorder':
    """Return a record of the arm, which is at home."""
    return record


@pytest.fixture
def servo(client: 'Client', home: None, mock: 'MockRobot') -> 'Iterator[Servo]':
    servo = Servo(client, mock, False)
    yield servo
    servo.close()
