"""Random motions, one after another, and stops, of an arm that is late or slow."""

from collections import deque

import numpy as np
import pytest
from test_controller_commands import Arm, Follower, JOINT, Trajectories

from ros2_ik.core import Status
from ros2_ik.node.motion.motion_execution import Phase


class LateFollower(Follower):
    """One that hears its commands, and is heard of, late [s]; some messages are lost."""

    def __init__(self, arm, rng):
        super().__init__(arm, rng.choice([1.0, 0.9, 0.5]))
        self._hears, self._late = rng.choice([0.002, 0.02]), rng.choice([0.0, 0.02, 0.1, 0.2])
        if self.scale < 1:   # it is known too late that this one is slow
            self._late = min(self._late, 0.1)
        self._loss, self._rng = rng.choice([0.0, 0.2]), rng
        self._sent, self._told = deque(), deque()

    def step(self):
        self.arm.now += 1e-3
        self.time += 1e-3 * self.scale
        last = self._sent[-1][1] if self._sent else self.message
        if self.arm.controller.told is not last:
            self._sent.append((self.arm.now + self._hears, self.arm.controller.told))
        while self._sent and self._sent[0][0] <= self.arm.now:
            self._take(self._sent.popleft()[1])
        if self.way:
            at = min(self.time - self.begun, self.way.x[-1])
            self.position, self.velocity, change = (float(self.way(at, k)) for k in range(3))
            self.peak = max(self.peak, abs(change) * self.scale**2)

    def run(self, seconds, execution):
        """Go on, with looks at the execution; gives its outcome, if it has ended."""
        for k in range(round(seconds / 1e-3)):
            self.step()
            if k % 10 == 0:
                self._told.append((self.arm.now, self.position, self.velocity * self.scale))
            while self._told and self._told[0][0] <= self.arm.now - self._late:
                stamp, position, velocity = self._told.popleft()
                if self._rng.random() >= self._loss:
                    self.arm.hear(position, velocity, stamp)
            if k % 20 == 0 and (outcome := execution.supervise()):
                return outcome
        return None


@pytest.mark.parametrize('seed', [*range(30), *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 1000))])
def test_random_motions_stay_within_the_accelerations(monkeypatch, seed):
    """Whenever they are stopped."""
    rng = np.random.default_rng(seed)
    arm = Arm(monkeypatch, Trajectories)
    most = rng.choice([2.0, 3.0, 6.0])
    arm.parameters.update(arrival_timeout=4.0, limits={
        (JOINT, 'velocity'): rng.uniform(0.5, 2.1), (JOINT, 'acceleration'): most})
    follower = LateFollower(arm, rng)
    for _ in range(rng.integers(1, 4)):
        execution = arm.go(rng.uniform(-2.5, 2.5), follower.position)
        outcome = follower.run(rng.uniform(0.05, 1.5), execution)
        assert follower.peak < 1.1 * most
        if not outcome and execution.phase is not Phase.BRAKING:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = outcome or follower.run(20.0, execution)
        assert outcome and follower.peak < 1.1 * most, outcome
        # what is heard of it is up to .22 s old
        assert 'but' in outcome.message or abs(follower.velocity * follower.scale) < 0.05
