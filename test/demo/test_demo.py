"""
The demo in a child process: it answers, ends cleanly, and leaves no process behind.

The tests of the command use a running demo, and end it by Ctrl-C.
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
LIMIT = 100   # timeout, also on a busy machine [s]


def session(process):
    """Return the processes in the session of the demo."""
    found = []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = stat.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[3]) == process.pid and fields[0] != 'Z':
            found.append(int(stat.parent.name))
    return found


def nothing_left(process):
    """Wait until the session is empty: the helpers of the node end after it."""
    deadline, pause = time.monotonic() + LIMIT, threading.Event()
    while session(process) and time.monotonic() < deadline:
        pause.wait(0.02)
    return session(process) == []


def come_up(process):
    """Return the output of the demo until it is ready."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if 'Ctrl-C ends' in line:
            return lines
    pytest.fail(f'the demo did not come up: {process.stderr.read()}')


def ended(process):
    """Wait for the end; return exit code and error output."""
    _, errors = process.communicate(timeout=LIMIT)
    return process.returncode, errors


def test_demo_once_solves_and_ends(start):
    process = start(*DEMO, '--once')
    out, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    assert 'SUCCESS' in out and 'the answer holds' in out and 'round trip' in out
    assert nothing_left(process)


def test_interrupt_ends_a_demo_that_is_starting(start):
    process = start(*DEMO, '--once')
    assert 'starting' in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    code, errors = ended(process)
    assert code == 0
    assert 'Traceback' not in errors and 'exit code' not in errors, errors
    assert nothing_left(process)


@pytest.mark.slow
@pytest.mark.parametrize('words', [('ur5',), ('xarm7', '--scene', 'bin')], ids=' '.join)
def test_commands_printed_by_the_demo_succeed(start, domain, words):
    """The motion needs no --max-joint-change."""
    process = start(*DEMO, '--robot', *words)
    hints = [line.strip() for line in come_up(process) if 'ros2_ik' in line and '--tip' in line]
    scripts = Path(__file__).parents[2] / 'scripts'
    assert ['--execute' in hint for hint in hints] == [False, True, False]
    assert not any('--max-joint-change' in hint for hint in hints)
    for hint in hints:
        words = shlex.split(hint)
        assert f'ROS_DOMAIN_ID={domain}' in words
        call = [sys.executable, scripts / 'ros2_ik', *words[words.index('tools/run') + 2:]]
        run = subprocess.run(call, env=os.environ | {'ROS_DOMAIN_ID': str(domain)}, timeout=LIMIT,
                             capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        assert 'SUCCESS' in run.stdout
    second = start(*DEMO)   # two demos in one domain would both answer
    code, errors = ended(second)
    assert code == 2
    assert f'ROS domain {domain} has a robot_description' in errors
    assert process.poll() is None


def test_killed_node_ends_the_demo(start):
    process = start(*DEMO)
    come_up(process)
    victim = next(pid for pid in session(process)
                  if '/ik_node' in Path(f'/proc/{pid}/cmdline').read_text())
    os.kill(victim, signal.SIGKILL)
    code, errors = ended(process)
    assert code == 2
    assert 'ik_node has ended with exit code -9' in errors
    assert nothing_left(process)


def test_unknown_scene_is_refused(start):
    code, errors = ended(start(*DEMO, '--scene', 'tabel'))
    assert code == 2 and 'shipped: bin, floor, shelf, table' in errors
    assert 'Traceback' not in errors
