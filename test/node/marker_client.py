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

DRAW_PERIOD = 1 / 30        # of RViz [s]
TIMEOUT = 1.0               # until the request for all markers is repeated [s]
QUEUE_SIZE = 100            # of updates


class State(Enum):
    """State of the client: idle, waiting for all markers, or applying updates."""

    IDLE = 0
    INITIALIZE = 1
    RUNNING = 2


class MarkerClient:
    """
    Markers of a server as RViz shows them in a fixed frame.

    `warnings` lists everything that RViz would report as a warning or an error.
    """

    def __init__(self, node, namespace, fixed_frame, name='rviz'):
        self._node, self._fixed_frame, self._name = node, fixed_frame, name
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
                                     self._receive_update, QoSProfile(depth=100)),
            node.create_subscription(TFMessage, '/tf', self._receive_tf, QoSProfile(depth=100)),
            node.create_subscription(TFMessage, '/tf_static', self._receive_tf, static)]
        self._timer = node.create_timer(DRAW_PERIOD, self._step)

    def close(self):
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self._feedback)
        self._node.destroy_client(self._service)

    @property
    def is_connected(self):
        """Return True if all markers have arrived and a server has discovered the feedback."""
        return self.state is State.RUNNING and self._feedback.get_subscription_count() > 0

    def send(self, **fields):
        self._feedback.publish(InteractiveMarkerFeedback(client_id=self._name, **fields))

    def _receive_tf(self, message):
        for transform in message.transforms:
            self._frames |= {transform.header.frame_id, transform.child_frame_id}

    def _reset(self):
        self.state, self._last, self._response = State.IDLE, None, None
        self._queue = deque()
        self.markers = {}

    def _warn(self, text):
        self.warnings.append(text)

    def _receive_update(self, update):
        if update.type == update.KEEP_ALIVE:
            self._warn('KEEP_ALIVE')
            return
        if self._last is not None and update.seq_num != self._last + 1:
            self._warn(f'update {update.seq_num} after {self._last}')
            self._reset()
            return
        self._last = update.seq_num
        if len(self._queue) > QUEUE_SIZE:
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
            self._apply_updates()

    def _request(self):
        self.state, self._request_time = State.INITIALIZE, time.monotonic()
        self._service.call_async(GetInteractiveMarkers.Request()).add_done_callback(self._receive)

    def _receive(self, future):
        self._response = future.result()

    def _initialize(self):
        if self._response is None:
            if time.monotonic() > self._request_time + TIMEOUT:
                self._request()     # on a busy machine the first response may be late
        elif not all(map(self._has_transform, self._response.markers)):
            self._reset()       # RViz retries without a warning until the frame exists
        else:
            while self._queue and self._queue[0].seq_num <= self._response.sequence_number:
                self._queue.popleft()
            self._show(self._response.markers)
            self.state = State.RUNNING

    def _apply_updates(self):
        if not all(map(self._has_transform, (each for update in self._queue
                                             for each in (*update.markers, *update.poses)))):
            self._warn('unknown frame')
            self._reset()
            return
        while self._queue:
            update = self._queue.popleft()
            self._show(update.markers)
            for moved in update.poses:
                if moved.name not in self.markers:
                    self._warn(f"pose of unknown marker '{moved.name}'")
                elif not _is_finite(moved.pose):
                    self._warn(f"pose of '{moved.name}' is not finite")
                else:
                    self.markers[moved.name].pose = moved.pose
            for name in update.erases:
                self.markers.pop(name, None)

    def _has_transform(self, item):
        header = item.header
        if header.stamp.sec or header.stamp.nanosec:
            self._warn(f"'{item.name}' has a stamp")
        pair = {header.frame_id, self._fixed_frame}
        return len(pair) == 1 or pair <= self._frames

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
        yield f'controls with the same name: {names}'
    if not _is_finite(marker.pose):
        yield 'pose is not finite'
    if any(shape.header.frame_id for control in marker.controls for shape in control.markers):
        yield 'a shape has its own frame'
    known = {0}
    for entry in marker.menu_entries:
        if entry.id in known or entry.parent_id not in known:
            yield f'entry {entry.id} with parent {entry.parent_id}'
        if entry.command_type != MenuEntry.FEEDBACK:
            yield f'entry {entry.id} is a shell command'
        known.add(entry.id)


def _is_finite(pose):
    p, q = pose.position, pose.orientation
    return all(map(math.isfinite, (p.x, p.y, p.z, q.x, q.y, q.z, q.w)))
