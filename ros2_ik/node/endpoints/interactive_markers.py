"""The server's side of interactive markers, as in the package interactive_markers."""

from collections.abc import Callable, Iterable, Mapping
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

HOLDS = 1.0      # so long after it was heard one client has the markers for itself [s]
DEPTH = 100      # of updates, none of which a client may miss
FEEDBACK = 10    # of feedback: a press, a pose and a release come at once


class InteractiveMarkers:
    """
    Markers to drag in RViz, and what is told of them.

    A client asks the service for all of them, and hears of changes in numbered updates: when it
    misses one, it asks again. `taken` gets the feedback of whoever drags; of others, within a
    second, nothing is taken.
    """

    def __init__(self, node: Node, name: str,
                 taken: Callable[[InteractiveMarkerFeedback], None]) -> None:
        self._id, self._taken = node.get_fully_qualified_name(), taken
        self._markers: dict[str, InteractiveMarker] = {}
        self._number, self._client, self._heard = 0, '', 0.0
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f'{name}/update',
                                              QoSProfile(depth=DEPTH))
        node.create_service(GetInteractiveMarkers, f'{name}/get_interactive_markers', self._get)
        node.create_subscription(InteractiveMarkerFeedback, f'{name}/feedback', self._take,
                                 QoSProfile(depth=FEEDBACK))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the markers that are shown."""
        return tuple(self._markers)

    def show(self, markers: Iterable[InteractiveMarker]) -> None:
        """Show these in place of all others."""
        given = {marker.name: marker for marker in markers}
        changed = [marker for name, marker in given.items() if marker != self._markers.get(name)]
        erased = [name for name in self._markers if name not in given]
        self._markers = given
        if changed or erased:
            self._publish(markers=changed, erases=erased)

    def move(self, poses: Mapping[str, Any]) -> None:
        """Put markers at poses (Pose), by name, in their frames."""
        told = []
        for name, pose in poses.items():
            marker = self._markers[name]
            marker.pose = pose
            told.append(InteractiveMarkerPose(header=marker.header, pose=pose, name=name))
        self._publish(poses=told)

    def _publish(self, **changes: Any) -> None:
        self._number += 1
        self._updates.publish(InteractiveMarkerUpdate(
            server_id=self._id, seq_num=self._number, type=InteractiveMarkerUpdate.UPDATE,
            **changes))

    def _get(self, _: Any, response: Any) -> Any:
        response.sequence_number = self._number
        response.markers = list(self._markers.values())
        return response

    def _take(self, feedback: InteractiveMarkerFeedback) -> None:
        now = time.monotonic()
        if feedback.marker_name not in self._markers or (
                feedback.client_id != self._client and now < self._heard + HOLDS):
            return
        self._client, self._heard = feedback.client_id, now
        self._taken(feedback)
