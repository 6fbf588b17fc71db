"""The node's side of its workers: who is stuck, and what becomes of the others' searches."""

from collections import deque
from itertools import repeat
import multiprocessing
import queue
import time
from types import SimpleNamespace

from node_harness import eventually, matrix, reachable
import numpy as np
import pytest

from ros2_ik.core import Constraint, IKProblem, PoseTarget, Search, UserFunction
from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.workers import LateError, Pool
from ros2_ik.node.workers.member import WorkerError
from ros2_ik.node.workers.pool import PERIOD, STARTING

TIP = 'panda_hand_tcp'
ANSWERED = STARTING + 5.0
SOON = 2.0    # after which a silent worker is taken for stuck here [s]


@pytest.fixture(scope='module', autouse=True)
def fork_server():
    """Start it in the main thread, as the node does: it ends with the thread that started it."""
    ensure_fork_server()


@pytest.fixture
def logged():
    return []


@pytest.fixture
def pool(panda, logged):
    pool = Pool(1, SimpleNamespace(error=lambda text, **_: logged.append(text)))
    pool.set_robot(panda)
    pool.start()
    yield pool
    pool.close()


def in_worker():
    return multiprocessing.parent_process() is not None


def endless(at):
    """Hold the interpreter's lock for ever."""
    if in_worker():
        deque(repeat(0), maxlen=0)
    return 0.0


def unreachable(robot, timeout, function=None):
    T = np.eye(4)
    T[0, 3] = 5.0
    constraints = [] if function is None else [Constraint(UserFunction(function), 1.0, 2.0)]
    problem = IKProblem(robot, [PoseTarget(TIP, T)], constraints=constraints)
    return Search(problem, random_state=0, timeout=timeout)


def easy(robot):
    pose = matrix(reachable(robot, TIP, 1).pose)
    return Search(IKProblem(robot, [PoseTarget(TIP, pose)]), timeout=60.0)


def submit(pool, search):
    answers = queue.Queue()
    pool.submit(search, answers.put)
    return answers


@pytest.mark.slow
def test_endless_search(pool, panda, logged, monkeypatch):
    """It is answered in time; its worker is replaced, and what it had else fails."""
    monkeypatch.setattr('ros2_ik.node.workers.member.STUCK', SOON)
    assert submit(pool, easy(panda)).get(timeout=60).success
    stuck = submit(pool, unreachable(panda, 0.3, endless))
    other = submit(pool, easy(panda))
    assert isinstance(stuck.get(timeout=ANSWERED), LateError)
    eventually(lambda: logged, 'a line in the log')
    assert logged[0] == 'a worker process is stuck: killed'
    assert isinstance(other.get(timeout=60), WorkerError)
    eventually(lambda: pool.replaced, 'its end')
    assert pool.replaced == 1
    assert submit(pool, easy(panda)).get(timeout=60).success


def test_what_is_made_before_a_search_takes_none_of_its_time(pool, panda, logged):
    """Asked at once after the start, with less time than a worker needs for its own start."""
    assert submit(pool, easy(panda)).get(timeout=60).success    # the fork server has begun
    fresh = Pool(1, SimpleNamespace(error=lambda text, **_: logged.append(text)))
    fresh.set_robot(panda)
    fresh.start()
    pose = matrix(reachable(panda, TIP, 1).pose)
    search = Search(IKProblem(panda, [PoseTarget(TIP, pose)]), timeout=0.1)
    try:
        assert submit(fresh, search).get(timeout=30).success and not logged
    finally:
        fresh.close()


def test_no_worker_in_time(panda):
    """Nobody waits longer than asked for."""
    pool = Pool(0, SimpleNamespace(error=print))
    pool.start()
    assert isinstance(submit(pool, unreachable(panda, 0.2)).get(timeout=ANSWERED), LateError)
    pool.close()


@pytest.mark.parametrize('ends', [True, False])
def test_a_fork_server_that_dies_is_told_of_unless_the_node_ends(ends, logged, monkeypatch):
    def die():
        raise EOFError
    monkeypatch.setattr('ros2_ik.node.workers.pool.ensure_fork_server', die)
    pool = Pool(1, SimpleNamespace(error=lambda text, **_: logged.append(text)))
    pool.start()
    try:
        if ends:
            pool.close()
            time.sleep(2 * PERIOD)
            assert not logged
        else:
            eventually(lambda: any('no worker process' in text for text in logged), 'a line')
    finally:
        pool.close()
