"""What a streaming controller is sent when it is held up, stopped, or time is slow; exactly."""

import numpy as np
import pytest
from stand_in_arm import Arm, FASTEST, LIMIT, PERIOD, Positions

from ros2_ik.core import Status
from ros2_ik.node.motion.motion_execution import Phase


@pytest.fixture
def streamed(monkeypatch):
    return Arm(monkeypatch, Positions)


def accelerations(sent):
    """Give the accelerations of a joint that is at each position for a period, from rest on."""
    return np.abs(np.diff(np.concatenate([[0.0], np.diff(sent) / PERIOD]))) / PERIOD


@pytest.mark.parametrize('after', [0.05, 0.9])
@pytest.mark.parametrize('pause', [0.12, 2.0])
def test_a_stream_ends_with_a_pause(streamed, after, pause):
    """The joint stands by then, where it was commanded last."""
    execution = streamed.go(2.5)
    streamed.run(after)
    streamed.now += pause
    last = streamed.sent[-1]
    for _ in range(30):
        streamed.now += PERIOD
        streamed.tick()
        streamed.hear(last)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.CONTROL_FAILED and streamed.sent[-1] == last
    assert 'too busy to send commands for' in outcome.message


def test_a_stream_that_is_held_up_often_arrives(streamed):
    """By the jitter of a busy machine; it is not taken for a fault."""
    random, execution = np.random.default_rng(2), streamed.go(2.5)
    for _ in range(2000):
        streamed.now += random.choice([0.0, 0.02, 0.05, 0.08], p=[0.9, 0.05, 0.03, 0.02])
        streamed.run(PERIOD)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.SUCCESS and execution.phase is not Phase.BRAKING
    assert np.abs(np.diff(streamed.sent)).max() < 2.1 * PERIOD * FASTEST


@pytest.mark.parametrize('late', [0.0, 0.03])
@pytest.mark.parametrize('stop', [0.03, 0.5, 1.0, 1.4])
def test_a_stop_of_a_stream_that_is_late_stays_within_limits(streamed, stop, late):
    """The pipe and the player's period make it so."""
    execution = streamed.go(2.6)
    streamed.run(stop)
    messages, streamed.servo.send = [], lambda message: messages.append(message)
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(late)
    for message in messages:
        streamed.servo.player.take(message)
    streamed.run(2.5)
    assert accelerations(streamed.sent).max() < LIMIT * 1.05
    assert (np.diff(streamed.sent) > -1e-9).all() and streamed.sent[-1] < 2.6 + 1e-6
    assert execution.supervise().status == Status.PREEMPTED


def slow_stream(monkeypatch):
    """Give a stream whose clock goes on as its first number says, in what its second one is."""
    arm, time = Arm(monkeypatch, Positions), [1000.0, 1.0]
    arm.simulate(lambda: time[0])
    return arm, time


def run(arm, time, periods, execution=None):
    for _ in range(periods):
        time[0] += PERIOD * time[1]
        arm.run(PERIOD)
        if execution and (outcome := execution.supervise()):
            return outcome
    return None


@pytest.mark.parametrize('speed', [0.0, 0.2])
def test_a_stream_and_its_stop_go_by_the_time_of_a_simulation(monkeypatch, speed):
    """It becomes slow, or pauses; a stop does not jump to its end meanwhile."""
    arm, time = slow_stream(monkeypatch)
    execution = arm.go(2.5)
    run(arm, time, 80)
    assert arm.sent[-1] == pytest.approx(execution.motion.at(0.8).position[0], abs=1e-6)
    time[1] = speed
    run(arm, time, 20)
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = run(arm, time, 800, execution)
    assert bool(outcome) is bool(speed), outcome
    assert np.abs(np.diff(arm.sent)).max() < 1.01 * PERIOD * FASTEST and arm.sent[-1] < 2.5
    slowed = np.diff(arm.sent, 2)[105:] / PERIOD**2
    assert np.abs(slowed).max(initial=0.0) < LIMIT * 1.1
