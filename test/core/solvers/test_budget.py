"""Time, iterations and the cancel flag."""

from math import inf
import threading
import time

import numpy as np
import pytest

from ros2_ik.core import Budget, InvalidOptionError, SolveOptions


def test_without_arguments_nothing_ends():
    budget = Budget()
    assert (budget.deadline, budget.iterations) == (inf, inf)
    assert not budget.over() and not budget.cancelled()


def test_the_clock_is_monotonic():
    assert not Budget(time.monotonic() + 0.5).over()
    assert Budget(deadline=time.monotonic()).over()


def test_iterations():
    budget = Budget(iterations=3)
    assert not budget.over()
    budget.iterations -= 3
    assert budget.over()


@pytest.mark.parametrize('make', [threading.Event, lambda: Flag()])
def test_cancel_by_an_event(make):
    event = make()
    budget = Budget(cancel=event)
    assert not budget.cancelled() and not budget.over()
    event.set()
    assert budget.cancelled() and budget.over()


class Flag:
    """Something like an event that is no threading.Event."""

    def __init__(self):
        self._set = 0

    def set(self):
        self._set = 1

    def is_set(self):
        return self._set


def test_cancel_by_a_callable():
    answers = [False, True]
    budget = Budget(cancel=lambda: answers.pop(0))
    assert not budget.cancelled()
    assert budget.cancelled()


@pytest.mark.parametrize('timeout', [0, -1, np.nan, None, 'soon', [1], 1j, np.array([1, 2])])
def test_timeouts_that_are_none(timeout):
    with pytest.raises(InvalidOptionError, match='timeout'):
        SolveOptions(timeout=timeout)


@pytest.mark.parametrize('timeout', [1, 0.5, np.float32(0.5), np.int64(2)])
def test_kinds_of_timeouts(timeout):
    assert SolveOptions(timeout=timeout).timeout == pytest.approx(float(timeout))


@pytest.mark.parametrize('iterations', [0, -1, 'many', [1], np.nan, 1j])
def test_iterations_that_are_none(iterations):
    with pytest.raises(InvalidOptionError, match='max_iterations'):
        SolveOptions(max_iterations=iterations)


@pytest.mark.parametrize('cancel', [5, 'stop'])
def test_callbacks_that_are_none(cancel):
    with pytest.raises(InvalidOptionError):
        SolveOptions(cancel=cancel)
