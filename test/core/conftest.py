"""Fixtures of the core tests."""

from functools import cache
from pathlib import Path
import sys
import time

from hypothesis import HealthCheck, settings
import pytest

sys.path.insert(0, str(Path(__file__).parent))   # all_shapes.py, whatever import mode

from judge import FileJudge  # noqa: E402
from small_robots import SMALL  # noqa: E402

from ros2_ik.core import compile_all, Robot, shipped_robots  # noqa: E402

compile_all()   # not within a test's time

settings.register_profile('core', deadline=None, derandomize=True, database=None,
                          suppress_health_check=[HealthCheck.function_scoped_fixture,
                                                 HealthCheck.too_slow])
settings.load_profile('core')


class Ticking:
    """
    A monotonic clock that advances by 1 ms per call.

    Deadlines become iteration counts, independent of the speed of the machine.
    """

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.looks * 1e-3


@pytest.fixture
def ticking(monkeypatch):
    clock = Ticking()
    monkeypatch.setattr(time, 'monotonic', clock)
    return clock


@pytest.fixture(scope='session')
def load():
    """Load a shipped robot, cached."""
    return cache(lambda name, root_joint=None: Robot.load(name, root_joint))


@pytest.fixture(scope='session')
def panda(load):
    return load('panda')


@pytest.fixture(scope='session')
def ur5(load):
    return load('ur5')


@pytest.fixture(scope='session')
def small():
    """Make a small robot, cached."""
    return cache(lambda name, root='fixed': Robot.from_urdf(SMALL[name], root_joint=root))


@pytest.fixture
def robot(small):
    """Return the arm that most tests use: seven joints, most links of length zero."""
    return small('zero_links')


@pytest.fixture(scope='session')
def judge_of(load):
    """Return yourdfpy's forward kinematics of a shipped robot."""
    return cache(lambda name: FileJudge(load(name).urdf))


@pytest.fixture(scope='session')
def home_of():
    """Return the joint values of the home state of a shipped robot."""
    return lambda name: shipped_robots()[name].home
