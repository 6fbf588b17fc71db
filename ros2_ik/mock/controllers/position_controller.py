"""Mock of a forward_command_controller for positions (or JointGroupPositionController)."""

from collections.abc import Sequence
import math

from std_msgs.msg import Float64MultiArray

from ros2_ik.mock.controllers.controller import MockController, SYSTEM_DEFAULT
from ros2_ik.mock.controllers.joints import MockJoints


class PositionController(MockController):
    """
    Commands the positions of each message on `~/commands` (std_msgs/Float64MultiArray).

    Messages of the wrong length, or with numbers that are not finite, are dropped with a warning.
    """

    def __init__(self, name: str, body: MockJoints, joints: Sequence[str]) -> None:
        super().__init__(name, body, joints)
        self._command: Sequence[float] | None = None
        self.create_subscription(Float64MultiArray, '~/commands', self._on_command, SYSTEM_DEFAULT)

    def _on_command(self, message: Float64MultiArray) -> None:
        if not self._takes_commands():
            return
        if len(message.data) != len(self.joints) or not all(map(math.isfinite, message.data)):
            self.get_logger().warning(f'dropped a command: {[*message.data]} are not '
                                      f'{len(self.joints)} finite positions')
            return
        self._command = message.data

    def release(self) -> None:
        """Drop the last command."""
        self._command = None

    def update(self, now: int) -> None:
        """Repeat the last command."""
        if self._command is not None:
            self.body.command(self.joints, self._command)
