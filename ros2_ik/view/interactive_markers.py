"""Server of interactive markers, with the protocol of the package interactive_markers."""

from collections.abc import Callable, Iterable

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

DEPTH = 100      # queue of updates, none of which a client may miss
FEEDBACK = 10    # queue of feedback: a press, a pose and a release come at once


class InteractiveMarkers:
    """
    Markers to drag in RViz; `taken` is called with the feedback on them, of any client.

    A client asks the service for all markers, and receives changes as numbered updates. When it
    misses an update, it asks the service again.
    """

    def __init__(self, node: Node, name: str,
                 taken: Callable[[InteractiveMarkerFeedback], None]) -> None:
        self._taken = taken
        self._markers: dict[str, InteractiveMarker] = {}
        self._number = 0
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f'{name}/update',
                                              QoSProfile(depth=DEPTH))
        node.create_service(GetInteractiveMarkers, f'{name}/get_interactive_markers', self._get)
        node.create_subscription(InteractiveMarkerFeedback, f'{name}/feedback', self._take,
                                 QoSProfile(depth=FEEDBACK))

    def show(self, markers: Iterable[InteractiveMarker]) -> None:
        """Show these markers in place of all others."""
        given = {marker.name: marker for marker in markers}
        changed = [marker for name, marker in given.items() if marker != self._markers.get(name)]
        erased = [name for name in self._markers if name not in given]
        self._markers = given
        if changed or erased:
            self._publish(InteractiveMarkerUpdate(markers=changed, erases=erased))

    def move(self, name: str, pose: Pose) -> None:
        """Move a marker to a pose in its frame."""
        marker = self._markers[name]
        if marker.pose != pose:
            marker.pose = pose
            self._publish(InteractiveMarkerUpdate(poses=[InteractiveMarkerPose(
                header=marker.header, pose=pose, name=name)]))

    def _publish(self, update: InteractiveMarkerUpdate) -> None:
        self._number += 1
        update.seq_num, update.type = self._number, InteractiveMarkerUpdate.UPDATE
        self._updates.publish(update)

    def _get(self, _: GetInteractiveMarkers.Request, response: GetInteractiveMarkers.Response
             ) -> GetInteractiveMarkers.Response:
        response.sequence_number = self._number
        response.markers = list(self._markers.values())
        return response

    def _take(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.marker_name in self._markers:
            self._taken(feedback)
