"""Streaming controllers: the servo's process publishes one command per period."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
import time
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import Motion, Status
from ros2_ik.core.internals import POINT_PERIOD
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import BrakingLimits, Controller
from ros2_ik.node.controllers.topics import subscriber_nodes
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.messages import FromServo, Knot, PlayerState, ServoOutput
from ros2_ik.node.servo.player import Player

ANSWER_TIMEOUT = 2.0   # time for the controller to return its parameters [s]
PARAMETER_POLL_PERIOD = 2e-3     # between two checks for the controller's response [s]
UNKNOWN = '_NODE_NAME_UNKNOWN_'   # rclpy's name of a node that has not been discovered yet
_PLAYER_NUMBERS = count()


class Stream(Controller):
    """Sends motions to the servo's process, so that the node's callbacks cannot delay commands."""

    # hold the start first: if the first commands of a motion were lost, the next would be a step
    min_start_delay = 0.1

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._unavailable, self._player = '', next(_PLAYER_NUMBERS)
        self.context.servo.receivers.append(self._on_message)
        self._open()

    def _open(self) -> None:
        self._unavailable, self.made_at = "the servo's process is still starting", time.monotonic()
        self.context.servo.call(Loop.open_player, self._player, self.output,
                                self.context.parameters.command_period)

    def _on_message(self, message: FromServo) -> None:
        # the process has ended: `release` starts a new process, and `_open` makes a player in it
        if message is None:
            self.release("the servo's process has died: the joints stopped at their last command")
            self._open()
        elif isinstance(message, PlayerState) and message.player == self._player:
            self._unavailable = message.unavailable
            # if this motion does not brake, the report is a late one of an earlier motion
            if message.rest is not None and self._braking and self._motion:
                self._come_to_rest(message.rest, message.remaining)
            if message.failure:
                self.release(f"controller '{self.name}': {message.failure}")

    def _call(self, method: Callable[..., None], *arguments: object) -> None:
        self.context.servo.call(Loop.call_player, self._player, method, *arguments)

    def unavailable_reason(self) -> str:
        return self._unavailable

    def start(self, motion: Motion, start_delay: float) -> None:
        # hold the start for `start_delay` [s]: the first commands may be lost, and the joints of
        # other controllers may still move to their start
        self._begin(motion, braking=False, start_delay=start_delay)
        # The player interpolates these states by cubic polynomials. With states POINT_PERIOD
        # apart, the polynomials would exceed the acceleration limits by 7 % (default jerk limit).
        starts = [0.0, start_delay] if start_delay else [0.0]
        times = np.array([*starts, *(start_delay + motion.times(POINT_PERIOD / 2))])
        states = [motion.at(max(time - start_delay, 0.0)) for time in times]
        self._call(Player.play, self.output, times, np.array([state.position for state in states]),
                   np.array([state.velocity for state in states]), motion.is_curved)

    def stop(self, within: BrakingLimits) -> None:
        # The player brakes from its own last command, and reports where and when braking ends.
        # Until the player reports (never, if it hangs), the present command counts as the end.
        self._come_to_rest(self.commanded(self.context.clock.now()).position, 0.0)
        self._call(Player.brake, within)

    def release(self, reason: str) -> None:
        super().release(reason)
        # also drops a motion that the player has not received yet
        self._call(Player.end_motion)

    def close(self) -> None:
        self.context.servo.receivers.remove(self._on_message)
        self.context.servo.call(Loop.close_player, self._player)


@dataclass(frozen=True)
class JointStateOutput(ServoOutput):
    """Encodes commands as JointState messages with positions and velocities."""

    message_type = JointState

    def affects_joints(self, message: JointState) -> bool:
        # simulators refuse a message in which no array has a value for each joint
        is_complete = len(message.name) in (len(message.position), len(message.velocity),
                                            len(message.effort))
        return is_complete and not set(self.joints).isdisjoint(message.name)

    def message(self, knots: Sequence[Knot]) -> JointState:
        time, position, velocity = knots[-1]
        message = JointState(name=list(self.joints), position=position.tolist(),
                             velocity=velocity.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, 10**9)
        return message


class JointStateStream(Stream):
    """Streams JointState messages with positions and velocities, which many simulators accept."""

    default_topic = 'joint_command'
    names_joints = True

    @property
    def output(self) -> JointStateOutput:
        return JointStateOutput(self.topic, self.joints)


@dataclass(frozen=True)
class PositionOutput(ServoOutput):
    """Encodes commands as positions in the controller's joint order."""

    order: tuple[int, ...]   # index in `joints` of each controller joint; () for the same order
    message_type = Float64MultiArray

    def affects_joints(self, message: Float64MultiArray) -> bool:
        # controllers refuse messages with a wrong number of positions
        return len(message.data) == len(self.joints)

    def message(self, knots: Sequence[Knot]) -> Float64MultiArray:
        position = knots[-1].position
        return Float64MultiArray(data=position[list(self.order) or slice(None)].tolist())


class PositionController(Stream):
    """
    Streams positions in the order of the controller's parameter `joints`.

    If the controller has no such parameter, or is not running, the order is that of the group. If
    the controller is running, but does not answer the query, nothing is sent: in a wrong order,
    joints would move to positions meant for other joints.
    """

    default_topic = '{}/commands'
    _order: tuple[int, ...] = ()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._node_name = self.topic.rpartition('/')[0]
        self._client = self.context.node.create_client(
            GetParameters, f'{self._node_name}/get_parameters',
            callback_group=self.context.callback_group)

    async def prepare(self) -> None:
        end, request, self._order = time.monotonic() + ANSWER_TIMEOUT, None, ()
        while request is None or not request.done():
            # DDS may discover the controller's service later than its subscription
            if request is None and self._client.service_is_ready():
                request = self._client.call_async(GetParameters.Request(names=['joints']))
            elif request is None and not self._controller_subscribes():
                return
            if time.monotonic() > end:
                raise RequestError(
                    Status.CONTROL_FAILED, f'controller {self._node_name} did not return '
                    'parameter joints, the order of the commanded positions, within '
                    f'{ANSWER_TIMEOUT:g} s; nothing was moved')
            await self.context.pause(PARAMETER_POLL_PERIOD)
        answer = request.result()
        if not answer.values or answer.values[0].type != ParameterType.PARAMETER_STRING_ARRAY:
            return
        controller_joints = list(answer.values[0].string_array_value)
        if sorted(controller_joints) != sorted(self.joints):
            raise RequestError(
                Status.CONTROL_FAILED,
                f'controller {self._node_name} moves {", ".join(controller_joints) or "nothing"}, '
                f"but parameter {self.name}.group names {', '.join(self.joints)}")
        self._order = tuple(self.joints.index(joint) for joint in controller_joints)

    def _controller_subscribes(self) -> bool:
        """Return whether the controller's node or a node of unknown name subscribes."""
        return any(name == self._node_name or name.endswith(f'/{UNKNOWN}')
                   for name in subscriber_nodes(self.context.node, self.topic))

    @property
    def output(self) -> PositionOutput:
        return PositionOutput(self.topic, self.joints, self._order)

    def close(self) -> None:
        self.context.node.destroy_client(self._client)
        super().close()
