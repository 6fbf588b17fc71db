"""A forward_command_controller for positions, which is JointGroupPositionController, too."""

from collections.abc import Sequence
import math

from std_msgs.msg import Float64MultiArray

from ros2_ik.mock.controllers.controller import MockController, SYSTEM_DEFAULT
from ros2_ik.mock.controllers.joints import MockJoints


class PositionController(MockController):
    """
    Sends the joints to `~/commands` (std_msgs/Float64MultiArray) at once.

    A command that is not finite is dropped with a warning. One of the wrong length is an error of
    the cycle, for which the controller_manager of Jazzy deactivates the controller.
    """

    def __init__(self, name: str, body: MockJoints, joints: Sequence[str],
                 words: Sequence[str] = (), namespace: str = '') -> None:
        super().__init__(name, body, joints, words, namespace)
        self._command: Sequence[float] | None = None
        self.create_subscription(Float64MultiArray, '~/commands', self._on_command, SYSTEM_DEFAULT)

    def _on_command(self, message: Float64MultiArray) -> None:
        if not self._takes_commands():
            return
        if not all(math.isfinite(value) for value in message.data):
            self.get_logger().warning(f'dropped a command that is not finite: {[*message.data]}')
            return
        self._command = message.data

    def release(self) -> None:
        """Forget the last command."""
        self._command = None

    def update(self, now: int) -> bool:
        """Repeat the last command; False when its length is wrong."""
        if self._command is None:
            return True
        if len(self._command) != len(self.joints):
            self.get_logger().error(f'command of {len(self._command)} values for '
                                    f'{len(self.joints)} joints')
            return False
        self.body.command(self.joints, self._command)
        return True
