"""Where joints are, as joint_states told it just now, and how far behind their commands."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import Array, MotionState, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.motion_clock import MotionClock
from ros2_ik.node.state.joint_history import STILL
from ros2_ik.node.state.joint_states import JointStates

LATEST = 1.5   # so old may readings without stamps be [s]
SLOW = 0.03    # so slow, at one place, is an error of a sensor [rad/s, m/s]
LONG = 0.15    # over so long a time it is judged whether positions go on as slowly [s]
CREEP = 1e-3   # so slow is an arm whose controller's time is nearly paused


class Feedback(NamedTuple):
    """
    Positions [rad, m] and velocities of joints, (n,), and when they were measured (motion clock).

    `sure` says that this moment is known, from stamps: else all may be older. `speeds` says that
    the velocities are known, whenever that was: where none are told, of the last `spans` (n,) [s].
    """

    position: Array
    velocity: Array
    moment: float
    sure: bool
    speeds: bool
    spans: Array


class JointFeedback:
    """Reads joint_states that are fresh, by their stamps, and do not contradict each other."""

    def __init__(self, joint_states: JointStates, parameters: Any, clock: MotionClock) -> None:
        self._joint_states, self._parameters, self._clock = joint_states, parameters, clock

    def stale(self, joints: Iterable[str]) -> str:
        """Return of which of the joints it is not known where they are now, or ''."""
        if fault := self._clock.fault:
            return fault
        limit, states = self._parameters.execute_state_timeout, self._joint_states
        for joint in joints:
            if states.get(joint) is None:
                return f"no joint_states received for joint '{joint}'"
            if contradiction := states.contradiction(joint):
                return contradiction
            age = states.age(joint)
            if age > limit:
                return (f"joint_states told of joint '{joint}' {age:.3g} s ago; parameter "
                        f'execute_state_timeout allows {limit:g} s{states.clock_fault(joint)}')
        return ''

    def told_velocity(self, joints: Sequence[str]) -> Array | None:
        """Return velocities (n,) as joint_states tell them, None if they do not."""
        told = [self._joint_states.velocity(joint) for joint in joints]
        return None if None in told else np.array(told, dtype=float)

    def is_known(self, joint: str) -> bool:
        """Return whether joint_states have ever told of a joint."""
        return self._joint_states.get(joint) is not None

    def require(self, joints: Sequence[str]) -> None:
        """Raise RequestError (ROBOT_STATE_STALE) unless all joints are fresh."""
        stale = self.stale(joints)
        if stale:
            raise RequestError(Status.ROBOT_STATE_STALE, stale)

    def state(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return positions and velocities (n,); what is slow, or unknown, is at rest."""
        speeds = [self._speed(joint) or 0.0 for joint in joints]
        return self._positions(joints), np.array([v if abs(v) > STILL else 0.0 for v in speeds])

    def unsure(self, joints: Iterable[str]) -> str:
        """Return of which of the joints wrong velocities are told, and nothing better, or ''."""
        return next((f"joint_states tell velocities of joint '{joint}' that are not those of its "
                     'positions, and no stamps, or seldom: it is not known how fast it moves'
                     for joint in joints if self._joint_states.disproved(joint)
                     and self._speed(joint) is None), '')

    def _speed(self, joint: str) -> float | None:
        """Return the velocity that is told of a joint, that of its positions if it is wrong."""
        states = self._joint_states
        if states.disproved(joint):
            return 0.0 if states.rests(joint) else self._mean(joint)
        told = states.velocity(joint)
        # sensors may be off by a bit
        off = told and STILL < abs(told) < SLOW and states.rests(joint)
        return 0.0 if off and not self._goes(joint, told) else told

    def _goes(self, joint: str, velocity: float | None) -> bool:
        """Return whether positions show that a joint moves so slowly, or half as fast."""
        change = self._joint_states.change(joint, LONG)
        return bool(change and velocity and change.velocity / velocity > 0.5)

    def untold(self, joints: Iterable[str], seconds: float) -> str:
        """Return of which of the joints no velocity is told, and that was elsewhere lately."""
        return next((f"joint_states tell no velocity of joint '{joint}', which has not been at "
                     f'one place for {seconds:g} s: it is not known whether it moves'
                     for joint in joints if self._speed(joint) is None
                     and self._joint_states.stood(joint) < seconds), '')

    def _positions(self, joints: Sequence[str]) -> Array:
        return np.array([self._joint_states.known(joint).value for joint in joints])

    def _velocity(self, joint: str) -> float | None:
        """Return a joint's velocity, by its positions where none is told, None if unknown."""
        speed = self._speed(joint)
        if speed is None:
            speed = self._mean(joint)
        # positions tremble
        least = STILL if self._joint_states.velocity(joint) is None else CREEP
        return speed if speed is None or abs(speed) > least else 0.0

    def _mean(self, joint: str) -> float | None:
        change = self._joint_states.change(joint)
        return change.velocity if change else None

    def _span(self, joint: str) -> float:
        """Return of how long a joint's velocity is the mean [s]; 0 if it is told, or unknown."""
        told = self._joint_states.velocity(joint) is not None
        change = None if told else self._joint_states.change(joint)
        return change.seconds if change else 0.0

    def heard(self, joints: Sequence[str]) -> float:
        """Return when the oldest of the values was measured, on the motion clock."""
        return self._clock.of(min(map(self._joint_states.measured_at, joints)))

    def stood(self, joints: Iterable[str]) -> float:
        """Return for how long all of the joints have been where they are [s]."""
        return min(self._joint_states.stood(joint) for joint in joints)

    def tremble(self, joints: Sequence[str]) -> Array:
        """Return by how much readings of joints that stand differ from the next, (n,)."""
        return np.array([self._joint_states.tremble(joint) for joint in joints])

    def feedback(self, joints: Sequence[str]) -> Feedback:
        """
        Return what is known of joints, of which none is unknown.

        What is stale, or moves nobody knows how fast, is not sure.
        """
        stamped = all(self._joint_states.known(joint).stamp for joint in joints)
        speeds = [self._velocity(joint) for joint in joints]
        fresh = None not in speeds and not self.stale(joints)
        return Feedback(self._positions(joints), np.array([speed or 0.0 for speed in speeds]),
                        self.heard(joints), stamped and fresh, fresh,
                        np.array([self._span(joint) for joint in joints]))


def offset(robot: Robot, joints: Sequence[str], one: Array,
           other: Array) -> Array:
    """How far `one` is ahead of `other`, (n,); of continuous joints, the short way."""
    apart: Array = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    turning = [robot.joint(joint).kind == 'continuous' for joint in joints]
    apart[turning] = np.remainder(apart[turning] + np.pi, 2 * np.pi) - np.pi
    return apart


# -- how far a robot is behind its commands ----------------------------------------------------

MOST = 0.3      # farther behind it does not do what it is told [s]
USUAL = 0.005   # between a command, what is done, and what is heard of it [s]
ASIDE = 0.01    # so far from the way it is not on it [rad, m]
CLOSE = 0.04    # up to here a delay is taken from the velocity,
STEP = 0.02     # and a longer one is looked for in such steps [s]


class Tracking(NamedTuple):
    """
    How a robot follows its commands.

    `tracking_delay` is by how much it is late, beyond what is usual [s], None if it is not on its
    way. `error` (n,) is how far its joints are, each by itself, from all that was commanded in
    the time that is allowed; `aside` is how far one is from where it was told to be together with
    the others, at the best. `commanded` and `measured` (n,) are where they should be and are
    [rad, m].
    """

    tracking_delay: float | None
    error: Array
    aside: float
    commanded: Array
    measured: Array


def tracking(robot: Robot, joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: JointFeedback, delay: float = 0.0) -> Tracking:
    """
    Compare where joints are with what they were commanded when that was heard.

    Every delay up to MOST is allowed, beyond the `delay` [s] of who takes his time to begin:
    motors and controllers have one, and where joint_states carry no stamps, their own delay
    cannot be told from it.
    """
    most = MOST + delay
    heard, at = measured.heard(joints), measured.state(joints)[0]
    wanted = commanded(heard)
    behind = offset(robot, joints, wanted.position, at)
    late, aside = _beside(behind, wanted.velocity)
    if aside <= ASIDE and abs(late) <= CLOSE:
        return Tracking(max(late - USUAL, 0.0), np.zeros(len(joints)), aside, wanted.position, at)
    delays = np.arange(0.0, most + STEP / 2, STEP)
    states = [wanted, *(commanded(heard - delay) for delay in delays[1:].tolist())]
    apart = np.array([offset(robot, joints, state.position, at) for state in states])
    error = np.maximum(np.maximum(apart.min(axis=0), -apart.max(axis=0)), 0.0)
    k = int(np.argmin(np.abs(apart).max(axis=1)))
    more, aside = _beside(apart[k], states[k].velocity)
    late = float(delays[k]) + float(np.clip(more, -STEP, STEP))
    on_way = aside <= ASIDE and abs(more) <= CLOSE and late <= most
    return Tracking(max(late - USUAL, 0.0) if on_way else None, error, aside, wanted.position, at)


def _beside(behind: Array, velocity: Array) -> tuple[float, float]:
    """Return the delay that explains best what joints are behind, and what it leaves over."""
    speed = float(velocity @ velocity)
    late = float(behind @ velocity) / speed if speed > 1e-12 else 0.0
    return late, float(np.abs(behind - late * velocity).max(initial=0.0))
