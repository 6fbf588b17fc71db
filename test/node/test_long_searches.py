"""Long searches go to worker processes: what is asked meanwhile, and what if one dies."""

from contextlib import suppress
import os
import signal

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import KeyValue
from node_harness import children, eventually, neutral, reachable, stamped, unreachable
import numpy as np
import pytest
from test_signals import gone

from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
LONG, SHORT = Duration(sec=4), Duration(nanosec=100_000_000)


@pytest.fixture(scope='module')
def node(client, panda, start_shared_node):
    node = start_shared_node()
    client.describe(panda)
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'a search by a worker')
    return node


def backwards():
    """Give a pose that is near enough, but cannot be taken up, which nothing shows at once."""
    T = np.eye(4)
    T[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    T[:3, 3] = 0.75, 0, 0.33
    return stamped(T)


def test_a_search_of_long_attempts_holds_up_nobody(client, node):
    """Options of a solver may make each attempt long: a worker has it."""
    options = [KeyValue(key='attempt_iterations', value='100000'),
               KeyValue(key='error_change_tolerance', value='1e-300')]
    before = node.long_callbacks
    answer = client.ik(targets=[unreachable()], timeout=SHORT, solver='lm', solver_options=options)
    assert answer.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT), answer.message
    assert node.long_callbacks == before


@pytest.mark.slow
def test_busy(client, panda, node):
    """More than 64 long searches are refused at once; short ones are not."""
    long = [client.ik_later(targets=[unreachable()], timeout=Duration(sec=2)) for _ in range(67)]
    response = client.ik(targets=[reachable(panda, TIP, 1)])
    assert response.status == Status.SUCCESS
    answers = [client.wait(future) for future in long]
    busy = [answer for answer in answers if answer.message.startswith('busy')]
    assert len(busy) == 3
    for answer in busy:
        assert answer.status == Status.TIMED_OUT and answer.seconds < 1
        assert '64 searches are open' in answer.message
    others = [answer for answer in answers if answer not in busy]
    assert all(answer.status == Status.NO_IK_SOLUTION for answer in others)


def test_worker_that_dies(client, panda, node):
    """Its requests are answered, and another one takes its place."""
    workers = node.started_workers()
    future = client.ik_later(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))   # answered after the search has begun
    for worker in workers:
        os.kill(worker, signal.SIGSEGV)
    response = client.wait(future)
    assert response.status == Status.FAILURE
    assert 'worker process' in response.message
    assert f'exit code {-signal.SIGSEGV}' in response.message
    eventually(lambda: set(node.workers()) - set(workers), 'another worker')
    response = client.ik(targets=[unreachable()], timeout=SHORT)
    assert response.status == Status.NO_IK_SOLUTION


def test_worker_that_gets_no_computing_time(client, panda, node):
    """Its searches are answered in time, and it goes on when the machine lets it."""
    workers = node.started_workers()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    late = [client.ik_later(targets=[backwards()], timeout=SHORT) for _ in range(3)]
    for future in late:
        response = client.wait(future)
        assert response.status == Status.TIMED_OUT and response.message.startswith('busy')
        assert response.best_attempt.joint_state.name and 0.1 < response.seconds < 3
    for worker in workers:
        os.kill(worker, signal.SIGCONT)
    assert client.ik(targets=[unreachable()], timeout=SHORT).status == Status.NO_IK_SOLUTION
    assert node.started_workers() == workers


def test_workers_are_polite(node):
    for worker in node.started_workers():
        eventually(lambda worker=worker: os.getpriority(os.PRIO_PROCESS, worker)
                   == min(os.nice(0) + 10, 19), 'its niceness')


@pytest.mark.slow
def test_every_process_killed_in_turn(client, panda, node):
    """Whatever the node has started, requests are answered without it."""
    node.started_workers()
    victims = [each for child in children(node.pid) for each in (child, *children(child))]
    for victim in victims:
        with suppress(ProcessLookupError):   # it compiles, and has come to its end
            os.kill(victim, signal.SIGKILL)
        response = client.ik(targets=[unreachable()], timeout=Duration(sec=1))
        assert response.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT, Status.FAILURE)
        assert client.ik(targets=[reachable(panda, TIP, 1)]).status == Status.SUCCESS
    node.started_workers()
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'a search by a worker')


def test_workers_end_with_a_killed_node(client, panda, node):
    workers = eventually(node.workers, 'a worker')
    client.ik_later(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))
    node.process.kill()
    node.process.wait(5)
    eventually(lambda: all(gone(worker) for worker in workers), 'the end of the workers')
