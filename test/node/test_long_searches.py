"""Long searches in workers: fair scheduling, and the end of workers and nodes."""

import os
import pickle
import signal
import time

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from node_harness import (
    assert_clean_exit,
    eventually,
    has_ended,
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
    client.publish_robot(panda)
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'a search by a worker')
    return [node]


@pytest.fixture
def node(nodes):
    return nodes[-1]


def unsolvable():
    """Return a pose within reach without a solution, which only a search can show."""
    T = np.eye(4)
    T[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    T[:3, 3] = 0.75, 0, 0.33
    return stamped(T)


def test_dead_worker_is_reported_and_replaced(client, panda, node):
    workers = node.started_workers()
    future = client.ik_async(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))   # its response shows that the search has begun
    for worker in workers:
        os.kill(worker, signal.SIGSEGV)
    response = client.wait(future)
    assert response.status == Status.FAILURE
    assert 'worker process' in response.message
    assert f'exit code {-signal.SIGSEGV}' in response.message
    eventually(lambda: set(node.workers()) - set(workers), 'another worker')
    # until the new worker runs, requests are refused as busy
    eventually(lambda: client.ik(targets=[unreachable()], timeout=SHORT).status
               == Status.NO_IK_SOLUTION, 'a response of the new worker')


def test_suspended_worker_is_reported_as_busy_and_resumes(client, panda, node):
    """Requests are answered within their timeout."""
    workers = node.started_workers()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    futures = [client.ik_async(targets=[unsolvable()], timeout=SHORT) for _ in range(3)]
    for future in futures:
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


RESEND_PERIOD = 0.1  # of MoveIt's plugin until the first response [s]


def test_killed_node_leaves_no_workers_and_its_successor_answers(
        client, panda, node, nodes, start_shared_node):
    """DDS may drop the first request of a client; MoveIt's plugin repeats it."""
    message = ComputeIK.Request(targets=[reachable(panda, TIP, 1)])
    service = client.node.create_client(ComputeIK, 'ros2_ik/compute_ik',
                                        qos_profile=QoSProfile(depth=100))
    eventually(service.service_is_ready, 'the service')
    assert client.repeat(service, message, RESEND_PERIOD).status == Status.SUCCESS
    workers = node.started_workers()
    client.ik_async(targets=[unreachable()], timeout=LONG)
    client.fk(state=neutral(panda))
    node.end(signal.SIGKILL)
    eventually(lambda: all(map(has_ended, workers)), 'the end of the workers')
    lost = service.call_async(message)
    nodes.append(start_shared_node())
    client.publish_robot(panda)
    assert client.repeat(service, message, RESEND_PERIOD).status == Status.SUCCESS
    assert not lost.done()
    client.node.destroy_client(service)


def test_searches_and_goals_are_answered_before_the_node_ends(make_client, panda, node):
    """This test is the last of the module."""
    client = make_client()
    eventually(lambda: client.ik().status != Status.COLLISION_CHECKING_UNAVAILABLE, 'geometry')
    workers = node.started_workers()
    searches = [client.ik_async(targets=[unreachable()], timeout=ENDLESS) for _ in range(3)]
    running = client.goal(targets=[unreachable()], timeout=ENDLESS).wait_for_feedback()
    waiting = client.goal(targets=[unreachable()], timeout=ENDLESS)
    results = [goal.result_async() for goal in (running, waiting)]
    client.fk(state=neutral(panda))
    node.process.send_signal(signal.SIGTERM)
    assert_clean_exit(node, workers)
    # responses race with the end of the writer; on a busy machine one may be lost
    eventually(lambda: any(search.done() for search in searches), 'a response')
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


def results(pipe_end):
    """Return the final results received."""
    found = []
    while pipe_end.poll():
        found.append(pipe_end.recv())
    return [result for result in found if result.is_final]


def run_until(worker, pipe_end, count):
    """Run the worker until `count` results arrive; return them and the number of time slices."""
    found, slices = [], 0
    while len(found) < count:
        worker.run_once()
        slices += 1
        found += results(pipe_end)
    return found, slices


def test_new_search_runs_before_long_searches(pipe, worker, panda):
    pipe_end, _ = pipe
    for number in range(3):
        begin(worker, number, panda, unreachable())
    for _ in range(60):
        worker.run_once()
    begin(worker, 9, panda, reachable(panda, TIP, 1), solutions=3)
    (result, *_), slices = run_until(worker, pipe_end, 1)
    assert result.number == 9 and result.solution.status == Status.SUCCESS
    assert slices <= result.solution.restarts + 3   # at most 3 for the other searches


def test_search_for_an_unknown_robot_or_with_an_exception_fails(pipe, worker, panda, monkeypatch):
    pipe_end, _ = pipe
    worker.set_robot('b', pickle.dumps(panda), 'exact', 'refuse')
    for number, key in enumerate(('a', 'b')):
        begin(worker, number, panda, reachable(panda, TIP), key)
    found = {result.number: result for result in run_until(worker, pipe_end, 2)[0]}
    assert found[0].solution is None and 'KeyError' in found[0].failure
    assert found[1].solution.success
    monkeypatch.setattr(Search, 'run', None)
    begin(worker, 2, panda, reachable(panda, TIP), 'b')
    assert 'TypeError' in run_until(worker, pipe_end, 1)[0][0].failure
