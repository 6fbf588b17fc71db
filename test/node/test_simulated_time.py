"""Motions in simulated time: slow, fast, paused, and clocks that are set."""

import numpy as np
import pytest
from stand_in_arm import (
    Arm,
    FASTEST,
    Follower,
    JOINT,
    LIMIT,
    PERIOD,
    Positions,
    Trajectories,
)

from ros2_ik.core import Status
from ros2_ik.node.state.motion_clock import MotionClock


def simulation(monkeypatch, scale=1.0):
    """Return a simulated trajectory controller, `scale` times as fast as real time."""
    arm = Arm(monkeypatch, Trajectories)
    follower = Follower(arm, scale)
    arm.simulate(lambda: 1000.0 + follower.time)
    begin = arm.now
    while arm.now < begin + max(1.5, 1.5 / scale):
        follower.run(PERIOD)
        arm.context.now()
    return follower


@pytest.mark.parametrize('scale', [0.1, 4.0])
def test_motion_arrives_at_any_speed_of_a_simulation(monkeypatch, scale):
    follower = simulation(monkeypatch, scale)
    outcome = follower.run(30, follower.arm.go(2.0))
    assert outcome.status == Status.SUCCESS, outcome
    assert len(follower.messages) == 1 and follower.position == pytest.approx(2.0, abs=1e-3)


def test_start_of_simulated_time_is_no_jump_of_the_clock(monkeypatch):
    """Past defect: the first motion of a node in simulated time was refused."""
    arm, started = Arm(monkeypatch, Trajectories), []
    arm.simulate(lambda: 3600.0 + arm.now if started else 0.0)
    clock = MotionClock(arm.context.node)
    started.append(True)
    arm.now += 5.0
    assert clock.fault == ''


def test_paused_simulation_is_no_tracking_error(monkeypatch):
    """No joint_states arrive meanwhile."""
    follower = simulation(monkeypatch)
    execution = follower.arm.go(2.0)
    assert follower.run(0.8, execution) is None
    follower.scale, before = 0.0, follower.arm.context.now()
    assert follower.run(20.0, execution) is None and not execution.reason
    assert follower.arm.context.now() == before
    follower.scale = 1.0
    outcome = follower.run(5, execution)
    assert outcome.status == Status.SUCCESS and len(follower.messages) == 1, outcome


@pytest.mark.parametrize(('scale', 'after', 'paused'), [
    (0.1, 0.6, 2.0), (0.5, 0.9, 0.0), (1.0, 0.3, 2.0)])
def test_stop_brakes_once_and_is_answered_at_rest(monkeypatch, scale, after, paused):
    """Limits hold in simulated time; `paused` [s] is a pause after the stop."""
    follower = simulation(monkeypatch, scale)
    execution = follower.arm.go(2.6)
    assert follower.run(after / scale, execution) is None
    at = follower.position
    follower.peak = follower.speed = 0.0
    follower.scale = 0.0 if paused else scale
    execution.stop(Status.PREEMPTED, 'stopped')
    assert follower.run(paused, execution) is None, 'answered before it can stand'
    follower.scale = scale
    outcome = follower.run(40, execution)
    assert outcome == (Status.PREEMPTED, 'stopped on the way: stopped', (),
                       execution.motion.duration, None)
    assert abs(follower.velocity) < 1e-12 and len(follower.messages) == 2
    assert follower.peak < LIMIT * scale**2 * 1.05 and follower.speed < FASTEST * scale * 1.01
    assert at < follower.position < at + FASTEST**2 / 2 / LIMIT + 0.3


# -- a clock that is set -------------------------------------------------------------------------

def by_clock(monkeypatch, kind=Trajectories):
    """Return an arm in real time, and the offset of /clock."""
    arm, ahead = Arm(monkeypatch, kind), [1000.0]
    arm.simulate(lambda: arm.now + ahead[0])
    arm.stand(1.5)
    return arm, ahead


@pytest.mark.parametrize('jump', [-0.05, -0.3, -1000.0])
@pytest.mark.parametrize('stopped', [True, False])
def test_clock_that_is_set_back_does_not_move_the_arm_back(monkeypatch, jump, stopped):
    """Past defect: the arm was thrown back, or went on unbraked as if it had arrived."""
    arm, ahead = by_clock(monkeypatch)
    follower = Follower(arm)
    execution = arm.go(2.6)
    assert follower.run(0.9, execution) is None
    ahead[0] += jump
    follower.peak = 0.0
    if stopped:
        execution.stop(Status.PREEMPTED, 'stopped')
    outcome = follower.run(8.0, execution)
    assert outcome and abs(follower.velocity) < 0.02, outcome
    assert follower.peak < 1.1 * LIMIT   # by cubics between the points of a motion
    assert outcome.status == Status.SUCCESS or 'stopped' in outcome.message


@pytest.mark.parametrize(('apart', 'turn'), [(-0.2, 0.007), (-1.0, 0.05), (5.0, 0.003)])
def test_two_clock_publishers_stop_a_motion(monkeypatch, apart, turn):
    arm, _ = by_clock(monkeypatch)
    follower, of_one = Follower(arm), arm.simulated
    execution = arm.go(2.6)
    assert follower.run(0.9, execution) is None
    arm.simulated = lambda: of_one() + apart * (arm.now % (2 * turn) < turn)
    follower.peak = 0.0
    outcome = follower.run(8.0, execution)
    assert outcome and 'stopped on the way' in outcome.message, outcome
    assert 'is not known whether the arm is at rest' in outcome.message or (
        abs(follower.velocity) < 0.02)
    assert 'two nodes publish /clock' in arm.measured.stale([JOINT])
    assert apart > 0 or follower.peak < 1.1 * LIMIT
    arm.simulated = of_one
    follower.run(7.0)
    assert not arm.measured.stale([JOINT])


@pytest.mark.parametrize('began', [True, False])
def test_change_of_the_clock_source_stops_a_motion(monkeypatch, began):
    """As by use_sim_time: stamps cannot be compared, and the arm is braked."""
    arm = Arm(monkeypatch, Trajectories)
    follower = Follower(arm)
    execution = arm.go(2.6)
    assert follower.run(0.9, execution) is None
    now, begin = (lambda: arm.now), arm.now
    arm.simulated = (lambda: 1000.0 + now() - begin) if began else lambda: 0.0
    follower.peak = 0.0
    outcome = follower.run(8.0, execution)
    assert outcome.status == Status.ROBOT_STATE_STALE and 'stopped' in outcome.message, outcome
    assert abs(follower.velocity) < 0.02 and follower.peak < 1.1 * LIMIT
    assert follower.position < 2.3


@pytest.mark.parametrize('kind', [Trajectories, Positions])
@pytest.mark.parametrize('jump', [-900.0, -0.2])
def test_restarted_simulation_lets_a_motion_end(monkeypatch, kind, jump):
    """It does not delay the next motion."""
    arm, ahead = by_clock(monkeypatch, kind)
    arm.go(1.0)
    arm.run(0.5)
    ahead[0] += jump
    arm.run(3.0)
    assert arm.controller.resting() == pytest.approx([1.0])
    assert arm.controller.rest_at < arm.context.now()
    if kind is Positions:
        assert arm.sent[-1] == pytest.approx(1.0)
        assert np.abs(np.diff(arm.sent)).max() < 2.1 * PERIOD * FASTEST
