"""What the tests of solvers share."""

import pytest

from ros2_ik.core import Attempt, ExitFlag, register_solver, Solver
from ros2_ik.core.solvers import solver as registry


@pytest.fixture
def register(monkeypatch):
    """Register a solver as 'mine' for one test: nothing public takes one out again."""
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    return register_solver('mine')


@pytest.fixture
def starts(register):
    """Record where descents of 'mine' start; none of them gets anywhere."""
    seen = []

    class Recorder(Solver):
        def attempt(self, start, budget):
            seen.append(start.copy())
            return Attempt(start.copy(), 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Recorder)
    return seen
