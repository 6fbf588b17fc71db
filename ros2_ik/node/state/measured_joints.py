"""Measured positions and velocities of joints for motions, from checked joint_states."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.state.joint_states import JointHistory, JointStates
from ros2_ik.node.state.motion_clock import MotionClock

REST_SPEED = 0.01   # joints that are slower count as at rest, as in ros2_controllers [rad/s, m/s]


class MeasuredJoints:
    """Positions and velocities from joint_states; `stale` checks stamps, age and consistency."""

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
                        'is unknown; the driver must set it to the time of measurement')
            if states.age(reading) > limit:
                return (f"joint_states of joint '{joint}' are {states.age_text(reading)}; "
                        f'parameter execute_state_timeout allows {limit:g} s')
        return ''

    def require(self, joints: Sequence[str]) -> None:
        """Raise RequestError (ROBOT_STATE_STALE) unless all joints have usable positions."""
        if stale := self.stale(joints):
            raise RequestError(Status.ROBOT_STATE_STALE, stale)

    def is_known(self, joint: str) -> bool:
        """Return whether joint_states has ever contained a joint."""
        return self._joint_states.get(joint) is not None

    def state(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return positions and velocities, (n,) each; below REST_SPEED, a velocity is 0."""
        known = self._known(joints)
        speeds = [joint.velocity or 0.0 for joint in known]
        return (np.array([joint.reading.value for joint in known]),
                np.array([v if abs(v) > REST_SPEED else 0.0 for v in speeds]))

    def _known(self, joints: Iterable[str]) -> list[JointHistory]:
        return [self._joint_states.history(joint) for joint in joints]

    def have_velocities(self, joints: Iterable[str]) -> bool:
        """Return whether the velocities of all joints are known."""
        return all(joint.velocity is not None for joint in self._known(joints))

    def moves(self, joints: Sequence[str]) -> str:
        """Return a text on the first joint that moves or whose velocity is unknown, or ''."""
        for name, joint in zip(joints, self._known(joints), strict=True):
            speed = joint.velocity
            if speed is None:
                return (f"joint_states have too few readings of joint '{name}' (too recent or "
                        'too rare): it is not known whether it moves')
            if abs(speed) > REST_SPEED:
                return f"joint '{name}' moves at {speed:.3g}/s, not by a motion of this node"
        return ''

    def moment(self, joints: Iterable[str]) -> float:
        """Return the time of the oldest of the joints' last readings, on the motion clock [s]."""
        return self._clock.of(min(joint.reading.stamp for joint in self._known(joints)))

    def stood(self, joints: Iterable[str]) -> float:
        """Return how long all of the joints have been at their current positions [s]."""
        return min(joint.stood for joint in self._known(joints))


def is_near(robot: Robot, joint: str, one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two positions of a joint are equal, also if whole turns apart."""
    first, second = (robot.to_q({joint: value}) for value in (one, other))
    if robot.joint(joint).is_scalar:
        at = robot.joint(joint).index
        return bool(abs(offset(robot, [joint], first[[at]], second[[at]])) <= tolerance)
    return bool(np.abs(pin.difference(robot.model, first, second)).max() <= tolerance)


def offset(robot: Robot, joints: Sequence[str], one: Array, other: Array) -> Array:
    """Return the differences one - other (..., n); of continuous joints, within half a turn."""
    apart: Array = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    turning = [robot.joint(joint).kind == 'continuous' for joint in joints]
    apart[..., turning] = np.remainder(apart[..., turning] + np.pi, 2 * np.pi) - np.pi
    return apart
