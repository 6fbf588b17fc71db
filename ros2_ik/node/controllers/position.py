"""Streaming adapter to a forward_command_controller or JointGroupPositionController."""

from collections.abc import Sequence
from dataclasses import dataclass
import time

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.controllers.stream import Stream
from ros2_ik.node.servo.servo_output import Knot, ServoOutput

ANSWER_TIMEOUT = 2.0   # for the controller to return its parameters [s]
POLL_PERIOD = 2e-3     # between two checks for that answer [s]
UNKNOWN = '_NODE_NAME_UNKNOWN_'   # rclpy's name of a node that has not been discovered yet


@dataclass(frozen=True)
class PositionOutput(ServoOutput):
    """Encodes servo commands as positions in the controller's joint order."""

    order: tuple[int, ...]
    message_type = Float64MultiArray

    def message(self, knots: Sequence[Knot]) -> Float64MultiArray:
        return Float64MultiArray(data=knots[-1].position[list(self.order)].tolist())


class PositionController(Stream):
    """
    Streams positions in the order of the controller's parameter `joints`.

    If the controller has no such parameter, or is not running, the order is that of the group. If
    it is running, but does not answer, nothing is sent: in a wrong order, each joint would move to
    the position of another joint.
    """

    usual_topic = '{}/commands'

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        self._order = tuple(range(len(joints)))
        super().__init__(name, joints, topic, context)
        self._node_name = self.topic.rpartition('/')[0]
        self._client = context.node.create_client(
            GetParameters, f'{self._node_name}/get_parameters',
            callback_group=context.callback_group)

    async def prepare(self) -> None:
        end = time.monotonic() + ANSWER_TIMEOUT
        # DDS discovers a node's services later than its topics
        while not self._client.service_is_ready():
            if not self._controller_listens():
                return
            await self._look_again(end)
        asked = self._client.call_async(GetParameters.Request(names=['joints']))
        while not asked.done():
            await self._look_again(end)
        answer = asked.result()
        if not answer.values or answer.values[0].type != ParameterType.PARAMETER_STRING_ARRAY:
            return
        theirs = list(answer.values[0].string_array_value)
        if sorted(theirs) != sorted(self.joints):
            raise RequestError(
                Status.CONTROL_FAILED,
                f'controller {self._node_name} moves {", ".join(theirs) or "nothing"}, but '
                f"parameter {self.name}.group names {', '.join(self.joints)}")
        self._order = tuple(self.joints.index(joint) for joint in theirs)

    async def _look_again(self, end: float) -> None:
        """Wait for POLL_PERIOD; raises RequestError after `end` on the steady clock [s]."""
        if time.monotonic() > end:
            raise RequestError(
                Status.CONTROL_FAILED, f'controller {self._node_name} did not return parameter '
                f'joints, the order of the commanded positions, within {ANSWER_TIMEOUT:g} s; '
                'nothing was moved')
        await self.context.pause(POLL_PERIOD)

    def _controller_listens(self) -> bool:
        """Return whether the controller's node, or an unnamed one, subscribes to the topic."""
        listeners = self.context.node.get_subscriptions_info_by_topic(self.topic)
        return any(one.node_name == UNKNOWN or self._node_name
                   == f'{one.node_namespace.rstrip("/")}/{one.node_name}' for one in listeners)

    @property
    def output(self) -> PositionOutput:
        return PositionOutput(self.topic, self.joints, self._order)

    def close(self) -> None:
        self.context.node.destroy_client(self._client)
        super().close()
