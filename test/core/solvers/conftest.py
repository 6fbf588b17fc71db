"""Fixtures of the solver tests."""

import pytest

from ros2_ik.core import Attempt, ExitFlag, register_solver, Solver
from ros2_ik.core.solvers import solver as registry


@pytest.fixture
def register(monkeypatch):
    """Register a solver as "mine" for one test."""
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    return register_solver('mine')


@pytest.fixture
def starts(register):
    """Record the start configurations of descents of "mine", none of which converges."""
    seen = []

    class Recorder(Solver):
        def attempt(self, start, budget):
            seen.append(start.copy())
            return Attempt(start.copy(), 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Recorder)
    return seen
