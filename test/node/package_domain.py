"""A ROS domain and a client shared by the tests of a folder."""

from collections.abc import Iterator

from node_harness import Client
import pytest

from ros2_ik.demo.domain import unused_domain


@pytest.fixture(scope='package')
def domain() -> int:
    """Return the ROS domain of a folder."""
    return unused_domain()


@pytest.fixture(scope='package')
def client(domain: int) -> Iterator[Client]:
    """Return a client in the domain of the folder."""
    client = Client(domain)
    yield client
    client.close()
