"""A worker's side, without a process: what it says meanwhile, and how soon a search ends."""

import time

import numpy as np

from ros2_ik.core import Budget, IKProblem, PoseTarget, Search, Solver, Status
from ros2_ik.node.workers.jobs import Cancel, Job, Progress, Ready, Result
from ros2_ik.node.workers.serve import TELL

TIP = 'panda_hand_tcp'


def job(number, robot, watched=True):
    """Give a job that never ends: the target is out of reach."""
    T = np.eye(4)
    T[0, 3] = 5.0
    search = Search(IKProblem(robot, [PoseTarget(TIP, T)]), random_state=0,
                    timeout=60.0)
    return Job(number, robot.key, search.question(), watched)


def waiting(here):
    """Give what the worker has sent."""
    told = []
    while here.poll():
        if not isinstance(message := here.recv(), Ready):
            told.append(message)
    return told


def test_tells_of_watched_ones_only(pipe, worker, panda):
    here, _ = pipe
    here.send(job(1, panda, watched=False))
    here.send(job(2, panda))
    told, sent = [], time.monotonic()
    while len(told) < 3:
        worker.turn()
        told += waiting(here)
    assert all(isinstance(message, Progress) and message.number == 2 for message in told)
    assert time.monotonic() >= sent + len(told) * TELL
    restarts = [message.solution.restarts for message in told]
    assert restarts == sorted(restarts) and not told[-1].solution.success


class Patient(Solver):
    """In the place of a solver: an attempt goes on for ever, unless it is interrupted."""

    def __init__(self, solver, begun):
        super().__init__(solver.problem)
        self._solver, self._begun = solver, begun

    def attempt(self, start, budget):
        self._begun()
        while not (flag := budget.interrupted()):
            time.sleep(1e-3)
        return self._solver.attempt(start, Budget(iterations=1))._replace(exit_flag=flag)


def test_cancel_during_a_long_attempt(pipe, worker, panda):
    """What else comes meanwhile is not lost."""
    here, _ = pipe
    here.send(job(1, panda, watched=False))
    worker.turn()

    def say():
        for message in (job(2, panda), Cancel(7), Cancel(1)):
            here.send(message)
    search = worker._open[1].search
    search._solver = Patient(search._solver, say)
    worker.turn()
    result, = waiting(here)
    assert isinstance(result, Result) and result.number == 1
    assert result.solution.status is Status.PREEMPTED
    here.send(Cancel(2))
    here.send(job(3, panda))
    worker.turn()
    result, *_ = waiting(here)
    assert result.number == 2 and result.solution.status is Status.PREEMPTED
