"""Whether the clients of an action are still there."""

import time

from rclpy.node import Node

MEET = 2.0   # so long after its acceptance a goal's client may become known [s]
MISSED = 2   # looks in a row at which nobody is there


class ActionClients:
    """
    The clients of an action, as far as the graph shows them: each listens to the feedback.

    One that ends well says so at once; of one that is killed DDS knows after its lease, 20 s with
    Fast DDS.
    """

    def __init__(self, node: Node, action: str) -> None:
        self._node, self._topic = node, f'{node.resolve_service_name(action)}/_action/feedback'

    def present(self) -> set[bytes]:
        """Ids of the subscriptions of the feedback."""
        return {bytes(info.endpoint_gid)
                for info in self._node.get_subscriptions_info_by_topic(self._topic)}


class GoalClients:
    """
    The clients that a goal may belong to: those that were there when it came.

    Nothing says whose it is. It is deserted when all of them are gone.
    """

    def __init__(self, present: set[bytes]) -> None:
        self._known, self._missed = set(present), 0
        self._until = time.monotonic() + MEET

    def all_gone(self, present: set[bytes]) -> bool:
        """Take a look; gives whether nobody can be there any more who wants the result."""
        if time.monotonic() < self._until:   # discovery may be slower than the first goal
            self._known |= present
        gone = bool(self._known) and not self._known & present
        self._missed = self._missed + 1 if gone else 0
        return self._missed >= MISSED
