"""The node's side of its workers: searches without a worker, and a fork server that dies."""

import queue
import time
from types import SimpleNamespace

from node_harness import eventually, matrix, reachable
import numpy as np
import pytest

from ros2_ik.core import IKProblem, PoseTarget, Search, Status
from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.workers import Pool
from ros2_ik.node.workers.pool import PERIOD, STARTING

TIP = 'panda_hand_tcp'
ANSWERED = STARTING + 5.0


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


def unreachable(robot, timeout):
    T = np.eye(4)
    T[0, 3] = 5.0
    return Search(IKProblem(robot, [PoseTarget(TIP, T)]), random_state=0, timeout=timeout)


def easy(robot):
    pose = matrix(reachable(robot, TIP, 1).pose)
    return Search(IKProblem(robot, [PoseTarget(TIP, pose)]), timeout=60.0)


def submit(pool, search):
    answers = queue.Queue()
    pool.submit(search, answers.put)
    return answers


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
    late = submit(pool, unreachable(panda, 0.2)).get(timeout=ANSWERED)
    assert late.status is Status.TIMED_OUT and str(late).startswith('busy')
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
