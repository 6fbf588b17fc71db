"""Streaming adapter for JointState commands, the interface of many simulators."""

from collections.abc import Sequence
from dataclasses import dataclass

from sensor_msgs.msg import JointState

from ros2_ik.node.controllers.stream import Stream
from ros2_ik.node.servo.servo_output import Knot, ServoOutput


@dataclass(frozen=True)
class JointStateOutput(ServoOutput):
    """Encodes servo commands as JointState messages with positions and velocities."""

    message_type = JointState

    def concerns(self, message: JointState) -> bool:
        return not set(self.joints).isdisjoint(message.name)

    def message(self, knots: Sequence[Knot]) -> JointState:
        time, position, velocity = knots[-1]
        message = JointState(name=list(self.joints), position=position.tolist(),
                             velocity=velocity.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, 10**9)
        return message


class JointStateStream(Stream, kind='joint_state'):
    """Streams named positions and velocities as JointState messages."""

    usual_topic = 'joint_command'
    by_name = True

    @property
    def output(self) -> JointStateOutput:
        return JointStateOutput(self.topic, self.joints)
