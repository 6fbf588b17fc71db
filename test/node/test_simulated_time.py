"""Motions go by /clock where time is simulated: slow, fast or paused."""

import numpy as np
import pytest
from test_controller_commands import Arm, FASTEST, Follower, JOINT, Positions, Trajectories

from ros2_ik.core import Status
from ros2_ik.node.controllers.motion_report import log_line, progress

LIMIT = 3.0   # default_max_acceleration


class Simulation(Follower):
    """A simulation with a trajectory controller, `scale` times as fast as time is."""

    def __init__(self, monkeypatch, scale=1.0, stamps=True):
        super().__init__(Arm(monkeypatch, Trajectories), scale)
        self.stamps, self.messages, self.message = stamps, [], None
        self.arm.controller.told = None
        self.arm.simulated = lambda: 1000.0 + self.time
        self.arm.hear(0.0, 0.0, self.stamp)

    @property
    def stamp(self):
        return 1000.0 + self.time if self.stamps else 0

    def _take(self, message):
        super()._take(message)
        self.messages.append(message)

    def run(self, seconds, trip=None, stamps=True):
        """Go on for seconds; joint_states come every 10 ms of the simulation."""
        heard = -1.0
        for k in range(round(seconds / 1e-3)):
            self.step()
            if self.time > heard + 0.01:
                heard = self.time
                self.arm.hear(self.position, self.velocity, self.stamp)
            if trip and k % 20 == 0 and (outcome := trip.look()):
                return outcome
        return None


@pytest.mark.parametrize('scale', [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize('stamps', [True, False])
def test_arrives_however_fast_time_is(monkeypatch, scale, stamps):
    simulation = Simulation(monkeypatch, scale, stamps)
    trip = simulation.arm.go(2.0)
    outcome = simulation.run(30, trip)
    assert outcome.status == Status.SUCCESS, outcome
    assert len(simulation.messages) == 1 and simulation.position == pytest.approx(2.0, abs=1e-3)
    assert 'SUCCESS' in log_line(trip, outcome)


@pytest.mark.parametrize('paused', [0.5, 5.0, 60.0])
@pytest.mark.parametrize('stamps', [True, False])
def test_a_pause_is_no_stuck_arm(monkeypatch, paused, stamps):
    """Nothing is told of the arm meanwhile."""
    simulation = Simulation(monkeypatch, 1.0, stamps)
    trip = simulation.arm.go(2.0)
    assert simulation.run(0.8, trip) is None
    simulation.scale = 0.0
    before = progress(trip)
    assert simulation.run(paused, trip) is None and not trip.stopping
    assert progress(trip) == before
    simulation.scale = 1.0
    outcome = simulation.run(5, trip)
    assert outcome.status == Status.SUCCESS and len(simulation.messages) == 1, outcome


@pytest.mark.parametrize('scale', [0.1, 0.5, 1.0])
@pytest.mark.parametrize('after', [0.3, 0.6, 0.9])
@pytest.mark.parametrize('paused', [0.0, 2.0])
def test_a_stop_is_heard_once_and_answered_at_rest(monkeypatch, scale, after, paused):
    """Within the limits of the arm's own time; `paused` when it is told."""
    simulation = Simulation(monkeypatch, scale)
    trip = simulation.arm.go(2.6)
    assert simulation.run(after / scale, trip) is None
    at = simulation.position
    simulation.peak = simulation.speed = 0.0
    simulation.scale = 0.0 if paused else scale
    trip.stop(Status.PREEMPTED, 'stopped')
    if paused:
        assert simulation.run(paused, trip) is None, 'answered before it can stand'
    simulation.scale = scale
    outcome = simulation.run(40, trip)
    assert outcome == (Status.PREEMPTED, 'stopped', (), trip.planned, None)
    assert abs(simulation.velocity) < 1e-12 and len(simulation.messages) == 2
    assert simulation.peak < LIMIT * scale**2 * 1.05 and simulation.speed < FASTEST * scale * 1.01
    assert at < simulation.position < at + FASTEST**2 / 2 / LIMIT + 0.3


def test_an_arm_that_is_stuck_while_time_goes_on(monkeypatch):
    simulation = Simulation(monkeypatch, 0.5)
    trip = simulation.arm.go(2.5)
    assert simulation.run(1.0, trip) is None
    simulation.stuck = True
    outcome = simulation.run(20, trip)
    assert outcome.status == Status.CONTROL_FAILED and 'does not follow' in outcome.message


@pytest.mark.parametrize('kind', [Trajectories, Positions])
def test_a_simulation_that_begins_anew(monkeypatch, kind):
    """What was commanded before is over, and delays nothing."""
    arm = Arm(monkeypatch, kind)
    offset = [1000.0]
    arm.simulated = lambda: arm.now + offset[0]
    arm.hear(0.0, 0.0)
    arm.go(1.0)
    arm.run(0.5)
    offset[0] -= 900.0
    arm.run(0.05)
    assert arm.controller.commanded_until < arm.simulated() or kind is Positions
    if kind is Positions:   # a stream just goes on
        arm.run(3.0)
        assert arm.sent[-1] == pytest.approx(1.0)
        assert np.abs(np.diff(arm.sent)).max() < 2.1 * 0.01 * FASTEST
        assert arm.controller.resting() == {JOINT: pytest.approx(1.0)}
