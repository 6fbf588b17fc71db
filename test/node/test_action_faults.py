"""~/solve_constrained_ik when things go wrong: storms, deaths, clocks, bad joint states."""

import json
import os
import signal
import threading

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from goal_processes import goal_clients as clients
from node_harness import eventually, neutral, reachable, unreachable
import pytest
from test_flood import memory

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK

TIP = 'panda_hand_tcp'
LONG = Duration(sec=9)


def answers(client):
    return [tuple(answer) for answer in json.loads(client.communicate()[0])]


def nothing_open(client, node):
    """Whether a new goal is searched for at once."""
    goal = client.goal(targets=[unreachable()], timeout=Duration(nanosec=300_000_000))
    return goal.result()[1].status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)


@pytest.mark.slow
def test_burst(start_node, domain, client, panda):
    """Each goal of several clients gets its result."""
    start_node()
    client.describe(panda)
    for each in clients(domain, 4, 15, 0.02):
        got = answers(each)
        assert len(got) == 15
        assert {state for state, _ in got} == {GoalStatus.STATUS_ABORTED}
        assert {status for _, status in got} <= {Status.NO_IK_SOLUTION, Status.TIMED_OUT}


@pytest.mark.slow
def test_storm_of_cancels(start_node, domain, client, panda):
    """Each of 1000 goals gets a result or is refused; services answer; nothing is left."""
    node = start_node()
    client.describe(panda)
    for each in clients(domain, 1, 200, 5, 0.2):   # what is only allocated once
        answers(each)
    before = memory(node.pid)
    storm = clients(domain, 2, 500, 5, 0.2)
    while any(each.poll() is None for each in storm):
        known = ComputeFK.Request(state=neutral(panda))
        assert client.call(ComputeFK, 'ros2_ik/compute_fk', known).status == Status.SUCCESS
    for each in storm:
        got = answers(each)
        assert len(got) == 500
        assert set(got) <= {(GoalStatus.STATUS_CANCELED, Status.PREEMPTED),
                            (GoalStatus.STATUS_CANCELED, Status.TIMED_OUT),
                            (GoalStatus.STATUS_ABORTED, Status.TIMED_OUT)}
        assert (GoalStatus.STATUS_CANCELED, Status.PREEMPTED) in got
    assert nothing_open(client, node)
    assert memory(node.pid) < before + 30


@pytest.mark.slow
def test_worker_that_dies(start_node, client, panda):
    node = start_node()
    client.describe(panda)
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    for worker in node.workers():
        os.kill(worker, signal.SIGKILL)
    state, result = goal.result(8)
    assert (state, result.status) == (GoalStatus.STATUS_ABORTED, Status.FAILURE)
    assert 'worker process' in result.message
    assert nothing_open(client, node)


@pytest.mark.slow
def test_worker_that_does_not_look_up(start_node, client, panda):
    """Cancelling is answered with what has been heard of the search."""
    node = start_node()
    client.describe(panda)
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    for worker in node.workers():
        os.kill(worker, signal.SIGSTOP)
    goal.cancel()
    state, result = goal.result(2)
    for worker in node.workers():
        os.kill(worker, signal.SIGCONT)
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
    assert result.best_attempt.joint_state.name and result.restarts > 0
    assert nothing_open(client, node)


@pytest.mark.parametrize('number', [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_node_that_is_stopped(start_node, client, panda, number):
    """Running and waiting goals get their results."""
    node = start_node()
    client.describe(panda)
    running = client.goal(targets=[unreachable()], timeout=LONG).searching()
    waiting = client.goal(targets=[unreachable()], timeout=LONG)
    results = [goal.result_later() for goal in (running, waiting)]
    node.process.send_signal(number)
    assert node.process.wait(5) == 0
    for future in results:
        answer = client.wait(future, 5)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.status == Status.PREEMPTED and 'stopped' in answer.result.message
    assert client.wait(results[0]).result.best_attempt.joint_state.name


def test_node_that_is_killed(start_node, client, panda):
    """A client that has waited in vain can go on with the next node."""
    node = start_node()
    client.describe(panda)
    lost = client.goal(targets=[unreachable()], timeout=LONG).searching().result_later()
    node.process.kill()
    node.process.wait(5)
    start_node()
    eventually(lambda: answers_again(client, panda), 'answers of the next node', 60)
    client.describe(panda)
    goal = client.goal(targets=[reachable(panda, TIP, 1)])
    assert goal.result(40)[1].status == Status.SUCCESS
    assert not lost.done()


def answers_again(client, panda):
    """Whether a request is answered; those that went to the killed node never are."""
    service = client.service(ComputeFK, 'ros2_ik/compute_fk')
    answered = threading.Event()
    service.call_async(ComputeFK.Request(state=neutral(panda))).add_done_callback(
        lambda _: answered.set())
    return answered.wait(1)


def test_nan_in_joint_states(start_node, client, panda):
    node = start_node()
    client.describe(panda)
    broken = dict.fromkeys(panda.joint_names, float('nan'))
    for _ in range(5):
        client.joint_states(broken)
    assert client.goal(targets=[reachable(panda, TIP, 1)]).result()[1].status == Status.SUCCESS
    assert nothing_open(client, node)


@pytest.mark.slow
def test_paused_clock(start_node, client, panda):
    """Time for searches, feedback and cancelling does not come from a clock that stands still."""
    node = start_node(use_sim_time=True)
    client.describe(panda)
    eventually(node.workers, 'a worker')   # the first goal has but a second
    goal = client.goal(targets=[unreachable()], timeout=Duration(sec=1))
    assert 0.9 < goal.result()[1].seconds < 4 and goal.feedback
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    goal.cancel()
    assert goal.result(2)[1].status == Status.PREEMPTED
    assert nothing_open(client, node)
