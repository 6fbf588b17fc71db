"""
The demo in a child process: it solves, ends cleanly, and leaves no process behind.

SIGINT to a running demo is tested by the tests of the command (test/cli).
"""

import os
from pathlib import Path
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest

DEMO = ('-m', 'ros2_ik.demo')
TIMEOUT = 100   # long enough for a busy machine [s]


def session_pids(process):
    """Return the ids of the processes in the session of the demo."""
    found = []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = stat.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[3]) == process.pid and fields[0] != 'Z':
            found.append(int(stat.parent.name))
    return found


def session_is_empty(process):
    """Wait for an empty session: helper processes end after the node; return whether it is."""
    deadline, pause = time.monotonic() + TIMEOUT, threading.Event()
    while session_pids(process) and time.monotonic() < deadline:
        pause.wait(0.02)
    return session_pids(process) == []


def wait_until_ready(process):
    """Wait until the demo is ready; return its output lines so far."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if 'Ctrl-C ends' in line:
            return lines
    pytest.fail(f'the demo did not come up: {process.stderr.read()}')


def wait_for_end(process):
    """Wait for the end of a process; return its exit code and error output."""
    _, errors = process.communicate(timeout=TIMEOUT)
    return process.returncode, errors


def test_demo_once_solves_and_ends_with_code_0(start):
    process = start(*DEMO, '--once')
    out, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, errors
    assert 'SUCCESS' in out and 'the answer holds' in out and 'round trip' in out
    assert session_is_empty(process)


def test_interrupt_ends_a_demo_that_is_starting(start):
    process = start(*DEMO, '--once')
    assert 'starting' in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    code, errors = wait_for_end(process)
    assert code == 0
    assert 'Traceback' not in errors and 'exit code' not in errors, errors
    assert session_is_empty(process)


@pytest.mark.slow
@pytest.mark.parametrize('robot', [('ur5',), ('xarm7', '--scene', 'bin')], ids=' '.join)
def test_commands_printed_by_the_demo_succeed_and_a_second_demo_is_refused(start, domain, robot):
    """The motion needs no --max-joint-change."""
    process = start(*DEMO, '--robot', *robot)
    hints = [line.strip() for line in wait_until_ready(process)
             if 'ros2_ik' in line and '--tip' in line]
    scripts = Path(__file__).parents[2] / 'scripts'
    assert ['--execute' in hint for hint in hints] == [False, True, False]
    assert not any('--max-joint-change' in hint for hint in hints)
    for hint in hints:
        arguments = shlex.split(hint)
        assert f'ROS_DOMAIN_ID={domain}' in arguments
        call = [sys.executable, scripts / 'ros2_ik', *arguments[arguments.index('tools/run') + 2:]]
        run = subprocess.run(call, env=os.environ | {'ROS_DOMAIN_ID': str(domain)}, text=True,
                             timeout=TIMEOUT, capture_output=True)
        assert run.returncode == 0, run.stdout + run.stderr
        assert 'SUCCESS' in run.stdout
    second = start(*DEMO)   # two demos in one domain would both answer
    code, errors = wait_for_end(second)
    assert code == 2
    assert f'ROS domain {domain} has a robot_description' in errors
    assert process.poll() is None


def test_killed_node_ends_the_demo(start):
    process = start(*DEMO)
    wait_until_ready(process)
    node_pid = next(pid for pid in session_pids(process)
                    if '/ik_node' in Path(f'/proc/{pid}/cmdline').read_text())
    os.kill(node_pid, signal.SIGKILL)
    code, errors = wait_for_end(process)
    assert code == 2
    assert 'ik_node has ended with exit code -9' in errors
    assert session_is_empty(process)


def test_unknown_scene_is_refused(start):
    code, errors = wait_for_end(start(*DEMO, '--scene', 'tabel'))
    assert code == 2 and 'shipped: bin, floor, shelf, table' in errors
    assert 'Traceback' not in errors
