"""A ROS domain and a client for all tests of a folder."""

from collections.abc import Iterator

from node_harness import Client
import pytest

from ros2_ik.demo.domain import unused_domain


@pytest.fixture(scope='package')
def domain() -> int:
    """Return the ROS domain of a folder; a node of a single test needs another one."""
    return unused_domain()


@pytest.fixture(scope='package')
def client(domain: int) -> Iterator[Client]:
    """Return a client in the domain of the folder."""
    client = Client(domain)
    yield client
    client.close()
