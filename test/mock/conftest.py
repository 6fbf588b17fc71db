"""A mock robot in a separate ROS domain, with a node of the test."""

from collections.abc import Iterator
from importlib.util import find_spec
import os

import pytest

os.environ.update(ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST', PYTHONUNBUFFERED='1')

if find_spec('rclpy'):   # any other missing package is an error
    from mock_harness import Mock, running_mock
else:   # the library's tests run without ROS
    collect_ignore_glob = ['test_*.py']


@pytest.fixture(scope='module')
def mock(tmp_path_factory: pytest.TempPathFactory) -> 'Iterator[Mock]':
    """Return a mock robot, shared by the tests of a module."""
    with running_mock(tmp_path_factory.mktemp('mock')) as mock:
        yield mock
