"""Long searches in worker processes: other requests meanwhile, and dying workers."""

import os
import signal
import time

from builtin_interfaces.msg import Duration
from node_harness import eventually, gone, neutral, reachable, stamped, unreachable
import numpy as np
import pytest
from rclpy.qos import QoSProfile

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeIK

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
    """Return a pose within reach that no configuration has, which only a search can show."""
    T = np.eye(4)
    T[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    T[:3, 3] = 0.75, 0, 0.33
    return stamped(T)


def test_dead_worker_is_reported_and_replaced(client, panda, node):
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


def test_suspended_worker_is_reported_as_busy_and_resumes(client, panda, node):
    """Its requests are answered within their timeout."""
    workers = node.started_workers()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    late = [client.ik_later(targets=[backwards()], timeout=SHORT) for _ in range(3)]
    for future in late:
        response = client.wait(future)
        assert response.status == Status.TIMED_OUT and response.message.startswith('busy')
    for worker in workers:
        os.kill(worker, signal.SIGCONT)
    assert client.ik(targets=[unreachable()], timeout=SHORT).status == Status.NO_IK_SOLUTION
    assert node.started_workers() == workers


def test_workers_run_at_a_lower_priority(node):
    for worker in node.started_workers():
        eventually(lambda worker=worker: os.getpriority(os.PRIO_PROCESS, worker)
                   == min(os.nice(0) + 10, 19), 'its niceness')


RESEND_PERIOD = 0.1  # of MoveIt's plugin until the first answer [s]


def answered_after(client, service, message):
    """Send a request each RESEND_PERIOD until the first response."""
    sent = []

    def answer():
        if time.monotonic() >= start + RESEND_PERIOD * len(sent):
            sent.append(service.call_async(message))
        return any(future.done() for future in sent)
    start = time.monotonic()
    eventually(answer, 'an answer')
    assert next(future for future in sent if future.done()).result().status == Status.SUCCESS


def test_killed_node_leaves_no_workers_and_its_successor_answers(
        client, panda, node, start_node):
    """DDS may lose the first request of a client; MoveIt's plugin sends it again."""
    message = ComputeIK.Request(targets=[reachable(panda, TIP, 1)])
    service = client.node.create_client(ComputeIK, 'ros2_ik/compute_ik',
                                        qos_profile=QoSProfile(depth=100))
    eventually(service.service_is_ready, 'the service')
    answered_after(client, service, message)
    workers = node.started_workers()
    client.ik_later(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))
    node.end(signal.SIGKILL)
    eventually(lambda: all(map(gone, workers)), 'the end of the workers')
    lost = service.call_async(message)
    start_node()
    client.describe(panda)
    answered_after(client, service, message)
    assert not lost.done()
    client.node.destroy_client(service)
