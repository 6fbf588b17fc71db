"""A ROS domain, and a client in it, for all tests of a folder."""

from collections.abc import Iterator

from node_harness import Client
import pytest

from ros2_ik.demo.domain import unused_domain


@pytest.fixture(scope='package')
def domain() -> int:
    """Give the ROS domain of a folder; a node of a test's own needs another one."""
    return unused_domain()


@pytest.fixture(scope='package')
def client(domain: int) -> Iterator[Client]:
    """Give a client in the folder's domain."""
    client = Client(domain)
    yield client
    client.close()
