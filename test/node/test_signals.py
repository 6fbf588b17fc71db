"""SIGINT, SIGTERM, SIGHUP: the node ends soon, with exit code 0, not in silence."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from builtin_interfaces.msg import Duration
from node_harness import children, eventually, neutral, unreachable
import pytest

from ros2_ik.msg import Status

SOON = 5     # also on a busy machine [s]


def to_node(node, number):
    node.process.send_signal(number)


def to_group(node, number):
    """As a terminal's Ctrl-C and systemd do."""
    os.killpg(node.pid, number)


def family(pid):
    """Give all processes that a process has started, and theirs."""
    return [each for child in children(pid) for each in (child, *family(child))]


def gone(pid):
    try:
        return ') Z ' in Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return True


@pytest.mark.parametrize(('number', 'send'), [
    (signal.SIGTERM, to_node),
    pytest.param(signal.SIGINT, to_group, marks=pytest.mark.slow),
    pytest.param(signal.SIGHUP, to_group, marks=pytest.mark.slow)])
def test_during_a_search(start_node, client, panda, number, send):
    node = start_node()
    client.describe(panda)
    workers = node.started_workers()
    searches = [client.ik_later(targets=[unreachable()], timeout=Duration(sec=9))
                for _ in range(3)]
    client.fk(state=neutral(panda))
    send(node, number)
    assert node.process.wait(SOON) == 0
    # their answers race with the end of the writer; on a busy machine one may be lost
    eventually(lambda: any(search.done() for search in searches), 'an answer')
    for response in [search.result() for search in searches if search.done()]:
        assert response.status == Status.PREEMPTED and 'cancelled' in response.message
        assert response.best_attempt.joint_state.name
    eventually(lambda: all(map(gone, workers)), 'the end of the workers', 5.0)


@pytest.mark.parametrize('ignored', [False, True])
def test_a_terminal_that_closes_ends_it_unless_that_is_ignored(ignored):
    """As nohup has it ignored."""
    code = 'from ros2_ik.node.process import SIGNALS; print(*map(int, SIGNALS))'
    said = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                         signal.SIG_IGN if ignored else signal.SIG_DFL)).stdout
    assert (str(int(signal.SIGHUP)) in said.split()) != ignored


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.split('SigCgt:')[1].split()[0], 16) >> (number - 1) & 1


@pytest.mark.parametrize('delay', [0.0, 0.5, pytest.param(1.4, marks=pytest.mark.slow)])
def test_in_every_phase_of_the_start(start_node, delay):
    """Also while workers import and compile; nothing is left, and no word is lost about it."""
    node = start_node()
    eventually(lambda: catches(node.pid, signal.SIGTERM), 'a handler')
    time.sleep(delay)       # what it does then depends on the machine
    processes = family(node.pid)
    to_group(node, signal.SIGINT)
    assert node.process.wait(SOON) == 0
    eventually(lambda: all(map(gone, processes)), 'the end of all processes', 5.0)
    assert 'Traceback' not in node.text and 'KeyboardInterrupt' not in node.text
