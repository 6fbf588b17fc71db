"""One node that receives the descriptions of several robots."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

if find_spec('rclpy'):
    from node_harness import Client, NodeProcess, nodes
    from package_domain import client, domain  # noqa: F401

DEFAULTS: dict[str, Any] = {'default_group': '', 'default_tip': '', 'joint_state_timeout': 1.0}


@pytest.fixture(scope='package')
def node(domain: int, tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[NodeProcess]':
    """Return a node without a robot, which also offers MoveIt's service names."""
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        yield start(moveit_names=True)


@pytest.fixture(scope='module', autouse=True)
def defaults(client: 'Client', node: 'NodeProcess') -> None:
    """Reset the parameters before each module."""
    for name, value in DEFAULTS.items():
        assert client.set(name, value).successful, name
