"""
Client of interactive markers that follows the rules of RViz.

These are the rules of InteractiveMarkerClient (package interactive_markers) and of
InteractiveMarkerDisplay (rviz_default_plugins), for markers without a stamp.
"""

from collections import deque
from enum import Enum
import math
import time

from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate, MenuEntry
from visualization_msgs.srv import GetInteractiveMarkers

FRAME = 1 / 30              # RViz draws so often [s]
TIMEOUT = 1.0               # after which it asks again for all markers [s]
QUEUE = 100                 # of updates


class State(Enum):
    """State of the client: idle, waiting for all markers, applying updates."""

    IDLE = 0
    INITIALIZE = 1
    RUNNING = 2


class MarkerClient:
    """
    Markers of a server as RViz shows them in a fixed frame.

    `warnings` lists everything that RViz would report as a warning or an error.
    """

    def __init__(self, node, namespace, fixed_frame, name='rviz'):
        self._node, self._fixed, self._name = node, fixed_frame, name
        self.markers, self.warnings = {}, []
        self._frames = set()
        self._reset()
        static = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._service = node.create_client(GetInteractiveMarkers,
                                           f'{namespace}/get_interactive_markers')
        self._feedback = node.create_publisher(
            InteractiveMarkerFeedback, f'{namespace}/feedback', QoSProfile(depth=1))
        self._subscriptions = [
            node.create_subscription(InteractiveMarkerUpdate, f'{namespace}/update',
                                     self._take, QoSProfile(depth=100)),
            node.create_subscription(TFMessage, '/tf', self._hear, QoSProfile(depth=100)),
            node.create_subscription(TFMessage, '/tf_static', self._hear, static)]
        self._timer = node.create_timer(FRAME, self._step)

    def close(self):
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self._feedback)
        self._node.destroy_client(self._service)

    @property
    def is_heard(self):
        """Return True if it has all markers and a server receives its feedback."""
        return self.state is State.RUNNING and self._feedback.get_subscription_count() > 0

    def send(self, **fields):
        """Send feedback."""
        self._feedback.publish(InteractiveMarkerFeedback(client_id=self._name, **fields))

    def _hear(self, message):
        for transform in message.transforms:
            self._frames |= {transform.header.frame_id, transform.child_frame_id}

    def _reset(self):
        self.state, self._last, self._response = State.IDLE, None, None
        self._queue = deque()
        self.markers = {}

    def _warn(self, text):
        self.warnings.append(text)

    def _take(self, update):
        if update.type == update.KEEP_ALIVE:
            self._warn('KEEP_ALIVE')
            return
        if self._last is not None and update.seq_num != self._last + 1:
            self._warn(f'update {update.seq_num} after {self._last}')
            self._reset()
            return
        self._last = update.seq_num
        if len(self._queue) > QUEUE:
            self._warn('too many updates')
            self._queue.popleft()
        self._queue.append(update)

    def _step(self):
        is_ready = self._service.service_is_ready()
        if self.state is State.IDLE:
            if is_ready:
                self._request()
        elif not is_ready:
            self._warn(f'no server in {self.state.name}')
            self._reset()
        elif self.state is State.INITIALIZE:
            self._initialize()
        else:
            self._push()

    def _request(self):
        self.state, self._asked = State.INITIALIZE, time.monotonic()
        self._service.call_async(GetInteractiveMarkers.Request()).add_done_callback(self._receive)

    def _receive(self, future):
        self._response = future.result()

    def _initialize(self):
        if self._response is None:
            if time.monotonic() > self._asked + TIMEOUT:
                self._request()     # on a busy machine the first answer may be late
        elif not all(map(self._is_placed, self._response.markers)):
            self._reset()       # without a word: it asks until the frame is there
        else:
            while self._queue and self._queue[0].seq_num <= self._response.sequence_number:
                self._queue.popleft()
            self._show(self._response.markers)
            self.state = State.RUNNING

    def _push(self):
        if not all(map(self._is_placed, (each for update in self._queue
                                         for each in (*update.markers, *update.poses)))):
            self._warn('a frame that is not there')
            self._reset()
            return
        while self._queue:
            update = self._queue.popleft()
            self._show(update.markers)
            for moved in update.poses:
                if moved.name not in self.markers:
                    self._warn(f"moves '{moved.name}', which is not there")
                elif not _is_finite(moved.pose):
                    self._warn(f"'{moved.name}' is moved to no pose")
                else:
                    self.markers[moved.name].pose = moved.pose
            for name in update.erases:
                self.markers.pop(name, None)

    def _is_placed(self, item):
        header = item.header
        if header.stamp.sec or header.stamp.nanosec:
            self._warn(f"'{item.name}' has a stamp")
        return header.frame_id == self._fixed or {header.frame_id, self._fixed} <= self._frames

    def _show(self, markers):
        for marker in markers:
            self.markers[marker.name] = marker
            for fault in _faults(marker):
                self._warn(f"'{marker.name}': {fault}")


def _faults(marker):
    """Yield the reasons why RViz would not show a marker, or would show it differently."""
    names = [control.name for control in marker.controls]
    if not names:
        yield 'no controls'
    if len({*names}) < len(names):
        yield f'controls of one name: {names}'
    if not _is_finite(marker.pose):
        yield 'no pose'
    if any(shape.header.frame_id for control in marker.controls for shape in control.markers):
        yield 'a shape in a frame of its own'
    known = {0}
    for entry in marker.menu_entries:
        if entry.id in known or entry.parent_id not in known:
            yield f'entry {entry.id} of {entry.parent_id}'
        if entry.command_type != MenuEntry.FEEDBACK:
            yield f'entry {entry.id} is a command for a shell'
        known.add(entry.id)


def _is_finite(pose):
    at, turn = pose.position, pose.orientation
    return all(map(math.isfinite, (at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w)))
