"""`ros2_ik call` with a real node, over DDS; answers judged by yourdfpy."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy')
from ros2_ik.demo.domain import unused_domain  # noqa: E402

LOCAL = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
LINK0, TCP = 'panda_link0', 'panda_hand_tcp'


@pytest.fixture
def call(command, domain, monkeypatch):
    """Ask the node of the demo."""
    for name, value in (LOCAL | {'ROS_DOMAIN_ID': domain}).items():
        monkeypatch.setenv(name, value)
    return lambda *words: command('call', *words)


def test_an_answer_holds(call, judge):
    run = call('--tip', TCP, '--xyz', 0.4, 0.1, 0.5, '--rpy', 180, 0, 0, '--deg', '--json')
    assert run.code == 0, run.err
    T = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(T[:3, 3] - [0.4, 0.1, 0.5]) < 2e-5
    assert T[:3, :3] == pytest.approx(np.diag([1, -1, -1]), abs=2e-4)
    assert run.json['targets'][0]['position_error'] < 2e-5
    assert run.json['round_trip'] >= run.json['seconds'] > 0
    assert 'panda_link8' in ''.join(run.json['not_checked'])


def test_an_answer_as_a_table(process, domain):
    run = process('call', '--tip', TCP, '--xyz', 0.4, 0.1, 0.5, ROS_DOMAIN_ID=domain, **LOCAL)
    assert run.code == 0, run.err
    assert run.out.startswith('SUCCESS')
    assert 'position only' in run.out
    assert 'panda_joint7' in run.out and 'round trip' in run.out


def test_a_frame_stands_where_the_seed_has_it(call, judge):
    seed = {'panda_joint2': -0.3, 'panda_joint4': -1.9, 'panda_joint6': 1.8}
    run = call('--tip', TCP, '--xyz', 0, 0, 0.1, '--rpy', 0, 0, 0, '--relative-to', TCP, '--json',
               '--seed', *(f'{name}={value}' for name, value in seed.items()))
    assert run.code == 0, run.err
    home = {'panda_joint7': 0.785398}
    before = judge('panda', home | seed, TCP, LINK0)
    after = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(after[:3, 3] - (before @ [0, 0, 0.1, 1])[:3]) < 2e-5
    assert run.json['targets'][0]['position_error'] < 2e-5


def test_a_seed_may_be_a_state_of_the_srdf(call):
    run = call('--xyz', 0.4, 0.1, 0.5, '--seed', 'default', 'panda_joint2=0.3', '--json')
    assert run.code == 0, run.err
    assert f'{TCP} is the default tip' in run.json['message']
    assert 'position only (no --rpy or --quat given)' in run.json['notes']


def test_out_of_reach(call):
    run = call('--tip', TCP, '--xyz', 3, 0, 0, '--json')
    assert run.code == 1
    assert run.json['joints'] is None and run.json['best_joints']
    assert run.json['targets'][0]['position_error'] > 1.5


@pytest.mark.parametrize('words, hint', [
    (['--tip', 'panda_hand_tpc', '--xyz', 1, 2, 3], "'panda_hand_tcp'"),
    (['--tip', TCP, '--xyz', 'nan', 2, 3], 'INVALID'),
    (['--tip', TCP, '--xyz', 1, 2, 3, '--relative-to', 'nowhere'], 'nowhere'),
    (['--tip', TCP, '--xyz', 1, 2, 3, '--seed', 'joint=1'], "unknown joint 'joint'"),
    (['--xyz', 1, 2, 3, '--execute', '--max-joint-change', 30], 'for degrees add --deg'),
    (['--xyz', 1, 2, 3, '--quat', 1, 1, 0, 0], 'norm 1.41421'),
    (['--xyz', 1, 2, 3, '--seed', 'resting'], 'known states: default'),
])
def test_refusals_come_in_one_line(call, words, hint):
    assert hint in call(*words).refused()


@pytest.mark.slow
def test_gives_up_after_the_wait(process):
    start = time.monotonic()
    text = process('call', '--xyz', 1, 2, 3, '--wait', 0.5,
                   ROS_DOMAIN_ID=str(unused_domain()), **LOCAL).refused()
    assert 'nodes seen' in text and 'none' in text
    assert time.monotonic() - start < 15
