"""The demo as tools/demo starts it: answers, ends cleanly, leaves nothing behind."""

import os
from pathlib import Path
import shlex
import signal
import subprocess
import sys
import time

import pytest

DEMO = ('-m', 'ros2_ik.demo')
LIMIT = 100   # seconds, only to end what hangs: the machine may be busy


def session(process):
    """Give the processes of the demo's session, which it leads."""
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
    """Whether the session is empty, soon: the node's helpers see its end only after it."""
    deadline = time.monotonic() + 5
    while session(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return session(process) == []


def come_up(process):
    """Give what the demo has printed when it is ready."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if 'Ctrl-C ends' in line:
            return lines
    pytest.fail(f'the demo did not come up: {process.stderr.read()}')


def ended(process):
    """Wait for the end; gives exit code and the error output."""
    _, errors = process.communicate(timeout=LIMIT)
    return process.returncode, errors


@pytest.mark.parametrize('robot', ['panda', *(pytest.param(name, marks=pytest.mark.slow)
                                              for name in ('ur5', 'baxter', 'talos'))])
def test_once(start, robot):
    process = start(*DEMO, '--robot', robot, '--once')
    out, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    assert 'SUCCESS' in out and 'the answer holds' in out and 'round trip' in out
    assert nothing_left(process)


@pytest.mark.parametrize('end', [
    lambda pid: os.killpg(pid, signal.SIGINT),   # what Ctrl-C does
    pytest.param(lambda pid: os.kill(pid, signal.SIGINT), marks=pytest.mark.slow),
    pytest.param(lambda pid: os.kill(pid, signal.SIGTERM), marks=pytest.mark.slow),
], ids=['Ctrl-C', 'SIGINT', 'SIGTERM'])
def test_signals_end_everything_with_code_0(start, end):
    process = start(*DEMO)
    come_up(process)
    assert len(session(process)) >= 3
    end(process.pid)
    code, errors = ended(process)
    assert code == 0
    assert 'Traceback' not in errors and 'exit code' not in errors, errors
    assert nothing_left(process)


@pytest.mark.parametrize('once', [[], ['--once']])
def test_ends_while_it_is_still_starting(start, once):
    process = start(*DEMO, *once)
    assert 'starting' in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    code, errors = ended(process)
    assert code == 0
    assert 'Traceback' not in errors and 'exit code' not in errors, errors
    assert nothing_left(process)


@pytest.mark.slow
@pytest.mark.parametrize('words', [('ur5',), *(
    pytest.param(words, marks=pytest.mark.slow) for words in (
        ('panda', '--scene', 'table'), ('baxter',), ('kinova',), ('talos',),
        ('xarm7', '--scene', 'bin')))], ids=' '.join)
def test_the_hints_work_as_they_are(start, domain, words):
    """The motion keeps the node's own bound."""
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
    second = start(*DEMO)   # of two demos in one domain nobody would know who answers
    code, errors = ended(second)
    assert code == 2
    assert f'ROS domain {domain} has a robot_description' in errors
    assert process.poll() is None


@pytest.mark.parametrize('name', [
    pytest.param('mock_robot', marks=pytest.mark.slow), 'ik_node'])
def test_a_dead_child_ends_the_demo(start, name):
    process = start(*DEMO)
    come_up(process)
    victim = next(pid for pid in session(process)
                  if f'/{name}' in Path(f'/proc/{pid}/cmdline').read_text())
    os.kill(victim, signal.SIGKILL)
    code, errors = ended(process)
    assert code == 2
    assert f'{name} has ended with exit code -9' in errors
    assert nothing_left(process)


@pytest.mark.parametrize(('words', 'reason'), [
    (('--robot', 'pandaa'), "did you mean 'panda'"),
    (('--scene', 'tabel'), 'shipped: bin, floor, shelf, table')])
def test_what_is_not_there(start, words, reason):
    code, errors = ended(start(*DEMO, *words))
    assert code == 2 and reason in errors and 'Traceback' not in errors
