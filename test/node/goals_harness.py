"""`ros2_ik goals` in a child process, and a client that shows and drags markers like RViz."""

from contextlib import contextmanager
import signal

from geometry_msgs.msg import Pose
from marker_client import MarkerClient
from node_harness import eventually, installed, matrix, Program, stamped
import pinocchio as pin
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerFeedback, Marker, MarkerArray

GREEN, ORANGE = (0.18, 0.72, 0.32), (0.96, 0.58, 0.1)   # RGB: solved, rejected


@contextmanager
def goals_command(domain, folder, *words):
    """Run `ros2_ik goals`; stop it by SIGINT if it is still running when the block ends."""
    program = Program(domain, folder / 'goals.log', installed('ros2_ik'), 'goals', '--wait', '60',
                      *words)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            assert program.end(signal.SIGINT, 10) == 0, program.text
        assert 'Traceback' not in program.text, program.text


class Rviz(MarkerClient):
    """Markers as RViz shows them, and ghost robots; sends drags and menu choices."""

    def __init__(self, client, name='rviz'):
        super().__init__(client.node, 'ros2_ik/goals', 'panda_link3', name)
        self._client, self.ghosts = client, []
        self._subscriptions.append(client.node.create_subscription(
            MarkerArray, 'ros2_ik/goals/ghost', self.ghosts.append, QoSProfile(
                depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)))
        eventually(lambda: self.is_connected, 'all markers')

    def send_feedback(self, name, kind, pose=None, entry=0, frame=''):
        self.send(header=Header(frame_id=frame), marker_name=name, event_type=kind,
                  menu_entry_id=entry, pose=pose or Pose())

    def drag(self, name, pose, release=False):
        """Drag a marker to a pose (SE3), or release it there."""
        kind = InteractiveMarkerFeedback.MOUSE_UP if release else (
            InteractiveMarkerFeedback.POSE_UPDATE)
        self.send_feedback(name, kind, stamped(pose.homogeneous).pose)

    def choose(self, name, title):
        """Choose a menu entry by its title without check mark."""
        entry = next(each for each in self.markers[name].menu_entries
                     if each.title.removeprefix('[x] ').removeprefix('[ ] ') == title)
        self.send_feedback(name, InteractiveMarkerFeedback.MENU_SELECT, entry=entry.id)

    def pose(self, name):
        """Return the pose of a marker (SE3)."""
        return pin.SE3(matrix(self.markers[name].pose))

    def close(self):
        self._client.on_executor(super().close)
        assert self.warnings == []


class Ghost:
    """Links, text and contacts of one ghost message."""

    def __init__(self, array):
        assert array.markers[0].action == Marker.DELETEALL
        shown = array.markers[1:]
        self.links = [marker for marker in shown if marker.ns == 'ghost']
        text, = (marker for marker in shown if marker.ns == 'text')
        # x is the width of a space, which RViz makes too wide by default
        assert 0 < text.scale.x < text.scale.z
        self.text = text.text
        self.contacts = [marker for marker in shown if marker.ns == 'contacts']
        self.color = None
        for link in self.links[:1]:
            color = link.color
            self.color = tuple(round(part, 3) for part in (color.r, color.g, color.b))
