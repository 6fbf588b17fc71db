"""Fixtures of the core tests."""

from functools import cache
from pathlib import Path
import sys
import time

from hypothesis import HealthCheck, settings
import pytest

sys.path.insert(0, str(Path(__file__).parent))   # scenes.py and others

from judge import FileJudge  # noqa: E402
from small_robots import SMALL  # noqa: E402

from ros2_ik.core import compile_all, Robot, shipped_robots  # noqa: E402

compile_all()   # before the tests and their timeouts

settings.register_profile('core', deadline=None, derandomize=True, database=None,
                          suppress_health_check=[HealthCheck.function_scoped_fixture,
                                                 HealthCheck.too_slow])
settings.load_profile('core')


class TickingClock:
    """
    A monotonic clock that advances by 1 ms per reading.

    Deadlines become iteration counts, independent of the speed of the machine.
    """

    def __init__(self):
        self.reads = 0

    def __call__(self):
        self.reads += 1
        return self.reads * 1e-3


@pytest.fixture
def clock(monkeypatch):
    clock = TickingClock()
    monkeypatch.setattr(time, 'monotonic', clock)
    return clock


@pytest.fixture(scope='session')
def load():
    """Return a function that loads a shipped robot, cached."""
    return cache(lambda name, root_joint=None: Robot.load(name, root_joint))


@pytest.fixture(scope='session')
def panda(load):
    return load('panda')


@pytest.fixture(scope='session')
def ur5(load):
    return load('ur5')


@pytest.fixture(scope='session')
def small():
    """Return a function that makes a robot of small_robots.py, cached."""
    return cache(lambda name, root='fixed': Robot.from_urdf(SMALL[name], root_joint=root))


@pytest.fixture
def robot(small):
    """Return the arm that most tests use: seven joints, most links of length zero."""
    return small('zero_links')


@pytest.fixture(scope='session')
def judge_of(load):
    """Return a function that makes yourdfpy's forward kinematics of a shipped robot."""
    return cache(lambda name: FileJudge(load(name).urdf))


@pytest.fixture(scope='session')
def home_of():
    """Return a function that returns the home joint values of a shipped robot."""
    return lambda name: shipped_robots()[name].home
