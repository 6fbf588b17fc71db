"""One node with the Panda for all tests of this folder."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec('rclpy'):
    from moveit_msgs.msg import PlanningScene
    from node_harness import Client, NodeProcess, nodes
    from package_domain import client, domain  # noqa: F401
    from scene_harness import applied, get_scene

from ros2_ik.core import Robot


@pytest.fixture(scope='package')
def panda_node(client: 'Client', domain: int, panda: Robot,
               tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[NodeProcess]':
    """Return a node with the Panda that also offers MoveIt's service names."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        node = start(moveit_names=True)
        client.publish_robot(panda)
        yield node


@pytest.fixture(scope='package')
def initial_scene(client: 'Client', panda_node: 'NodeProcess') -> 'PlanningScene':
    """Return the scene of the node at its start."""
    return get_scene(client)


@pytest.fixture(scope='module', autouse=True)
def reset_scene(client: 'Client', initial_scene: 'PlanningScene') -> None:
    """Reset the scene before each module."""
    applied(client, initial_scene)


@pytest.fixture
def empty_scene(client: 'Client', initial_scene: 'PlanningScene') -> None:
    applied(client, initial_scene)
