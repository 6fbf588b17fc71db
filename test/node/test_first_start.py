"""A node whose inner loops are not compiled compiles them, then offers its services."""

import os
import signal
import subprocess

from ament_index_python.packages import get_package_prefix
from node_harness import children, eventually, reachable
import pytest
from test_signals import family, gone

from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'


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


def compiles(node):
    return 'compiling inner loops' in node.text


def test_a_node_that_compiles_ends_all_its_processes(start_node, empty_cache):
    node = start_node()
    eventually(lambda: compiles(node), 'a line about compiling', 60)
    processes = family(node.pid)
    os.killpg(node.pid, signal.SIGINT)
    # a signal handler waits until LLVM has optimised a loop
    assert node.process.wait(15) == 0
    eventually(lambda: all(map(gone, processes)), 'the end of all processes', 5.0)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_services_are_offered_when_loops_are_compiled(start_node, client, panda, empty_cache):
    node = start_node()
    eventually(lambda: compiles(node), 'a line about compiling', 60)
    assert ('ros2_ik', '/') not in client.node.get_node_names_and_namespaces()
    client.describe(panda)
    eventually(lambda: ('ros2_ik', '/') in client.node.get_node_names_and_namespaces(),
               'the node', 800)
    answer = client.ik(targets=[reachable(panda, TIP, 1)], avoid_collisions=False)
    assert answer.status == Status.SUCCESS and answer.seconds < 0.1


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
