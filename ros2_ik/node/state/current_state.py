"""The start state of a request: given values, joint_states, and the pose of the base."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from rclpy.clock import Clock

from ros2_ik.core import Array, Joint, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.robot_states import joint_pose
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.joint_history import Reading
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.transforms import Transforms

NONE: frozenset[str] = frozenset()
LIMIT_TOLERANCE = 1e-3   # encoders report a hair outside of the limits [rad, m]
LACKING = {     # by whether the search moves the joint, and whether it has no reading at all
    (True, False): 'joint_states is too old for {}: the search started there all the same',
    (True, True): 'joint_states has nothing of {}: the search started at neutral',
    (False, False): 'joint_states is too old for {}: collisions were checked there all the same',
    (False, True): 'joint_states has nothing of {}: collisions were checked at neutral'}


class Start(NamedTuple):
    """Joint values (nq,) to start from, and what a person should know of where they are from."""

    q: Array
    notes: list[str]


class CurrentState:
    """Joint values and base pose as the node knows them now; `clock` is that of the node."""

    def __init__(self, parameters: Parameters, joint_states: JointStates, transforms: Transforms,
                 warn: Callable[[str], None], clock: Clock) -> None:
        self._parameters, self._transforms, self._warn = parameters, transforms, warn
        self._joint_states, self._clock = joint_states, clock

    def start(self, robot: Robot, given: Mapping[str, Any], needed: frozenset[str],
              free: frozenset[str] = NONE, checked: frozenset[str] = NONE) -> Start:
        """
        Complete the `given` joint values.

        `needed` joints must be given or known by a reading that is fresh, else RequestError.
        `free` ones only say where a search starts: an old reading does, or else the neutral value.
        So it is for `checked` ones, which stand still and move what could be touched.
        """
        limit = self._parameters.joint_state_timeout or float('inf')
        now = self._clock.now().nanoseconds
        values, lacking = dict(given), {key: list[str]() for key in LACKING}
        for joint in robot.joints:
            name = joint.name
            if name in given:
                continue
            reading = self._reading(robot, joint)
            if reading is not None:
                values[name] = reading.value
            if reading is None or reading.age(now) > limit:
                if name in needed:
                    raise RequestError(Status.ROBOT_STATE_STALE,
                                       self._complaint(robot, name, reading, now, limit))
                if name in free or name in checked:
                    lacking[name in free, reading is None].append(name)
        q = robot.to_q(values)
        notes = [LACKING[key].format(_list(names)) for key, names in lacking.items() if names]
        if outside := _outside(robot, q, free):
            notes.append(f'outside the limits at the start: {_list(outside)}, moved inside for '
                         'the search')
        return Start(q, notes)

    def base(self, robot: Robot) -> Array | None:
        """Return the values of the base's joint, None if they are not known."""
        reading = self._base_reading(robot)
        return None if reading is None else np.asarray(reading.value)

    def contradiction(self, name: str) -> str:
        """Return how readings of a joint contradict each other, or ''."""
        return self._joint_states.contradiction(name)

    def known(self, robot: Robot) -> dict[str, Any]:
        """Return the values of all joints with a reading, by name."""
        readings = {joint.name: self._reading(robot, joint) for joint in robot.joints}
        return {name: reading.value for name, reading in readings.items() if reading is not None}

    def _reading(self, robot: Robot, joint: Joint) -> Reading | None:
        if joint.name == robot.base_joint:
            return self._base_reading(robot)
        return self._joint_states.get(joint.name) if joint.is_scalar else None

    def _base_reading(self, robot: Robot) -> Reading | None:
        """Return the value of the base's joint by parameter base_source, None if unknown."""
        base = robot.joints[0]
        if self._parameters.base_source == 'parameter':
            pose = pin.XYZQUATToSE3(np.array(self._parameters.base_pose))
            return Reading.of(joint_pose(base, pose))
        link = next(name for name in robot.frame_names if base.name in robot.moving_joints(name))
        try:
            found = self._transforms.find(robot.root_frame, link)
        except LookupError as error:
            self._warn(f'the base pose is unknown: {error}')
            return None
        return found._replace(value=joint_pose(base, found.value))

    def _complaint(self, robot: Robot, name: str, reading: Reading | None, now: int,
                   limit: float) -> str:
        is_base = name == robot.base_joint
        source = (f'base_source {self._parameters.base_source}' if is_base else 'joint_states')
        if reading is None:
            return (f"joint '{name}' is needed, but the request does not give it and {source} "
                    'has never told it')
        return (f"joint '{name}' is needed, but the request does not give it and {source} told it "
                f'{reading.age(now):.3g} s ago; parameter joint_state_timeout allows {limit:g} s'
                f'{"" if is_base else self._joint_states.clock_fault(name)}')


def _outside(robot: Robot, q: Array, free: frozenset[str]) -> list[str]:
    """Free joints that are noticeably outside their limits."""
    outside = (q < robot.lower - LIMIT_TOLERANCE) | (q > robot.upper + LIMIT_TOLERANCE)
    return [joint.name for joint in robot.joints
            if joint.is_scalar and joint.name in free and outside[joint.index]]


def _list(names: list[str]) -> str:
    quoted = ', '.join(f"'{name}'" for name in names[:3])
    return quoted if len(names) <= 3 else f'{quoted} and {len(names) - 3} more'
