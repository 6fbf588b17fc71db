"""Server of interactive markers; implements the protocol of the package interactive_markers."""

from collections.abc import Callable, Iterable

from geometry_msgs.msg import Pose
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

UPDATE_DEPTH = 100      # queue depth; a client that misses an update must reload all markers
ACK_TIMEOUT = 1.0       # maximum time to wait until all clients have received the last update [s]
FEEDBACK_DEPTH = 10     # depth of the queue of feedback: press, pose and release come in bursts


class InteractiveMarkers:
    """
    Markers that can be dragged in RViz; `on_feedback` is called with the feedback of any client.

    A client calls the service for all markers once, then receives changes as numbered updates. A
    client that misses an update calls the service again.
    """

    def __init__(self, node: Node, name: str,
                 on_feedback: Callable[[InteractiveMarkerFeedback], None]) -> None:
        self._on_feedback = on_feedback
        self._markers: dict[str, InteractiveMarker] = {}
        self._number = 0
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f'{name}/update',
                                              QoSProfile(depth=UPDATE_DEPTH))
        node.create_service(GetInteractiveMarkers, f'{name}/get_interactive_markers', self._get)
        node.create_subscription(InteractiveMarkerFeedback, f'{name}/feedback', self._receive,
                                 QoSProfile(depth=FEEDBACK_DEPTH))

    def show(self, markers: Iterable[InteractiveMarker]) -> None:
        """Replace all markers by `markers`; publish the differences."""
        new = {marker.name: marker for marker in markers}
        changed = [marker for name, marker in new.items() if marker != self._markers.get(name)]
        erased = [name for name in self._markers if name not in new]
        self._markers = new
        if changed or erased:
            self._publish(InteractiveMarkerUpdate(markers=changed, erases=erased))

    def close(self) -> None:
        """Remove all markers, and wait until clients have the update, so that it is not lost."""
        self.show([])
        self._updates.wait_for_all_acked(Duration(seconds=ACK_TIMEOUT))

    def move(self, name: str, pose: Pose) -> None:
        """Move a marker to a pose in the frame of its header."""
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

    def _receive(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.marker_name in self._markers:
            self._on_feedback(feedback)
