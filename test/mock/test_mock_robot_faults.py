"""Faults of the mock robot that tests switch on, and refused parameters."""

import math
import subprocess
import sys

from mock_harness import ARM, LIMIT, positions, PROGRAM, TOPIC, trajectory, velocities
import pytest


def shifted(mock, by):
    at = mock.rest()
    return [at[ARM[0]] + by, *(at[joint] for joint in ARM[1:])]


def test_released_arm_catches_up_at_its_velocity_limit(mock):
    goal = shifted(mock, 0.3)
    start = positions(mock.states[-1])
    assert mock.set('blocked', True) == ''
    for _ in range(5):   # no sign that it arrived
        mock.send(TOPIC, trajectory(ARM, (0.2, goal)), lambda: True, 'nothing')
        assert mock.hear(10) == start
    mock.hear(30)
    first = len(mock.states) - 1
    assert mock.set('blocked', False) == ''
    mock.until(lambda: positions(mock.states[-1])[ARM[0]] == pytest.approx(goal[0]), 'the goal')
    speeds = [state.velocity[state.name.index(ARM[0])] for state in mock.states[first:]]
    assert max(map(abs, speeds)) == pytest.approx(2.175, rel=1e-6)     # of the URDF


def test_time_scale_slows_the_controllers(mock):
    """The path is the same, and joint_states have the slower velocities."""
    goal = shifted(mock, 0.3)
    assert mock.set('time_scale', 0.25) == ''
    states = mock.move(TOPIC, trajectory(ARM, (0.5, goal)))
    assert mock.set('time_scale', 1.0) == ''
    times = [state.header.stamp.sec + state.header.stamp.nanosec * 1e-9 for state in states]
    at = [positions(state)[ARM[0]] for state in states]
    assert at[-1] == pytest.approx(goal[0]) and at == sorted(at)
    moving = [time for time, state in zip(times, states, strict=True) if any(state.velocity)]
    assert moving[-1] - moving[0] == pytest.approx(2.0, abs=0.1)
    fastest = max(velocities(state)[ARM[0]] for state in states)
    assert fastest == pytest.approx(0.3 / 2.0, rel=0.05)


@pytest.mark.parametrize(('name', 'value', 'reason'), [
    ('time_scale', 0.0, 'time_scale out of range Min: 0.01, Max: 1.0'),
    ('clock_offset', math.nan, 'clock_offset out of range'),
])
def test_malformed_parameters_are_refused(mock, name, value, reason):
    before = mock.get(name)
    assert reason in mock.set(name, value)
    assert mock.get(name) == before


@pytest.mark.parametrize(('words', 'reason'), [
    (['-p', 'time_scale:=0.0'], 'time_scale out of range Min: 0.01'),
    (['-p', 'active:=[]'], 'active has no value')])
def test_malformed_start_parameters_are_refused(words, reason):
    run = subprocess.run([sys.executable, PROGRAM, '--ros-args', *words], capture_output=True,
                         text=True, timeout=LIMIT)
    assert run.returncode == 2, run.stderr
    assert reason in run.stderr and 'Traceback' not in run.stderr
