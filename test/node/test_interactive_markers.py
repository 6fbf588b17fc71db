"""
The protocol of interactive markers, as this package's server and the reference one speak it.

The same calls on both have to give the same traffic. The reference is the package
interactive_markers, where it is installed.
"""

from contextlib import contextmanager
from importlib.util import find_spec
import time

from geometry_msgs.msg import Point, Pose, Quaternion
from marker_client import MarkerClient
from node_harness import Client, eventually
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    MenuEntry,
)
from visualization_msgs.srv import GetInteractiveMarkers

from ros2_ik.view.interactive_markers import InteractiveMarkers

MOVED = InteractiveMarkerFeedback.POSE_UPDATE
WAIT = 0.3      # for messages that must not come [s]


class Ours(Client):
    """Our server, in a participant of its own."""

    def __init__(self, domain, taken):
        super().__init__(domain)
        self._taken = taken
        self._markers = InteractiveMarkers(self.node, 'goals', self._take)
        self.show, self.move = self._markers.show, self._markers.move

    def _take(self, feedback):
        if feedback.event_type == MOVED:
            self._markers.move(feedback.marker_name, feedback.pose)
        self._taken(feedback)


class Reference(Client):
    """That of the package, which itself moves what is dragged."""

    def __init__(self, domain, taken):
        from interactive_markers import InteractiveMarkerServer
        super().__init__(domain)
        self._taken, self._shown = taken, {}
        self._markers = InteractiveMarkerServer(self.node, 'goals')

    def show(self, markers):
        given = {marker.name: marker for marker in markers}
        for name, marker in given.items():
            if marker != self._shown.get(name):
                self._markers.insert(marker, feedback_callback=self._taken)
        for name in self._shown.keys() - given.keys():
            self._markers.erase(name)
        self._markers.applyChanges()
        if given.keys() - self._shown.keys():
            time.sleep(1.05)    # until then it takes nobody's feedback of new markers
        self._shown = given

    def move(self, name, pose):
        self._markers.setPose(name, pose)
        self._markers.applyChanges()

    def close(self):
        self.on_executor(self._markers.shutdown)
        super().close()


@pytest.fixture(params=[Ours, pytest.param(Reference, marks=pytest.mark.skipif(
    find_spec('interactive_markers') is None, reason="package 'interactive_markers' is absent"))])
def serve(request, domain):
    """Give a context that has a server; what is taken of feedback goes to its argument."""
    @contextmanager
    def serve(taken=lambda _: None):
        server = request.param(domain, taken)
        try:
            yield server
        finally:
            server.close()
    return serve


@pytest.fixture
def traffic(client):
    """Give what is heard on the topic of updates: number, markers, places, names erased."""
    heard = []

    def hear(update):
        assert update.type == InteractiveMarkerUpdate.UPDATE and not update.server_id
        heard.append((update.seq_num, [_described(marker) for marker in update.markers],
                      [(moved.name, moved.header.frame_id, moved.pose.position.x)
                       for moved in update.poses], list(update.erases)))
    subscription = client.node.create_subscription(InteractiveMarkerUpdate, 'goals/update', hear,
                                                   QoSProfile(depth=100))
    yield heard
    client.node.destroy_subscription(subscription)


@pytest.fixture
def rviz(client):
    """Give a function that starts a client; none may have anything to warn of."""
    started = []

    def start(name):
        started.append(MarkerClient(client.node, 'goals', 'base', name))
        return started[-1]
    yield start
    for each in started:
        client.on_executor(each.close)
        assert not each.warnings


def marker(name, x, *titles):
    """Return a marker in the frame base, with a menu."""
    return InteractiveMarker(
        header=Header(frame_id='base'), name=name, pose=pose(x), scale=0.25,
        menu_entries=[MenuEntry(id=number, title=title) for number, title in enumerate(titles, 1)],
        controls=[InteractiveMarkerControl(
            name='ball', interaction_mode=InteractiveMarkerControl.MOVE_3D)])


def pose(x):
    return Pose(position=Point(x=x), orientation=Quaternion(w=1.0))


def _described(marker):
    return marker.name, marker.pose.position.x, [entry.title for entry in marker.menu_entries]


def all_markers(client):
    """Return the number of the last update, and what the service has."""
    answer = client.call(GetInteractiveMarkers, 'goals/get_interactive_markers',
                         GetInteractiveMarkers.Request())
    return answer.sequence_number, [_described(marker) for marker in answer.markers]


@pytest.fixture
def server(serve, taken):
    """Give a server."""
    with serve(lambda feedback: taken.append(
            (feedback.client_id, feedback.marker_name, feedback.event_type))) as server:
        yield server


@pytest.fixture
def taken():
    """Give what the server has taken of feedback."""
    return []


def test_updates(client, server, traffic, rviz):
    """Markers are told when they come or change, their poses when they move, and erased."""
    first = rviz('first')
    eventually(lambda: first.is_heard and client.node.count_publishers('goals/update'), 'server')
    info, = client.node.get_publishers_info_by_topic('goals/update')
    assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    assert info.qos_profile.durability == DurabilityPolicy.VOLATILE
    assert all_markers(client) == (0, [])
    server.show([marker('a', 0.1, '[ ] level', 'stop'), marker('b', 0.2)])
    server.show([marker('a', 0.1, '[ ] level', 'stop'), marker('b', 0.2)])   # nothing new
    server.move('a', pose(0.3))
    server.show([marker('a', 0.3, '[x] level', 'stop')])
    server.show([])
    server.show([marker('c', 0.4)])
    expected = [(1, [('a', 0.1, ['[ ] level', 'stop']), ('b', 0.2, [])], [], []),
                (2, [], [('a', 'base', 0.3)], []),
                (3, [('a', 0.3, ['[x] level', 'stop'])], [], ['b']),
                (4, [], [], ['a']),
                (5, [('c', 0.4, [])], [], [])]
    eventually(lambda: len(traffic) >= len(expected), 'all updates')
    time.sleep(WAIT)
    assert traffic == expected
    assert all_markers(client) == (5, [('c', 0.4, [])])
    late = rviz('late')
    eventually(lambda: late.is_heard, 'the late one')
    assert first.markers == late.markers == {'c': marker('c', 0.4)}


def test_drags(client, server, taken, traffic, rviz):
    """A dragged marker moves for all clients; each client may drag another marker."""
    one, two = rviz('one'), rviz('two')
    server.show([marker('a', 0.1, 'stop'), marker('b', 0.2)])
    eventually(lambda: one.is_heard and two.is_heard and len(one.markers) == 2, 'markers')

    def drag(who, name, **fields):
        count = len(taken)
        who.tell(marker_name=name, **fields)
        eventually(lambda: len(taken) > count, 'taken')
    drag(one, 'a', event_type=MOVED, pose=pose(0.3))
    drag(one, 'a', event_type=InteractiveMarkerFeedback.MOUSE_UP, pose=pose(0.3))
    two.tell(marker_name='nobody', event_type=MOVED, pose=pose(0.9))
    drag(two, 'b', event_type=MOVED, pose=pose(0.4))
    drag(one, 'a', event_type=InteractiveMarkerFeedback.MENU_SELECT, menu_entry_id=1)
    time.sleep(WAIT)
    assert taken == [('one', 'a', MOVED), ('one', 'a', InteractiveMarkerFeedback.MOUSE_UP),
                     ('two', 'b', MOVED), ('one', 'a', InteractiveMarkerFeedback.MENU_SELECT)]
    assert [update[1:] for update in traffic[-2:]] == [
        ([], [('a', 'base', 0.3)], []), ([], [('b', 'base', 0.4)], [])]
    last = traffic[-1][0]
    assert all_markers(client) == (last, [('a', 0.3, ['stop']), ('b', 0.4, [])])
    assert one.markers == two.markers == {'a': marker('a', 0.3, 'stop'), 'b': marker('b', 0.4)}


def test_a_server_that_comes_again(client, serve):
    """Its numbers begin anew; a client then asks for all markers, and has none meanwhile."""
    rviz = MarkerClient(client.node, 'goals', 'base')
    try:
        with serve() as server:
            server.show([marker('a', 0.1)])
            eventually(lambda: 'a' in rviz.markers, 'a')
            server.move('a', pose(0.2))
            eventually(lambda: rviz.markers['a'].pose == pose(0.2), 'its pose')
        eventually(lambda: not rviz.markers, 'none')
        with serve() as server:
            server.show([marker('b', 0.3)])
            eventually(lambda: rviz.is_heard and [*rviz.markers] == ['b'], 'b')
            server.move('b', pose(0.4))
            eventually(lambda: rviz.markers['b'].pose == pose(0.4), 'its pose')
            assert rviz.warnings == ['no server in RUNNING']
    finally:
        client.on_executor(rviz.close)
