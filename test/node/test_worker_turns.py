"""A worker's side, without a process: who gets the next attempt, and what it answers."""

import pickle

from node_harness import matrix, reachable, unreachable
import pytest

from ros2_ik.core import IKProblem, PoseTarget, Search, Status
from ros2_ik.node.workers.jobs import Cancel, Job, Ready, TakeRobot

TIP = 'panda_hand_tcp'


def job(number, robot, target, timeout=60.0, **options):
    search = Search(IKProblem(robot, [PoseTarget(TIP, matrix(target.pose))]), random_state=0,
                    timeout=timeout, **options)
    return Job(number, robot.key, search.question())


def results(here):
    """Return what has come, but for the words that it is ready."""
    found = []
    while here.poll():
        if not isinstance(message := here.recv(), Ready):
            found.append(message)
    return found


def test_new_search_does_not_wait_for_long_ones(pipe, worker, panda):
    here, _ = pipe
    for number in range(3):
        here.send(job(number, panda, unreachable()))
    for _ in range(60):
        worker.turn()
    here.send(job(9, panda, reachable(panda, TIP, 1), solutions=3))
    turns = 0
    while not (found := results(here)):
        worker.turn()
        turns += 1
    result = found[0]
    assert result.number == 9 and result.solution.status is Status.SUCCESS
    assert turns <= result.solution.restarts + 3   # hardly any turn went to the others


def test_deadlines_hold_for_all(pipe, worker, panda):
    here, _ = pipe
    for number in range(8):
        here.send(job(number, panda, unreachable(), timeout=0.2))
    found = []
    while len(found) < 8:
        worker.turn()
        found += results(here)
    for result in found:
        assert result.solution.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
        assert 0.2 <= result.solution.seconds < 2.0


def test_cancel(pipe, worker, panda):
    here, _ = pipe
    here.send(job(1, panda, unreachable()))
    worker.turn()
    here.send(Cancel(1))
    here.send(Cancel(7))   # long since answered: nothing happens
    here.send(job(2, panda, reachable(panda, TIP)))
    worker.turn()
    result = results(here)[0]
    assert result.number == 1 and result.solution.status is Status.PREEMPTED


def test_same_answer_as_without_worker(pipe, worker, panda):
    target = reachable(panda, TIP, 4)
    problem = IKProblem(panda, [PoseTarget(TIP, matrix(target.pose))])
    options = {'solutions': 3, 'random_state': 5, 'timeout': 60.0}    # ends by what it finds
    alone = Search(problem, **options)
    alone.run()
    begun = Search(problem, **options)
    begun.run(seconds=0)
    pipe[0].send(Job(0, panda.key, begun.question()))
    while not (found := results(pipe[0])):
        worker.turn()
    here, there = alone.solution(), found[0].solution
    assert (there.iterations, there.restarts) == (here.iterations, here.restarts)
    assert there.q.tolist() == here.q.tolist()


def test_robot_that_it_does_not_know(pipe, worker, panda):
    here, _ = pipe
    here.send(job(0, panda, unreachable())._replace(robot_key='another'))
    here.send(job(1, panda, reachable(panda, TIP)))
    worker.turn()
    result = results(here)[0]
    assert result.number == 0 and result.solution is None and 'KeyError' in result.failure


def test_keeps_two_robots(pipe, worker, panda):
    here, _ = pipe
    for key in 'abc':
        here.send(TakeRobot(key, pickle.dumps(panda)))
    for number, key in enumerate('abc'):
        here.send(job(number, panda, reachable(panda, TIP))._replace(robot_key=key))
    found = {}
    while len(found) < 3:
        worker.turn()
        found |= {result.number: result.solution for result in results(here)}
    assert found[0] is None and found[1].success and found[2].success


def test_node_that_is_gone(pipe, worker, panda):
    here, _ = pipe
    here.send(job(0, panda, unreachable()))
    worker.turn()
    here.close()
    with pytest.raises((EOFError, OSError)):
        while True:
            worker.turn()
