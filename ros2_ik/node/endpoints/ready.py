"""Topic ~/ready: whether the node can answer requests."""

from std_msgs.msg import Bool

from ros2_ik.node.endpoints.endpoint import Endpoint, LATCHED, publisher, timer

CHECK_PERIOD = 0.1      # [s]


class Ready(Endpoint):
    """
    Publishes the latched topic ~/ready when its value changes.

    The value is True if a robot is loaded and the creation of its collision geometry has ended,
    successfully or not.
    """

    def offer(self) -> None:
        self._last: bool | None = None
        self._publisher = publisher(self.node, Bool, '~/ready', LATCHED)
        timer(self.node, CHECK_PERIOD, self._check)

    def _check(self) -> None:
        ready = self.description.robot is not None and not self.scene.geometry.is_building
        if ready != self._last:
            self._last = ready
            self._publisher.publish(Bool(data=ready))
