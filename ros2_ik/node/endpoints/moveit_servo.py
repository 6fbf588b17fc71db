"""Service ~/servo/switch_command_type of MoveIt's type, ServoCommandType."""

from dataclasses import dataclass
from typing import Any

from moveit_msgs.srv import ServoCommandType
from rclpy.node import Node

from ros2_ik.node.endpoints.registry import Endpoint, serve
from ros2_ik.node.endpoints.servo import Servo
from ros2_ik.srv import SwitchServo

MODES = {ServoCommandType.Request.JOINT_JOG: SwitchServo.Request.JOINT,
         ServoCommandType.Request.TWIST: SwitchServo.Request.TWIST,
         ServoCommandType.Request.POSE: SwitchServo.Request.POSE}


@dataclass(eq=False)
class MoveItServo(Endpoint, name='moveit_servo'):
    """Switches the servo on, or to other commands, with the default group and tip."""

    node: Node
    servo: Servo

    def __post_init__(self) -> None:
        serve(self.node, ServoCommandType, '~/servo/switch_command_type', self.answer)

    async def answer(self, request: Any, response: Any) -> Any:
        """Answer a request by ~/servo/switch; the log has the reason where that is refused."""
        kind = request.command_type
        # what is no command type is refused there, too
        ours = await self.servo.switch(SwitchServo.Request(mode=MODES.get(kind, f'{kind}')),
                                       SwitchServo.Response())
        response.success = ours.success
        if not ours.success:
            self.node.get_logger().error(f'servo/switch_command_type {kind}: {ours.message}')
        return response
