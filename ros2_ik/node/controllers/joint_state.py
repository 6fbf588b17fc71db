"""Joint commands as many simulators take them."""

from sensor_msgs.msg import JointState

from ros2_ik.core import MotionState
from ros2_ik.node.controllers.controller import register_controller
from ros2_ik.node.controllers.stream import Stream


@register_controller('joint_state')
class JointStateStream(Stream):
    """Streams positions and velocities by name."""

    usual_topic = 'joint_command'
    message_type = JointState
    by_name = True

    def concerns(self, message: JointState) -> bool:
        return self.shares(message.name)

    def message(self, state: MotionState) -> JointState:
        message = JointState(name=list(self.joints), position=state.position.tolist(),
                             velocity=state.velocity.tolist())
        message.header.stamp = self.context.node.get_clock().now().to_msg()
        return message
