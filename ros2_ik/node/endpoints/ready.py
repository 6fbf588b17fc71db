"""Topic ~/ready."""

from std_msgs.msg import Bool

from ros2_ik.node.endpoints.parts import LATCHED, publisher, timer
from ros2_ik.node.endpoints.registry import Endpoint

CHECK_PERIOD = 0.1      # between two checks [s]


class Ready(Endpoint):
    """Latched topic: True if a robot is loaded, and its collision geometry made or failed."""

    def offer(self) -> None:
        self._last: bool | None = None
        self._publisher = publisher(self.node, Bool, '~/ready', LATCHED)
        timer(self.node, CHECK_PERIOD, self._check)

    def _check(self) -> None:
        ready = self.description.robot is not None and not self.scene.geometry.is_making
        if ready != self._last:
            self._last = ready
            self._publisher.publish(Bool(data=ready))
