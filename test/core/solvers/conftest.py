"""Fixtures of the solver tests."""

import pytest

from ros2_ik.core import Attempt, ExitFlag, register_solver, Solver
from ros2_ik.core.solvers import solver as registry


@pytest.fixture
def register(monkeypatch):
    """Return a decorator that registers a solver as "mine" for one test."""
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    return register_solver('mine')


@pytest.fixture
def recorded_starts(register):
    """Return the list of starts that solver "mine" receives; its descents never converge."""
    received = []

    class Recorder(Solver):
        def attempt(self, start, budget):
            received.append(start.copy())
            return Attempt(start.copy(), 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Recorder)
    return received
