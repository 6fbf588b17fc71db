"""The start state of a request, from its joint values, joint_states and the base pose."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_ik.core import Array, Joint, Robot, Status
from ros2_ik.core.internals import join_first
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.robot_states import joint_pose
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.joint_states import JointStates, Reading
from ros2_ik.node.state.transforms import Transforms


class Start(NamedTuple):
    """Start positions q (nq,), and notes on stale and assumed positions."""

    q: Array
    notes: list[str]


class CurrentState:
    """Current joint positions and base pose."""

    def __init__(self, parameters: Parameters, joint_states: JointStates, transforms: Transforms,
                 log: RcutilsLogger) -> None:
        self._parameters, self._transforms, self._log = parameters, transforms, log
        self._joint_states = joint_states

    def start(self, robot: Robot, given: Mapping[str, Any], required: frozenset[str],
              active: frozenset[str] = frozenset(),
              checked: frozenset[str] = frozenset()) -> Start:
        """
        Complete the `given` joint values from joint_states and the base pose.

        - `required` joints must be given or have a fresh reading, else RequestError is raised.
        - For `active` joints (moved by the search) and `checked` joints (they affect collisions),
          a stale reading is used or, without a reading, the neutral position; a note is added.
        """
        limit = self._parameters.joint_state_timeout or float('inf')
        values, lacking = dict(given), defaultdict[tuple[str, str, str], list[str]](list)
        # by stamp and receipt: computed once per message, since reading rclpy's clock takes 5 us
        ages = dict[tuple[int, float], float]()
        for joint in robot.joints:
            name = joint.name
            if name in given:
                continue
            reading = self._reading(robot, joint)
            if reading is not None:
                values[name] = reading.value
                if (message := reading[1:]) not in ages:
                    ages[message] = self._joint_states.age(reading)
                if ages[message] <= limit:
                    continue
            if name in required:
                raise RequestError(Status.ROBOT_STATE_STALE, self._missing_reason(
                    robot, name, reading, limit))
            if name in active or name in checked:
                what, where = ('no', 'neutral') if reading is None else ('stale', 'last known')
                use = 'the search started' if name in active else 'collisions were checked'
                lacking[what, use, where].append(f"'{name}'")
        notes = [f'{what} joint_states of {join_first(names)}: {use} at the {where} position'
                 for (what, use, where), names in lacking.items()]
        return Start(robot.to_q(values), notes)

    def known_values(self, robot: Robot) -> dict[str, Any]:
        """Return the positions of all joints with a reading, by name."""
        readings = {joint.name: self._reading(robot, joint) for joint in robot.joints}
        return {name: reading.value for name, reading in readings.items() if reading is not None}

    def _reading(self, robot: Robot, joint: Joint) -> Reading | None:
        if joint.is_scalar:
            return self._joint_states.get(joint.name)
        return self._base_reading(robot) if joint.name == robot.base_joint else None

    def _base_reading(self, robot: Robot) -> Reading | None:
        """Return the base joint's positions from the source in parameter base_source, or None."""
        base = robot.joints[0]
        if self._parameters.base_source == 'parameter':
            pose = pin.XYZQUATToSE3(np.array(self._parameters.base_pose))
            return Reading.of(joint_pose(base, pose))
        # the root link: the first frame that the base joint moves
        link = next(name for name in robot.frame_names if base.name in robot.moving_joints(name))
        try:
            found = self._transforms.find(robot.root_frame, link)
        except LookupError as error:
            self._log.warning(f'the base pose is unknown: {error}', throttle_duration_sec=5.0)
            return None
        return found._replace(value=joint_pose(base, found.value))

    def _missing_reason(self, robot: Robot, name: str, reading: Reading | None,
                        limit: float) -> str:
        source, age_text = (
            (f'base_source {self._parameters.base_source}', self._transforms.age_text)
            if name == robot.base_joint else ('joint_states', self._joint_states.age_text))
        if reading is None:
            return (f"joint '{name}' is needed, but neither the request nor {source} has its "
                    'position')
        return (f"joint '{name}' is needed, but not in the request, and its position from "
                f'{source} is {age_text(reading)}; parameter '
                f'joint_state_timeout allows {limit:g} s')
