"""Goals to drag, by a client that keeps RViz's rules; the ghost is judged by its links."""

import time

from arm_harness import at_home, HOME, mock_robot, Recorder, TRAJECTORIES
from goals_harness import Ghost, goals, GREEN, message, ORANGE, placed, RED, Rviz
from node_harness import eventually, nodes
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import apply, box, diff, empty, pose
from std_msgs.msg import String
from visualization_msgs.msg import InteractiveMarkerFeedback

from ros2_ik.core import Configuration, Robot

TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def arm(client, domain, tmp_path_factory):
    """Give a panda and a node that moves it."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock, \
            nodes(domain, tmp_path_factory.mktemp('node')) as start, \
            goals(domain, tmp_path_factory.mktemp('goals')):
        node = start(**TRAJECTORIES)
        at_home(client)
        mock.node = node
        yield mock
    assert 'Traceback' not in node.text, node.text


@pytest.fixture
def rviz(client, arm):
    rviz = Rviz(client)
    eventually(lambda: TIP in rviz.markers, 'the marker')
    rviz.choose(TIP, 'back to the arm')
    eventually(lambda: rviz.ghosts and Ghost(rviz.ghosts[-1]).color == GREEN, 'the ghost')
    yield rviz
    rviz.close()


def hand(array):
    """Return where the ghost's hand is (SE3)."""
    marker = next(each for each in Ghost(array).links if 'hand' in each.mesh_resource)
    return placed(marker.pose)


def shown(rviz, condition, what):
    """Wait for a ghost, and return it."""
    return eventually(lambda: next((ghost for ghost in map(Ghost, rviz.ghosts[-1:])
                                    if condition(ghost)), None), what)


def test_the_marker_is_where_the_tip_is(rviz, panda):
    T = Configuration(panda, panda.to_q(HOME)).transform(TIP)
    np.testing.assert_allclose(rviz.place(TIP).homogeneous, T, atol=1e-3)
    assert len(rviz.markers[TIP].controls) == 7


def test_the_ghost_follows_the_drag(rviz):
    """Its hand moves as the marker does, and no joint jumps to another branch."""
    start, before = rviz.place(TIP), hand(rviz.ghosts[-1])
    for step in range(1, 31):
        rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, 0.005 * step, 0]))
        time.sleep(1 / 30)
    there = before.translation + [0, 0.15, 0]
    eventually(lambda: np.allclose(hand(rviz.ghosts[-1]).translation, there, atol=1e-4),
               'the hand there')
    ways = [hand(array).translation for array in rviz.ghosts]
    assert max(np.linalg.norm(b - a) for a, b in zip(ways, ways[1:], strict=False)) < 0.06
    links = [np.array([placed(each.pose).translation for each in Ghost(array).links])
             for array in rviz.ghosts]
    assert max(np.abs(b - a).max() for a, b in zip(links, links[1:], strict=False)) < 0.1
    np.testing.assert_allclose(hand(rviz.ghosts[-1]).rotation, before.rotation, atol=1e-3)


def test_out_of_reach(rviz):
    start = rviz.place(TIP)
    rviz.drag(TIP, pin.SE3(start.rotation, np.array([2.0, 0.0, 0.5])), release=True)
    ghost = shown(rviz, lambda ghost: ghost.color == RED, 'red')
    assert 'largest joint change' in ghost.text and max(map(len, ghost.text.splitlines())) <= 40
    eventually(lambda: np.allclose(rviz.place(TIP).translation, [2.0, 0, 0.5]), 'it let go')


def test_in_a_block(client, rviz):
    """What touches is told, and shown where; without collisions it is a solution."""
    start = rviz.place(TIP)
    apply(client, diff(box('block', 0.4, at=pose(0.55, 0, 0.1))))
    try:
        rviz.drag(TIP, pin.SE3(start.rotation, np.array([0.5, 0.0, 0.25])), release=True)
        ghost = shown(rviz, lambda ghost: ghost.color == ORANGE, 'orange')
        assert ghost.contacts and 'block' in ghost.text
        rviz.choose(TIP, 'avoid collisions')
        shown(rviz, lambda ghost: ghost.color == GREEN, 'green')
        eventually(lambda: any(each.title == '[ ] avoid collisions'
                               for each in rviz.markers[TIP].menu_entries), 'the box is off')
        rviz.choose(TIP, 'avoid collisions')
        shown(rviz, lambda ghost: ghost.color == ORANGE, 'orange again')
    finally:
        empty(client)


def test_the_arm_goes_there_only_by_the_menu(client, rviz):
    start, record = rviz.place(TIP), Recorder(client)
    record.listen()
    at = record.still()
    goal = pin.SE3(start.rotation, start.translation + [0.05, 0.1, -0.05])
    rviz.drag(TIP, goal, release=True)
    eventually(lambda: np.allclose(rviz.place(TIP).homogeneous, goal.homogeneous), 'it is told')
    np.testing.assert_allclose(record.still(), at, atol=1e-9)
    rviz.choose(TIP, 'execute')     # of the answer to the drag, be it under way still
    panda = Robot.load('panda')

    def arrived():
        q = panda.to_q(dict(zip(HOME, record.at(), strict=True)))
        return np.allclose(Configuration(panda, q).transform(TIP), goal.homogeneous, atol=2e-3)
    eventually(arrived, 'the arm there')
    shown(rviz, lambda ghost: 'on the way' not in ghost.text, 'what became of it')
    record.close()


def test_another_description_on_the_way(client, arm, rviz, panda):
    """The motion ends, and so does all that was to be said of it; markers come anew."""
    start, record = rviz.place(TIP), Recorder(client)
    at = record.at()
    move = next(each.id for each in rviz.markers[TIP].menu_entries if each.title == 'execute')
    rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, -0.3, 0]), release=True)
    rviz.choose(TIP, 'execute')
    eventually(lambda: np.abs(record.at() - at).max() > 0.05, 'it moves')
    client.publish('robot_description', String(data=Robot.load('ur5').urdf), latched=True)
    rviz.tell(TIP, InteractiveMarkerFeedback.MENU_SELECT, entry=move)
    rest = record.still()
    eventually(lambda: not rviz.markers, 'no markers')
    client.describe(panda)
    eventually(lambda: TIP in rviz.markers and np.allclose(
        rviz.place(TIP).homogeneous, Configuration(panda, panda.to_q(
            dict(zip(HOME, rest, strict=True)))).transform(TIP), atol=1e-3), 'markers at the arm')
    rviz.warnings.clear()   # the server went and came, and numbers its updates from 1 again
    np.testing.assert_allclose(record.still(), rest, atol=1e-6)
    record.close()


def test_a_pose_that_is_none_changes_nothing(rviz):
    bad = pin.SE3(np.eye(3), np.array([np.nan, 0, 0]))
    start = rviz.place(TIP)
    rviz.drag(TIP, bad, release=True)
    rviz.tell('nobody', 1)
    rviz.tell(TIP, 2, entry=99)
    rviz.drag(TIP, start, release=True)
    shown(rviz, lambda ghost: ghost.color == GREEN, 'green')
    moved = start * pin.SE3(np.eye(3), np.array([0, 0, 0.1]))
    rviz.tell(TIP, 1, message(moved), frame='map')
    rviz.tell(TIP, 1, message(pin.SE3(np.eye(3), np.array([1e300, 0, 0]))))
    rviz.choose(TIP, 'avoid collisions')      # processed after that
    eventually(lambda: any(one.title == '[ ] avoid collisions'
                           for one in rviz.markers[TIP].menu_entries), 'the menu')
    np.testing.assert_allclose(rviz.place(TIP).homogeneous, start.homogeneous, atol=1e-9)
    rviz.choose(TIP, 'avoid collisions')


def test_anybody_stops_the_arm_also_while_another_drags(client, rviz):
    start, record, other = rviz.place(TIP), Recorder(client), Rviz(client, 'other')
    at = record.at()
    rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, -0.3, 0]), release=True)
    rviz.choose(TIP, 'execute')
    eventually(lambda: np.abs(record.at() - at).max() > 0.05, 'it moves')
    rviz.drag(TIP, start, release=True)
    other.choose(TIP, 'stop')
    rest = record.still()
    assert np.linalg.norm(_tip(rest) - start.translation) < 0.2
    other.close()
    record.close()


def _tip(joints):
    panda = Robot.load('panda')
    return Configuration(panda, panda.to_q(dict(zip(HOME, joints, strict=True)))).transform(
        TIP)[:3, 3]
