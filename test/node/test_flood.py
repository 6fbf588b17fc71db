"""Many clients, as fast as they can: whatever fits the queue is answered."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from node_harness import neutral, reachable
import pytest

from ros2_ik.msg import Status

CLIENTS, REQUESTS, DEPTH = 3, 200, 150


def memory(pid):
    """Give the resident memory in MB."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.split('VmRSS:')[1].split()[0]) / 1000


def poses(panda):
    """Give reachable poses as a line of JSON."""
    targets = [reachable(panda, 'panda_hand_tcp', number).pose for number in range(20)]
    return json.dumps([[getattr(part, axis) for part, axes in ((pose.position, 'xyz'),
                                                               (pose.orientation, 'xyzw'))
                        for axis in axes] for pose in targets]) + '\n'


def flood(domain, clients):
    """Start clients that wait for a line before they begin."""
    command = [sys.executable, str(Path(__file__).parent / 'flood_client.py'), str(REQUESTS),
               str(DEPTH // CLIENTS)]
    return [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, 'ROS_DOMAIN_ID': str(domain)})
            for _ in range(clients)]


def flooded(client, panda, clients):
    """Let the clients ask; give their answers, and how slow another service was at worst."""
    for each in clients:
        assert each.stdout.readline() == 'ready\n'
    for each in clients:
        each.stdin.write(poses(panda))
        each.stdin.flush()
    slowest = 0.0
    while any(each.poll() is None for each in clients):
        start = time.monotonic()
        assert client.fk(state=neutral(panda)).status == Status.SUCCESS
        slowest = max(slowest, time.monotonic() - start)
    return [json.loads(each.communicate()[0]) for each in clients], slowest


@pytest.mark.slow
def test_flood(start_node, domain, client, panda):
    node = start_node()
    client.describe(panda)
    answers, slowest = flooded(client, panda, flood(domain, CLIENTS))
    assert [len(each) for each in answers] == [REQUESTS] * CLIENTS
    statuses = {status for each in answers for status in each}
    assert statuses <= {Status.SUCCESS, Status.NO_IK_SOLUTION, Status.TIMED_OUT}
    assert sum(each.count(Status.SUCCESS) for each in answers) > 0.9 * REQUESTS * CLIENTS
    assert slowest < 2.0
    # The first flood fills what is allocated once (Python's and the allocator's pools, compiled
    # loops, DDS histories); a leak shows in the next one.
    before = memory(node.pid)
    flooded(client, panda, flood(domain, CLIENTS))
    assert memory(node.pid) < before + 5


@pytest.mark.slow
def test_client_that_stops_listening(start_node, domain, client, panda):
    """Others are answered all the same."""
    start_node()
    client.describe(panda)
    stopped, other = flood(domain, 2)
    for each in (stopped, other):
        assert each.stdout.readline() == 'ready\n'
    stopped.stdin.write(poses(panda))
    stopped.stdin.flush()
    client.fk(state=neutral(panda))
    stopped.send_signal(signal.SIGSTOP)
    answers, _ = other.communicate(poses(panda))
    stopped.kill()
    stopped.communicate()
    assert len(json.loads(answers)) == REQUESTS
