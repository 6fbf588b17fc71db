"""Motions go by /clock where time is simulated: slow, fast or paused."""

import numpy as np
import pytest
from test_controller_commands import Arm, FASTEST, Follower, JOINT, Positions, Trajectories

from ros2_ik.core import Status
from ros2_ik.node.motion.motion_execution import Phase
from ros2_ik.node.motion.motion_report import log_line, progress

LIMIT = 3.0   # default_max_acceleration


class Simulation(Follower):
    """A simulation with a trajectory controller, `scale` times as fast as time is."""

    def __init__(self, monkeypatch, scale=1.0):
        super().__init__(Arm(monkeypatch, Trajectories), scale)
        self.messages, self.message = [], None
        self.arm.controller.told = None
        self.arm.simulated = lambda: 1000.0 + self.time
        self.arm._states._joints.clear()
        for _ in range(150):
            self.run(0.01 / scale)
            self.arm.controller.context.now()

    @property
    def stamp(self):
        return 1000.0 + self.time

    def _take(self, message):
        super()._take(message)
        self.messages.append(message)

    def run(self, seconds, execution=None):
        """Go on for seconds; joint_states come every 10 ms of the simulation."""
        heard = self.time - 1.0
        for k in range(round(seconds / 1e-3)):
            self.step()
            if self.time > heard + 0.01:
                heard = self.time
                self.arm.hear(self.position, self.velocity, self.stamp)
            if execution and k % 20 == 0 and (outcome := execution.supervise()):
                return outcome
        return None


@pytest.mark.parametrize('scale', [0.1, 0.5, 1.0, 4.0])
def test_arrives_however_fast_time_is(monkeypatch, scale):
    simulation = Simulation(monkeypatch, scale)
    execution = simulation.arm.go(2.0)
    outcome = simulation.run(30, execution)
    assert outcome.status == Status.SUCCESS, outcome
    assert len(simulation.messages) == 1 and simulation.position == pytest.approx(2.0, abs=1e-3)
    assert 'SUCCESS' in log_line(execution, outcome)


@pytest.mark.parametrize('paused', [0.5, 5.0, 60.0])
def test_a_pause_is_no_stuck_arm(monkeypatch, paused):
    """Nothing is told of the arm meanwhile."""
    simulation = Simulation(monkeypatch)
    execution = simulation.arm.go(2.0)
    assert simulation.run(0.8, execution) is None
    simulation.scale = 0.0
    before = progress(execution)
    assert simulation.run(paused, execution) is None and execution.phase is not Phase.BRAKING
    assert progress(execution) == before
    simulation.scale = 1.0
    outcome = simulation.run(5, execution)
    assert outcome.status == Status.SUCCESS and len(simulation.messages) == 1, outcome


@pytest.mark.parametrize('scale', [0.1, 0.5, 1.0])
@pytest.mark.parametrize('after', [0.3, 0.6, 0.9])
@pytest.mark.parametrize('paused', [0.0, 2.0])
def test_a_stop_is_heard_once_and_answered_at_rest(monkeypatch, scale, after, paused):
    """Within the limits of the arm's own time; `paused` when it is told."""
    simulation = Simulation(monkeypatch, scale)
    execution = simulation.arm.go(2.6)
    assert simulation.run(after / scale, execution) is None
    at = simulation.position
    simulation.peak = simulation.speed = 0.0
    simulation.scale = 0.0 if paused else scale
    execution.stop(Status.PREEMPTED, 'stopped')
    if paused:
        assert simulation.run(paused, execution) is None, 'answered before it can stand'
    simulation.scale = scale
    outcome = simulation.run(40, execution)
    assert outcome == (Status.PREEMPTED, 'stopped on the way: stopped', (), execution.planned,
                       None)
    assert abs(simulation.velocity) < 1e-12 and len(simulation.messages) == 2
    assert simulation.peak < LIMIT * scale**2 * 1.05 and simulation.speed < FASTEST * scale * 1.01
    assert at < simulation.position < at + FASTEST**2 / 2 / LIMIT + 0.3


def test_a_stop_that_comes_too_late_says_that_the_arm_is_at_its_goal(monkeypatch):
    simulation = Simulation(monkeypatch)
    execution = simulation.arm.go(2.0)
    assert simulation.run(execution.planned - 0.03, execution) is None
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = simulation.run(5, execution)
    assert outcome.status == Status.PREEMPTED and simulation.position == pytest.approx(2.0)
    assert outcome.message == 'stopped on the way: stopped; but the arm is at its goal'


def test_an_arm_that_is_stuck_while_time_goes_on(monkeypatch):
    simulation = Simulation(monkeypatch, 0.5)
    execution = simulation.arm.go(2.5)
    assert simulation.run(1.0, execution) is None
    simulation.stuck = True
    outcome = simulation.run(20, execution)
    assert outcome.status == Status.CONTROL_FAILED and 'does not follow' in outcome.message


@pytest.fixture
def clock(monkeypatch):
    """Give an arm in real time, and how far /clock is ahead of that."""
    arm = Arm(monkeypatch, Trajectories)
    ahead = [1000.0]
    begin_simulation(arm, ahead)
    return arm, ahead


def begin_simulation(arm, ahead):
    """Have an arm go by /clock, and stand for a while."""
    arm.simulated = lambda: arm.now + ahead[0]
    arm._states._joints.clear()
    for _ in range(150):
        arm.now += 0.01
        arm.hear(0.0, 0.0, arm.simulated())
        arm.controller.context.now()


def go_on(arm, follower, execution, seconds):
    """Go on with joint_states that are stamped by /clock; gives the execution's outcome."""
    for k in range(round(seconds / 1e-3)):
        follower.step()
        if k % 10 == 0:
            arm.hear(follower.position, follower.velocity, arm.simulated())
        if execution and k % 20 == 0 and (outcome := execution.supervise()):
            return outcome
    return None


@pytest.mark.parametrize('after', [0.3, 0.9])
@pytest.mark.parametrize('jump', [-0.05, -0.3, -1.0, -20.0, -1000.0])
@pytest.mark.parametrize('stopped', [True, False])
def test_a_clock_that_goes_back(clock, after, jump, stopped):
    """The arm does not: it was thrown back, or went on unbraked as if it had arrived."""
    arm, ahead = clock
    follower = Follower(arm)
    execution = arm.go(2.6)
    assert go_on(arm, follower, execution, after) is None
    ahead[0] += jump
    follower.peak = 0.0
    if stopped:
        execution.stop(Status.PREEMPTED, 'stopped')
    outcome = go_on(arm, follower, execution, 8.0)
    assert outcome and abs(follower.velocity) < 0.02, outcome
    assert follower.peak < 1.1 * LIMIT   # by cubics between the points of a motion
    assert outcome.status == Status.SUCCESS or 'stopped' in outcome.message


@pytest.mark.parametrize('after', [0.3, 0.9])
@pytest.mark.parametrize('apart', [-1.0, -0.2, 0.2, 1.0, 5.0])
@pytest.mark.parametrize('turn', [0.003, 0.007, 0.05])
def test_two_that_tell_the_time(clock, after, apart, turn):
    """What moves is stopped at once."""
    arm, ahead = clock
    follower = Follower(arm)
    execution = arm.go(2.6)
    assert go_on(arm, follower, execution, after) is None
    of_one = arm.simulated
    arm.simulated = lambda: of_one() + apart * (arm.now % (2 * turn) < turn)
    follower.peak = 0.0
    outcome = go_on(arm, follower, execution, 8.0)
    assert outcome and 'stopped on the way' in outcome.message, outcome
    assert 'is not known whether the arm stands' in outcome.message or (
        abs(follower.velocity) < 0.02)
    assert 'two nodes publish /clock' in arm.measured.stale([JOINT])
    if apart < 0:
        assert follower.peak < 1.1 * LIMIT
    arm.simulated = of_one
    go_on(arm, follower, None, 7.0)
    assert not arm.measured.stale([JOINT])


@pytest.mark.parametrize('every', [0.05, 0.75])
@pytest.mark.parametrize('jump', [0.0, -100.0])
def test_messages_of_a_clock_that_change_places(clock, every, jump):
    """They are no second clock: after a clock like this was set back, time stood for ever."""
    arm, ahead = clock
    of_one = arm.simulated
    arm.simulated = lambda: of_one() - 0.03 * (arm.now % every < 0.01)

    def stand(seconds):
        for _ in range(round(seconds / 0.01)):
            arm.now += 0.01
            arm.hear(0.0, 0.0, arm.simulated())
            arm.controller.context.now()
    stand(2.0)
    ahead[0] += jump
    stand(0.5)
    begin, since = arm.now, arm.controller.context.now()
    stand(5.0)
    assert arm.controller.context.now() - since == pytest.approx(arm.now - begin, abs=0.1)
    assert not arm.measured.stale([JOINT])


@pytest.mark.parametrize('began', [True, False])
def test_another_clock_is_to_be_gone_by(clock, began):
    """As by use_sim_time; stamps tell nothing then, and the arm is braked."""
    arm, _ = clock
    simulated, arm.simulated = arm.simulated, None
    arm._states._joints.clear()
    for _ in range(150):
        arm.stand(0.01)
        arm.controller.context.now()
    follower = Follower(arm)
    execution = arm.go(2.6)
    assert follower.run(0.9, execution) is None
    arm.simulated = simulated if began else lambda: 0.0
    follower.peak = 0.0
    outcome = follower.run(8.0, execution)
    assert outcome.status == Status.ROBOT_STATE_STALE and 'stopped' in outcome.message, outcome
    assert abs(follower.velocity) < 0.02 and follower.peak < 1.1 * LIMIT
    assert follower.position < 2.3


@pytest.mark.parametrize('kind', [Trajectories, Positions])
@pytest.mark.parametrize('jump', [-900.0, -0.2])
def test_a_simulation_that_begins_anew(monkeypatch, kind, jump):
    """What was commanded before just goes on, and delays nothing when it is over."""
    arm = Arm(monkeypatch, kind)
    ahead = [1000.0]
    begin_simulation(arm, ahead)
    arm.go(1.0)
    arm.run(0.5)
    ahead[0] += jump
    arm.run(3.0)
    assert arm.controller.resting() == {JOINT: pytest.approx(1.0)}
    assert arm.controller.commanded_until < arm.controller.context.now()
    if kind is Positions:
        assert arm.sent[-1] == pytest.approx(1.0)
        assert np.abs(np.diff(arm.sent)).max() < 2.1 * 0.01 * FASTEST
