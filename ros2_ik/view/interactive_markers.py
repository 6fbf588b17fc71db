"""The server's side of interactive markers, as in the package interactive_markers."""

from collections.abc import Callable, Iterable
import time
from typing import Any

from geometry_msgs.msg import Pose
from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

HOLDS = 1.0      # so long after it was heard one client has a marker for itself [s]
DEPTH = 100      # of updates, none of which a client may miss
FEEDBACK = 10    # of feedback: a press, a pose and a release come at once


class InteractiveMarkers:
    """
    Markers to drag in RViz, and what is told of them.

    A client asks the service for all of them, and hears of changes in numbered updates: when it
    misses one, it asks again. `taken` gets the feedback of whoever drags a marker; of others,
    within a second, only what is `urgent`.
    """

    def __init__(self, node: Node, name: str,
                 taken: Callable[[InteractiveMarkerFeedback], None],
                 urgent: Callable[[InteractiveMarkerFeedback], bool] = lambda _: False) -> None:
        self._taken, self._urgent = taken, urgent
        self._markers: dict[str, InteractiveMarker] = {}
        self._number = 0
        self._holders: dict[str, tuple[str, float]] = {}    # of markers: a client, until when [s]
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f'{name}/update',
                                              QoSProfile(depth=DEPTH))
        node.create_service(GetInteractiveMarkers, f'{name}/get_interactive_markers', self._get)
        node.create_subscription(InteractiveMarkerFeedback, f'{name}/feedback', self._take,
                                 QoSProfile(depth=FEEDBACK))

    def show(self, markers: Iterable[InteractiveMarker]) -> None:
        """Show these in place of all others."""
        given = {marker.name: marker for marker in markers}
        changed = [marker for name, marker in given.items() if marker != self._markers.get(name)]
        erased = [name for name in self._markers if name not in given]
        self._markers = given
        if changed or erased:
            self._publish(markers=changed, erases=erased)

    def move(self, name: str, pose: Pose) -> None:
        """Put a marker somewhere, in its frame."""
        marker = self._markers[name]
        if marker.pose != pose:
            marker.pose = pose
            self._publish(poses=[InteractiveMarkerPose(
                header=marker.header, pose=pose, name=name)])

    def _publish(self, **changes: Any) -> None:
        self._number += 1
        self._updates.publish(InteractiveMarkerUpdate(
            seq_num=self._number, type=InteractiveMarkerUpdate.UPDATE, **changes))

    def _get(self, _: Any, response: Any) -> Any:
        response.sequence_number = self._number
        response.markers = list(self._markers.values())
        return response

    def _take(self, feedback: InteractiveMarkerFeedback) -> None:
        name, now = feedback.marker_name, time.monotonic()
        holder, until = self._holders.get(name, ('', now))
        if name in self._markers and self._urgent(feedback):
            self._taken(feedback)
            return
        if name not in self._markers or (feedback.client_id != holder and now < until):
            return
        self._holders[name] = feedback.client_id, now + HOLDS
        self._taken(feedback)
