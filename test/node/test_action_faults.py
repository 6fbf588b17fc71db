"""~/solve_constrained_ik when things go wrong: storms, stopped processes, clocks."""

import os
from pathlib import Path
import random
import signal

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from node_harness import eventually, neutral, unreachable
import pytest

from ros2_ik.msg import Status

LONG = Duration(sec=9)


@pytest.fixture
def node(start_node, client, panda, request):
    node = start_node(**getattr(request, 'param', {}))
    client.describe(panda)
    eventually(node.workers, 'a worker')
    yield node
    if node.process.poll() is None:     # nothing is left: a new goal is searched for at once
        goal = client.goal(targets=[unreachable()], timeout=Duration(nanosec=300_000_000))
        assert goal.result()[1].status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)


def memory(pid):
    """Give the resident memory in MB."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.split('VmRSS:')[1].split()[0]) / 1000


def storm(client, panda, count):
    """Send goals, cancel each sooner or later; gives their states and statuses."""
    goals = []
    for _ in range(count):
        goals.append(client.goal(targets=[unreachable()], timeout=Duration(sec=5)))
        goals[-1].result_later()
        random.choice(goals).cancel()
        if len(goals) % 20 == 0:
            assert client.fk(state=neutral(panda)).status == Status.SUCCESS
    for goal in goals:
        goal.cancel()
    return {(state, result.status) for state, result in (goal.result() for goal in goals)}


@pytest.mark.slow
def test_storm_of_cancels(node, client, panda):
    """Each goal gets a result or is refused; services answer; no memory is lost."""
    storm(client, panda, 200)   # what is only allocated once
    before = memory(node.pid)
    answers = storm(client, panda, 500)
    assert (GoalStatus.STATUS_CANCELED, Status.PREEMPTED) in answers
    assert answers <= {(GoalStatus.STATUS_CANCELED, Status.PREEMPTED),
                       (GoalStatus.STATUS_CANCELED, Status.TIMED_OUT),
                       (GoalStatus.STATUS_ABORTED, Status.TIMED_OUT),
                       (GoalStatus.STATUS_ABORTED, Status.NO_IK_SOLUTION)}    # in its full time
    assert memory(node.pid) < before + 30


@pytest.mark.slow
def test_worker_that_does_not_look_up(node, client):
    """Cancelling is answered with what has been heard of the search."""
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    for worker in node.workers():
        os.kill(worker, signal.SIGSTOP)
    goal.cancel()
    state, result = goal.result(2)
    for worker in node.workers():
        os.kill(worker, signal.SIGCONT)
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
    assert result.best_attempt.joint_state.name and result.restarts > 0


def test_node_that_is_stopped(node, client):
    """Running and waiting goals get their results."""
    running = client.goal(targets=[unreachable()], timeout=LONG).searching()
    waiting = client.goal(targets=[unreachable()], timeout=LONG)
    results = [goal.result_later() for goal in (running, waiting)]
    assert node.end(signal.SIGINT) == 0
    for future in results:
        answer = client.wait(future, 5)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.status == Status.PREEMPTED and 'stopped' in answer.result.message
    assert client.wait(results[0]).result.best_attempt.joint_state.name


@pytest.mark.slow
@pytest.mark.parametrize('node', [{'use_sim_time': True}], indirect=True)
def test_paused_clock(node, client):
    """Time for searches, feedback and cancelling does not come from a clock that stands still."""
    goal = client.goal(targets=[unreachable()], timeout=Duration(sec=1))
    assert 0.9 < goal.result()[1].seconds < 4 and goal.feedback
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    goal.cancel()
    assert goal.result(2)[1].status == Status.PREEMPTED
