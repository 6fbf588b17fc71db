"""A client of interactive markers that keeps RViz's rules, and drags."""

import threading
import time

from geometry_msgs.msg import Pose
from node_harness import eventually
import numpy as np
import pinocchio as pin
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import (
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    Marker,
    MarkerArray,
)
from visualization_msgs.srv import GetInteractiveMarkers

GREEN, ORANGE, RED = (0.2, 0.8, 0.3), (1.0, 0.6, 0.1), (0.9, 0.2, 0.2)


class Rviz:
    """
    What RViz knows of the markers: as of the service, and of updates without a gap.

    An update that follows on none, or moves what is not there, would have it drop them all.
    """

    def __init__(self, client, name='rviz'):
        self.client, self.name = client, name
        self.markers, self.number, self.faults = {}, None, []
        self.ghosts, self.times = [], []
        self._early, self._lock = [], threading.Lock()
        node = client.node
        self._subscriptions = [
            node.create_subscription(InteractiveMarkerUpdate, 'ros2_ik/goals/update',
                                     self._update, QoSProfile(depth=100)),
            node.create_subscription(MarkerArray, 'ros2_ik/goals/ghost', self._ghost, QoSProfile(
                depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))]
        self._feedback = node.create_publisher(
            InteractiveMarkerFeedback, 'ros2_ik/goals/feedback', QoSProfile(depth=1))
        eventually(self._feedback.get_subscription_count, 'feedback is heard')
        eventually(lambda: node.count_publishers('ros2_ik/goals/update'), 'updates are told')
        answer = client.call(GetInteractiveMarkers, 'ros2_ik/goals/get_interactive_markers',
                             GetInteractiveMarkers.Request())
        with self._lock:
            self.number = answer.sequence_number
            self.markers = {marker.name: marker for marker in answer.markers}
            early, self._early = self._early, []
        for update in early:
            self._update(update)

    def _update(self, update):
        with self._lock:
            if self.number is None:
                self._early.append(update)
                return
            if update.seq_num <= self.number:
                return
            if update.seq_num != self.number + 1 or update.type != update.UPDATE:
                self.faults.append(f'{self.number} -> {update.seq_num}')
            self.number = update.seq_num
            for marker in update.markers:
                self.markers[marker.name] = marker
            for moved in update.poses:
                if moved.name not in self.markers:
                    self.faults.append(f'moves {moved.name}')
                else:
                    self.markers[moved.name].pose = moved.pose
            for name in update.erases:
                self.markers.pop(name, None)
            self.faults += [f'{name} has no controls' for name, marker in self.markers.items()
                            if not marker.controls]

    def _ghost(self, array):
        self.times.append(time.monotonic())
        self.ghosts.append(array)

    def tell(self, name, kind, pose=None, entry=0):
        self._feedback.publish(InteractiveMarkerFeedback(
            client_id=self.name, marker_name=name, event_type=kind, menu_entry_id=entry,
            pose=pose or Pose()))

    def drag(self, name, place, release=False):
        """Put a marker somewhere (SE3), and let it go."""
        pose = message(place)
        self.tell(name, InteractiveMarkerFeedback.POSE_UPDATE, pose)
        if release:
            time.sleep(0.02)
            self.tell(name, InteractiveMarkerFeedback.MOUSE_UP, pose)

    def choose(self, name, title):
        """Choose an entry of the menu."""
        entry = next(each for each in self.markers[name].menu_entries
                     if each.title.removeprefix('[x] ').removeprefix('[ ] ') == title)
        self.tell(name, InteractiveMarkerFeedback.MENU_SELECT, entry=entry.id)

    def place(self, name):
        return placed(self.markers[name].pose)

    def close(self):
        for subscription in self._subscriptions:
            self.client.node.destroy_subscription(subscription)
        self.client.node.destroy_publisher(self._feedback)
        assert not self.faults


class Ghost:
    """What one message of the ghost shows."""

    def __init__(self, array):
        assert array.markers[0].action == Marker.DELETEALL
        shown = array.markers[1:]
        self.links = [marker for marker in shown if marker.ns == 'ghost']
        self.text = next(marker.text for marker in shown if marker.ns == 'text')
        self.contacts = [marker for marker in shown if marker.ns == 'contacts']
        self.reach = [marker for marker in shown if marker.ns == 'reach']
        color = self.links[0].color
        self.color = tuple(round(part, 3) for part in (color.r, color.g, color.b))


def message(place):
    pose = Pose()
    (pose.position.x, pose.position.y, pose.position.z, pose.orientation.x, pose.orientation.y,
     pose.orientation.z, pose.orientation.w) = pin.SE3ToXYZQUAT(place).tolist()
    return pose


def placed(pose):
    return pin.XYZQUATToSE3(np.array([
        pose.position.x, pose.position.y, pose.position.z, pose.orientation.x,
        pose.orientation.y, pose.orientation.z, pose.orientation.w]))
