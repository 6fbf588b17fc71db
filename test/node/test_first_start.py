"""A node whose inner loops have never been compiled answers, and compiles beside that."""

import os
import signal
import subprocess

from ament_index_python.packages import get_package_prefix
from arm_harness import mock_robot, TRAJECTORIES
from node_harness import children, eventually, reachable, Stopwatch
import pytest
from test_long_searches import gone

from ros2_ik.msg import Status
from ros2_ik.srv import ComputeFK, SwitchServo

pytest.importorskip('numba')    # without it nothing is compiled

TIP = 'panda_hand_tcp'


def family(pid):
    """Give all processes that a process has started, and theirs."""
    return [each for child in children(pid) for each in (child, *family(child))]


def compiler(node):
    """Give the process that compiles, if it has begun."""
    return next((child for child in children(node.pid) if 'compile_all' in command(child)), None)


def command(pid):
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return file.read().decode(errors='replace')
    except OSError:
        return ''


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.delenv('NUMBA_CACHE_DIR', raising=False)


def test_answers_from_the_first_second_on(start_node, client, panda, empty_cache):
    """And ends all processes at any time."""
    node = start_node(remappings=('__node:=first_start',))
    client.service(ComputeFK, 'first_start/compute_fk')
    watch = Stopwatch()
    client.call(ComputeFK, 'first_start/compute_fk', ComputeFK.Request())
    assert watch.seconds < 1.0
    child = eventually(lambda: compiler(node), 'a process that compiles')
    eventually(lambda: os.getpriority(os.PRIO_PROCESS, child) == 19, 'its low priority')
    assert node.text.count('compiling the inner loops') == 1
    eventually(node.workers, 'a worker')
    processes = family(node.pid)
    assert child in processes and len(processes) >= 4
    watch = Stopwatch()
    os.killpg(node.pid, signal.SIGINT)
    assert node.process.wait(5) == 0 and watch.seconds < 1.0
    eventually(lambda: all(map(gone, processes)), 'the end of all processes', 1.0)


def test_servo_switch_while_loops_compile_is_refused_at_once(start_node, client, empty_cache,
                                                             tmp_path):
    with mock_robot(client, tmp_path):
        start_node(remappings=('__node:=first_start',), **TRAJECTORIES)
        request = SwitchServo.Request(mode='twist')

        def refusal():
            watch = Stopwatch()
            answer = client.call(SwitchServo, 'first_start/servo/switch', request)
            assert not answer.success and watch.seconds < 1.0, (watch.seconds, answer.message)
            return 'still being compiled' in answer.message and answer
        assert 'ask again' in eventually(refusal, 'the reason').message


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_nodes_compile_once(start_node, client, panda, empty_cache):
    """Both take over what one of them has compiled, and so do their workers."""
    pair = [start_node(), start_node(remappings=('__node:=other',))]
    client.describe(panda)
    for node in pair:
        eventually(lambda node=node: 'the inner loops are compiled' in node.text,
                   'compiled loops', 800)
    target = reachable(panda, TIP, 1)
    eventually(lambda: compiled(client, target), 'answers ten times faster', 30)
    for node in pair:
        assert not compiler(node)
        for worker in eventually(node.workers, 'workers'):
            eventually(lambda worker=worker: loaded(worker), 'compiled loops in the worker')


def compiled(client, target):
    return min(client.ik(targets=[target], avoid_collisions=False).seconds
               for _ in range(10)) < 5e-4


def loaded(pid):
    with open(f'/proc/{pid}/maps') as file:
        return 'llvmlite' in file.read()


@pytest.mark.parametrize('what', ['cache', 'numba'])
def test_failure_to_compile_is_a_warning(start_node, client, panda, monkeypatch, tmp_path, what):
    """The node goes on without."""
    (tmp_path / 'numba.py').write_text("raise OSError('libllvm.so: no such file')\n")
    if what == 'cache':
        monkeypatch.setenv('NUMBA_CACHE_DIR', '/proc/no/such/folder')
    else:
        monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}{os.environ["PYTHONPATH"]}')
    node = start_node()
    client.describe(panda)
    def warned():
        return [line for line in node.text.splitlines()
                if '[WARN]' in line and 'the inner loops are not compiled' in line]
    eventually(warned, 'a warning')
    line = warned()[0]
    assert ('libllvm.so' in line) == (what == 'numba') and line.count('not compiled') == 1
    assert client.ik(targets=[reachable(panda, TIP)]).status == Status.SUCCESS


def test_compiler_that_is_killed(start_node, client, empty_cache):
    node = start_node()
    os.kill(eventually(lambda: compiler(node), 'a process that compiles'), signal.SIGKILL)
    def warned():
        return [line for line in node.text.splitlines()
                if '[WARN]' in line and 'the inner loops are not compiled' in line]
    eventually(warned, 'a warning')
    client.ik()


def test_compiler_ends_with_a_killed_node(start_node, empty_cache):
    node = start_node()
    child = eventually(lambda: compiler(node), 'a process that compiles')
    eventually(lambda: os.getpriority(os.PRIO_PROCESS, child) == 19, 'its low priority')
    node.process.kill()
    node.process.wait(5)
    eventually(lambda: gone(child), 'its end', 5)


def test_command_that_runs_beside_it_is_spared(domain, tmp_path):
    """A shell may have started others before it became the node."""
    other = tmp_path / 'pid'
    program = f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ik_node'
    node = subprocess.Popen(['bash', '-c', f'sleep 60 & echo $! > {other}; exec {program}'],
                            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
                            stderr=subprocess.DEVNULL)
    eventually(lambda: any('forkserver' in command(child) for child in children(node.pid)),
               'a fork server')
    node.send_signal(signal.SIGTERM)
    assert node.wait(5) == 0
    pid = int(other.read_text())
    assert not gone(pid)
    os.kill(pid, signal.SIGKILL)
