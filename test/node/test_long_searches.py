"""Long searches in workers: other requests meanwhile; dying workers and nodes."""

import os
import pickle
import signal
import time

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from node_harness import (
    ends_without_a_trace,
    eventually,
    gone,
    matrix,
    neutral,
    reachable,
    stamped,
    unreachable,
)
import numpy as np
import pytest
from rclpy.qos import QoSProfile

from ros2_ik.core import IKProblem, PoseTarget
from ros2_ik.core.internals import pack, Search
from ros2_ik.msg import Status
from ros2_ik.srv import ComputeIK

TIP = 'panda_hand_tcp'
LONG, SHORT = Duration(sec=4), Duration(nanosec=100_000_000)
ENDLESS = Duration(sec=9)


@pytest.fixture(scope='module')
def nodes(client, panda, start_shared_node):
    """Return a list of the nodes of this module; the last one is running."""
    node = start_shared_node()
    client.describe(panda)
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'a search by a worker')
    return [node]


@pytest.fixture
def node(nodes):
    return nodes[-1]


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
    # until the new worker runs, requests are answered as busy
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'an answer of the new worker')


def test_suspended_worker_is_reported_as_busy_and_resumes(client, panda, node):
    """Its requests are answered within their timeout."""
    workers = node.started_workers()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    late = [client.ik_later(targets=[backwards()], timeout=SHORT) for _ in range(3)]
    for future in late:
        response = client.wait(future)
        assert response.status == Status.TIMED_OUT and response.message.startswith('busy')
        assert response.best_attempt.joint_state.name and response.seconds > 0.1
    for worker in workers:
        os.kill(worker, signal.SIGCONT)
    assert client.ik(targets=[unreachable()], timeout=SHORT).status == Status.NO_IK_SOLUTION
    assert node.started_workers() == workers


def test_workers_run_at_a_lower_priority(node):
    for worker in node.started_workers():
        eventually(lambda worker=worker: os.getpriority(os.PRIO_PROCESS, worker)
                   == min(os.nice(0) + 10, 19), 'its niceness')


RESEND_PERIOD = 0.1  # of MoveIt's plugin until the first answer [s]


def test_killed_node_leaves_no_workers_and_its_successor_answers(
        client, panda, node, nodes, start_shared_node):
    """DDS may lose the first request of a client; MoveIt's plugin sends it again."""
    message = ComputeIK.Request(targets=[reachable(panda, TIP, 1)])
    service = client.node.create_client(ComputeIK, 'ros2_ik/compute_ik',
                                        qos_profile=QoSProfile(depth=100))
    eventually(service.service_is_ready, 'the service')
    assert client.repeat(service, message, RESEND_PERIOD).status == Status.SUCCESS
    workers = node.started_workers()
    client.ik_later(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))
    node.end(signal.SIGKILL)
    eventually(lambda: all(map(gone, workers)), 'the end of the workers')
    lost = service.call_async(message)
    nodes.append(start_shared_node())
    client.describe(panda)
    assert client.repeat(service, message, RESEND_PERIOD).status == Status.SUCCESS
    assert not lost.done()
    client.node.destroy_client(service)


def test_searches_and_goals_are_answered_before_the_node_ends(newcomer, panda, node):
    """This test is the last of the module."""
    client = newcomer()
    eventually(lambda: client.ik().status != Status.COLLISION_CHECKING_UNAVAILABLE, 'geometry')
    workers = node.started_workers()
    searches = [client.ik_later(targets=[unreachable()], timeout=ENDLESS) for _ in range(3)]
    running = client.goal(targets=[unreachable()], timeout=ENDLESS).searching()
    waiting = client.goal(targets=[unreachable()], timeout=ENDLESS)
    results = [goal.result_later() for goal in (running, waiting)]
    client.fk(state=neutral(panda))
    node.process.send_signal(signal.SIGTERM)
    ends_without_a_trace(node, workers)
    # answers race with the end of the writer; on a busy machine one may be lost
    eventually(lambda: any(search.done() for search in searches), 'an answer')
    for response in [search.result() for search in searches if search.done()]:
        assert response.status == Status.PREEMPTED and 'cancelled' in response.message
        assert response.best_attempt.joint_state.name
    for future in results:
        answer = client.wait(future, 5)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.status == Status.PREEMPTED and 'cancelled' in answer.result.message
    assert results[0].result().result.best_attempt.joint_state.name


# -- a worker in this process ------------------------------------------------------------------

def begin(worker, number, robot, target, robot_key='', **options):
    search = Search(IKProblem(robot, [PoseTarget(TIP, matrix(target.pose))]), random_state=0,
                    timeout=60.0, **options)
    worker.begin(number, robot_key or robot.key, pack(search, robot), time.monotonic())


def results(here):
    """Return the received results."""
    found = []
    while here.poll():
        found.append(here.recv())
    return [result for result in found if result.is_final]


def turns_until(worker, here, count):
    """Run the worker until `count` results have arrived; return them and the number of turns."""
    found, turns = [], 0
    while len(found) < count:
        worker.run_once()
        turns += 1
        found += results(here)
    return found, turns


def test_new_search_runs_before_long_ones(pipe, worker, panda):
    here, _ = pipe
    for number in range(3):
        begin(worker, number, panda, unreachable())
    for _ in range(60):
        worker.run_once()
    begin(worker, 9, panda, reachable(panda, TIP, 1), solutions=3)
    (result, *_), turns = turns_until(worker, here, 1)
    assert result.number == 9 and result.solution.status == Status.SUCCESS
    assert turns <= result.solution.restarts + 3   # hardly any turn went to the others


def test_search_for_an_earlier_robot_and_an_exception_fail(pipe, worker, panda, monkeypatch):
    here, _ = pipe
    worker.set_robot('b', pickle.dumps(panda))
    for number, key in enumerate(('a', 'b')):
        begin(worker, number, panda, reachable(panda, TIP), key)
    found = {result.number: result for result in turns_until(worker, here, 2)[0]}
    assert found[0].solution is None and 'KeyError' in found[0].failure
    assert found[1].solution.success
    monkeypatch.setattr(Search, 'run', None)
    begin(worker, 2, panda, reachable(panda, TIP), 'b')
    assert 'TypeError' in turns_until(worker, here, 1)[0][0].failure
