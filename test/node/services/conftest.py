"""One node with the Panda answers all tests of this folder."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec('rclpy'):
    from moveit_msgs.msg import PlanningScene
    from node_harness import Client, NodeProcess, nodes
    from package_domain import client, domain  # noqa: F401
    from scene_harness import applied, get

from ros2_ik.core import Robot


@pytest.fixture(scope='package')
def panda_node(client: 'Client', domain: int, panda: Robot,
               tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[NodeProcess]':
    """Give the node, which offers MoveIt's names, too."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        node = start(moveit_names=True)
        client.describe(panda)
        yield node


@pytest.fixture(scope='package')
def initial_scene(client: 'Client', panda_node: 'NodeProcess') -> 'PlanningScene':
    """Give the scene of the node as it was at the start."""
    return get(client)


@pytest.fixture(scope='module', autouse=True)
def scene_of_module(client: 'Client', initial_scene: 'PlanningScene') -> None:
    """Begin each module with the initial scene."""
    applied(client, initial_scene)


@pytest.fixture
def empty_scene(client: 'Client', initial_scene: 'PlanningScene') -> None:
    """Begin a test with the initial scene."""
    applied(client, initial_scene)
