"""`ros2_ik call` and `ros2_ik constrained` with a real node, over DDS, judged by yourdfpy."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')
from ros2_ik.demo.domain import unused_domain  # noqa: E402

ROOT = Path(__file__).parents[2]
LOCAL = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
LINK0, TCP = 'panda_link0', 'panda_hand_tcp'


@pytest.fixture
def call(command, domain, monkeypatch):
    """Return a function that runs `ros2_ik call` in this process."""
    for name, value in (LOCAL | {'ROS_DOMAIN_ID': domain}).items():
        monkeypatch.setenv(name, value)
    return lambda *words: command('call', *words)


@pytest.fixture
def constrained(process, domain):
    """Return a function that runs `ros2_ik constrained` in a child process."""
    return lambda *words: process('constrained', *words, ROS_DOMAIN_ID=domain, **LOCAL)


@pytest.fixture
def problem(tmp_path):
    """Return a function that writes a problem: the hand above a height, the elbow bent."""
    def write(height, seconds, **fields):
        path = tmp_path / 'problem.yaml'
        path.write_text(yaml.safe_dump({'constraints': [{
            'kind': 'point_to_plane', 'frame': 'panda_hand', 'normal': [0, 0, 1],
            'bounds': {'name': 'high', 'lower': [height]}, **fields}, {
            'kind': 'joint_positions', 'names': ['panda_joint4'],
            'bounds': {'name': 'folded', 'upper': [-2.5]}}],
            'timeout': {'sec': seconds}}))
        return path
    return write


def test_call_returns_a_solution_that_holds(call, judge):
    run = call('--tip', TCP, '--xyz', 0.4, 0.1, 0.5, '--rpy', 180, 0, 0, '--deg', '--json')
    assert run.code == 0, run.err
    T = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(T[:3, 3] - [0.4, 0.1, 0.5]) < 2e-5
    assert T[:3, :3] == pytest.approx(np.diag([1, -1, -1]), abs=2e-4)
    assert run.json['targets'][0]['position_error'] < 2e-5
    assert run.json['round_trip'] >= run.json['seconds'] > 0
    assert 'panda_link8' in ''.join(run.json['not_checked'])


def test_call_evaluates_a_target_frame_at_the_seed(call, judge):
    seed = {'panda_joint2': -0.3, 'panda_joint4': -1.9, 'panda_joint6': 1.8}
    run = call('--tip', TCP, '--xyz', 0, 0, 0.1, '--rpy', 0, 0, 0, '--relative-to', TCP, '--json',
               '--seed', *(f'{name}={value}' for name, value in seed.items()))
    assert run.code == 0, run.err
    home = {'panda_joint7': 0.785398}
    before = judge('panda', home | seed, TCP, LINK0)
    after = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(after[:3, 3] - (before @ [0, 0, 0.1, 1])[:3]) < 2e-5
    assert run.json['targets'][0]['position_error'] < 2e-5


def test_call_takes_a_state_of_the_srdf_as_seed(call):
    run = call('--xyz', 0.4, 0.1, 0.5, '--seed', 'default', 'panda_joint2=0.3', '--json')
    assert run.code == 0, run.err
    assert f'{TCP} is the default tip' in run.json['message']


@pytest.mark.parametrize('words, hint', [
    (['--tip', 'panda_hand_tpc', '--xyz', 1, 2, 3], "'panda_hand_tcp'"),
    (['--tip', TCP, '--xyz', 'nan', 2, 3], 'INVALID'),
    (['--tip', TCP, '--xyz', 1, 2, 3, '--seed', 'joint=1'], "unknown joint 'joint'"),
    (['--xyz', 1, 2, 3, '--execute', '--max-joint-change', 30], 'for degrees add --deg'),
])
def test_malformed_calls_are_refused_in_one_line(call, words, hint):
    assert hint in call(*words).refused()


def test_call_without_a_node_ends_after_the_wait(process):
    text = process('call', '--xyz', 1, 2, 3, '--wait', 0.5,
                   ROS_DOMAIN_ID=str(unused_domain()), **LOCAL).refused()
    assert 'nodes seen' in text and 'none' in text


def test_infeasible_problem_shows_feedback_and_the_best_attempt(constrained, problem):
    run = constrained(problem(1.1, 2))
    assert run.code == 1, run.err
    assert 'VIOLATED by' in run.out and 'best attempt' in run.out
    assert any('s, searching: ' in line for line in run.err.splitlines())


def test_malformed_constraint_is_refused_by_its_index(constrained, problem):
    refused = constrained(problem(1.1, 1, relative_to='nowhere')).refused()
    assert 'INVALID_LINK_NAME: constraints[0] (point_to_plane): relative_to: unknown' in refused


def test_interrupt_cancels_the_search(domain, problem):
    running = subprocess.Popen(
        [sys.executable, ROOT / 'scripts/ros2_ik', 'constrained', problem(1.1, 10)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | LOCAL | {'ROS_DOMAIN_ID': domain})
    killer = threading.Timer(60.0, running.kill)
    killer.start()
    assert any('s, searching: ' in line for line in running.stderr)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate()
    killer.cancel()
    assert running.returncode == 130 and out.startswith('PREEMPTED'), out
    assert 'best attempt' in out and 'VIOLATED by' in out
