"""Motions in simulated time that is slow, fast or paused, and with clocks that jump."""

import numpy as np
import pytest
from stand_in_arm import (
    Arm,
    JOINT,
    MAX_ACCELERATION,
    MAX_VELOCITY,
    PERIOD,
    PositionStream,
    SimulatedController,
    TrajectoryRecorder,
)

from ros2_ik.core import Status
from ros2_ik.node.state.motion_clock import MotionClock


def simulated_controller(monkeypatch, scale=1.0):
    """Return a simulated trajectory controller, `scale` times as fast as real time."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    follower = SimulatedController(arm, scale)
    arm.use_simulated_time(lambda: 1000.0 + follower.time)
    begin = arm.now
    while arm.now < begin + max(1.5, 1.5 / scale):
        follower.run(PERIOD)
        arm.context.clock.now()
    return follower


@pytest.mark.parametrize('scale', [0.1, 4.0])
def test_motion_arrives_in_slow_and_fast_simulations(monkeypatch, scale):
    follower = simulated_controller(monkeypatch, scale)
    outcome = follower.run(30, follower.arm.start_motion(2.0))
    assert outcome.status == Status.SUCCESS, outcome
    assert len(follower.messages) == 1 and follower.position == pytest.approx(2.0, abs=1e-3)


def test_start_of_simulated_time_is_not_reported_as_clock_jump(monkeypatch):
    """Past defect: the first motion of a node in simulated time was refused."""
    arm, started = Arm(monkeypatch, TrajectoryRecorder), []
    arm.use_simulated_time(lambda: 3600.0 + arm.now if started else 0.0)
    clock = MotionClock(arm.context.node)
    started.append(True)
    arm.now += 5.0
    assert clock.fault == ''


def test_paused_simulation_causes_no_tracking_error(monkeypatch):
    """A paused simulation publishes no joint_states."""
    follower = simulated_controller(monkeypatch)
    execution = follower.arm.start_motion(2.0)
    assert follower.run(0.8, execution) is None
    follower.scale, start = 0.0, follower.arm.context.clock.now()
    assert follower.run(20.0, execution) is None and not execution.reason
    assert follower.arm.context.clock.now() == start
    follower.scale = 1.0
    outcome = follower.run(5, execution)
    assert outcome.status == Status.SUCCESS and len(follower.messages) == 1, outcome


@pytest.mark.parametrize(('scale', 'after', 'paused'), [
    (0.1, 0.6, 2.0), (0.5, 0.9, 0.0), (1.0, 0.3, 2.0)])
def test_stop_in_simulation_brakes_once_and_is_answered_at_rest(monkeypatch, scale, after, paused):
    """The limits hold in simulated time; `paused` is the length of a pause after the stop [s]."""
    follower = simulated_controller(monkeypatch, scale)
    execution = follower.arm.start_motion(2.6)
    assert follower.run(after / scale, execution) is None
    start = follower.position
    follower.peak_acceleration = follower.peak_speed = 0.0
    follower.scale = 0.0 if paused else scale
    execution.stop(Status.PREEMPTED, 'stopped')
    assert follower.run(paused, execution) is None, 'answered before the arm can be at rest'
    follower.scale = scale
    outcome = follower.run(40, execution)
    assert outcome == (Status.PREEMPTED, 'stopped on the way: stopped', (),
                       execution.motion.duration, None)
    assert abs(follower.velocity) < 1e-12 and len(follower.messages) == 2
    assert follower.peak_acceleration < MAX_ACCELERATION * scale**2 * 1.05
    assert follower.peak_speed < MAX_VELOCITY * scale * 1.01
    assert start < follower.position < start + MAX_VELOCITY**2 / 2 / MAX_ACCELERATION + 0.3


def arm_with_clock(monkeypatch, kind=TrajectoryRecorder):
    """Return an arm in real time, and the offset of /clock in a list [s]."""
    arm, offset = Arm(monkeypatch, kind), [1000.0]
    arm.use_simulated_time(lambda: arm.now + offset[0])
    arm.rest(1.5)
    return arm, offset


@pytest.mark.parametrize('jump', [-0.05, -0.3, -1000.0, 1000.0])
@pytest.mark.parametrize('stopped', [True, False])
def test_set_clock_does_not_accelerate_the_arm_beyond_its_limit(monkeypatch, jump, stopped):
    """Past defect: the arm jumped back, or moved on without braking as if it had arrived."""
    arm, offset = arm_with_clock(monkeypatch)
    follower = SimulatedController(arm)
    execution = arm.start_motion(2.6)
    assert follower.run(0.9, execution) is None
    offset[0] += jump
    follower.peak_acceleration = 0.0
    if stopped:
        execution.stop(Status.PREEMPTED, 'stopped')
    outcome = follower.run(8.0, execution)
    assert outcome and abs(follower.velocity) < 0.02, outcome
    assert follower.peak_acceleration < 1.1 * MAX_ACCELERATION   # cubics exceed the limit a bit
    assert outcome.status == Status.SUCCESS or 'stopped' in outcome.message
    assert jump < 0 or stopped or outcome.status == Status.ROBOT_STATE_STALE
    assert jump < 0 or follower.position < 2.3


@pytest.mark.parametrize(('difference', 'period'), [(-0.2, 0.007), (-1.0, 0.05), (5.0, 0.003)])
def test_two_clock_publishers_stop_a_motion(monkeypatch, difference, period):
    arm, _ = arm_with_clock(monkeypatch)
    follower, clock = SimulatedController(arm), arm.simulated
    execution = arm.start_motion(2.6)
    assert follower.run(0.9, execution) is None
    arm.simulated = lambda: clock() + difference * (arm.now % (2 * period) < period)
    follower.peak_acceleration = 0.0
    outcome = follower.run(8.0, execution)
    assert outcome and 'stopped on the way' in outcome.message, outcome
    assert 'is not known whether the arm is at rest' in outcome.message or (
        abs(follower.velocity) < 0.02)
    assert 'two nodes publish /clock' in arm.measured.stale_reason([JOINT])
    assert difference > 0 or follower.peak_acceleration < 1.1 * MAX_ACCELERATION
    arm.simulated = clock
    follower.run(7.0)
    assert not arm.measured.stale_reason([JOINT])


@pytest.mark.parametrize('kind', [TrajectoryRecorder, PositionStream])
@pytest.mark.parametrize('jump', [-900.0, -0.2])
def test_motion_ends_on_time_after_a_restart_of_the_simulation(monkeypatch, kind, jump):
    """Past times of the first run do not delay the next motion."""
    arm, offset = arm_with_clock(monkeypatch, kind)
    arm.start_motion(1.0)
    arm.run(0.5)
    offset[0] += jump
    arm.run(3.0)
    assert arm.controller.resting() == pytest.approx([1.0])
    assert arm.controller.end_time < arm.context.clock.now()
    if kind is PositionStream:
        assert arm.sent[-1] == pytest.approx(1.0)
        assert np.abs(np.diff(arm.sent)).max() < 2.1 * PERIOD * MAX_VELOCITY
