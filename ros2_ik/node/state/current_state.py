"""The start state of a request, from its joint values and joint_states."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ros2_ik.core import Array, Robot, Status
from ros2_ik.core.internals import join_first
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.joint_states import JointStates, Reading


class Start(NamedTuple):
    """Start positions q (nq,), and notes on stale and assumed positions."""

    q: Array
    notes: list[str]


class CurrentState:
    """Current positions of the joints that joint_states report."""

    def __init__(self, parameters: Parameters, joint_states: JointStates) -> None:
        self._parameters, self._joint_states = parameters, joint_states

    def start(self, robot: Robot, given: Mapping[str, Any], required: frozenset[str],
              active: frozenset[str] = frozenset(),
              checked: frozenset[str] = frozenset()) -> Start:
        """
        Complete the `given` joint values from joint_states.

        - `required` joints must be given or have a fresh reading, else RequestError is raised.
        - For `active` joints (moved by the search) and `checked` joints (they affect collisions),
          a stale reading is used or, without a reading, the neutral position; a note is added.
          Planar and floating joints, such as a free base, must be given.
        """
        limit = self._parameters.joint_state_timeout or float('inf')
        values, lacking = dict(given), defaultdict[tuple[str, str, str], list[str]](list)
        # by stamp and receipt: computed once per message, since reading rclpy's clock takes 5 us
        ages = dict[tuple[int, float], float]()
        for joint in robot.joints:
            name = joint.name
            if name in given:
                continue
            reading = self._joint_states.get(name) if joint.is_scalar else None
            if reading is not None:
                values[name] = reading.value
                if (message := reading[1:]) not in ages:
                    ages[message] = self._joint_states.age(reading)
                if ages[message] <= limit:
                    continue
            affects = name in active or name in checked
            if name in required or affects and not joint.is_scalar:
                raise RequestError(Status.ROBOT_STATE_STALE,
                                   self._missing_reason(name, reading, limit))
            if affects:
                what, where = ('no', 'neutral') if reading is None else ('stale', 'last known')
                use = 'the search started' if name in active else 'collisions were checked'
                lacking[what, use, where].append(f"'{name}'")
        notes = [f'{what} joint_states of {join_first(names)}: {use} at the {where} position'
                 for (what, use, where), names in lacking.items()]
        return Start(robot.to_q(values), notes)

    def known_values(self, robot: Robot) -> dict[str, float]:
        """Return the positions of all joints with a reading, by name."""
        readings = {joint.name: self._joint_states.get(joint.name) for joint in robot.joints
                    if joint.is_scalar}
        return {name: reading.value for name, reading in readings.items() if reading is not None}

    def _missing_reason(self, name: str, reading: Reading | None, limit: float) -> str:
        if reading is None:
            return (f"joint '{name}' is needed, but neither the request nor joint_states has its "
                    'position (free bases, planar and floating joints: multi_dof_joint_state)')
        return (f"joint '{name}' is needed, but not in the request, and its position from "
                f'joint_states is {self._joint_states.age_text(reading)}; parameter '
                f'joint_state_timeout allows {limit:g} s')
