"""Measured positions and velocities of joints, from joint_states that motions may rely on."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ros2_ik.core import Array, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.state.joint_history import JointHistory
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

STILL = 0.01      # slower is at rest: as in ros2_controllers [rad/s, m/s]


class MeasuredJoints:
    """Reads joint_states that have stamps, are fresh, and do not contradict each other."""

    def __init__(self, joint_states: JointStates, parameters: Any, clock: MotionClock) -> None:
        self._joint_states, self._parameters, self._clock = joint_states, parameters, clock

    def stale(self, joints: Iterable[str]) -> str:
        """Return the reason why the measured positions cannot be used now, or ''."""
        if fault := self._clock.fault:
            return fault
        limit, states = self._parameters.execute_state_timeout, self._joint_states
        for joint in joints:
            reading = states.get(joint)
            if reading is None:
                return f"no joint_states received for joint '{joint}'"
            if contradiction := states.contradiction(joint):
                return contradiction
            if not reading.stamp:
                return (f"joint_states of joint '{joint}' have no header.stamp, so that their age "
                        'is unknown; the driver must set it to when they were measured')
            age = states.age(joint)
            if age > limit:
                return (f"joint_states told of joint '{joint}' {age:.3g} s ago; parameter "
                        f'execute_state_timeout allows {limit:g} s{states.clock_fault(joint)}')
        return ''

    def require(self, joints: Sequence[str]) -> None:
        """Raise RequestError (ROBOT_STATE_STALE) unless it is known where all joints are."""
        if stale := self.stale(joints):
            raise RequestError(Status.ROBOT_STATE_STALE, stale)

    def is_known(self, joint: str) -> bool:
        """Return whether joint_states have ever had a joint."""
        return self._joint_states.get(joint) is not None

    def state(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return positions and velocities (n,); slow joints are at rest."""
        known = self._known(joints)
        speeds = [joint.velocity or 0.0 for joint in known]
        return (np.array([joint.reading.value for joint in known]),
                np.array([v if abs(v) > STILL else 0.0 for v in speeds]))

    def _known(self, joints: Iterable[str]) -> list[JointHistory]:
        return [self._joint_states.history(joint) for joint in joints]

    def tell_velocities(self, joints: Iterable[str]) -> bool:
        """Return whether it is known how fast each of the joints moves."""
        return all(joint.velocity is not None for joint in self._known(joints))

    def moves(self, joints: Sequence[str]) -> str:
        """Return which joint moves, or of which this is not known, or ''."""
        for name, joint in zip(joints, self._known(joints), strict=True):
            speed = joint.velocity
            if speed is None:
                return (f"joint_states tell of joint '{name}' since too short a time, or too "
                        'seldom: it is not known whether it moves')
            if abs(speed) > STILL:
                return f"joint '{name}' moves at {speed:.3g}/s, not by a motion of this node"
        return ''

    def moment(self, joints: Iterable[str]) -> float:
        """Return when the oldest of the positions was measured, on the motion clock."""
        return self._clock.of(min(joint.reading.stamp for joint in self._known(joints)))

    def stood(self, joints: Iterable[str]) -> float:
        """Return for how long all of the joints have been where they are [s]."""
        return min(joint.stood for joint in self._known(joints))


def offset(robot: Robot, joints: Sequence[str], one: Array, other: Array) -> Array:
    """Return how far `one` is ahead of `other`, (n,); of continuous joints, the short way."""
    apart: Array = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    turning = [robot.joint(joint).kind == 'continuous' for joint in joints]
    apart[..., turning] = np.remainder(apart[..., turning] + np.pi, 2 * np.pi) - np.pi
    return apart
