"""Draggable goals of `ros2_ik goals`, with a client like RViz; the ghost shows the solution."""

from arm_harness import HOME
from goals_harness import Ghost, goals_command, GREEN, ORANGE, Rviz
from node_harness import eventually, matrix, stamped
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import apply_scene, box, clear_scene, diff, pose
from std_msgs.msg import String

from ros2_ik.core import Configuration, Robot

TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def command(client, domain, standard_parameters, tmp_path_factory):
    assert client.set('velocity_scaling', 0.1).successful
    with goals_command(domain, tmp_path_factory.mktemp('goals')) as run:
        yield run


@pytest.fixture
def rviz(client, command):
    rviz = Rviz(client)
    eventually(lambda: TIP in rviz.markers, 'the marker')
    rviz.choose(TIP, 'back to the arm')
    eventually(lambda: rviz.ghosts and Ghost(rviz.ghosts[-1]).color == GREEN, 'the ghost')
    yield rviz
    rviz.close()


def hand(array):
    """Return the pose of the hand of a ghost (SE3)."""
    marker = next(each for each in Ghost(array).links if 'hand' in each.mesh_resource)
    return pin.SE3(matrix(marker.pose))


def wait_for_ghost(rviz, condition, what):
    """Wait until the last ghost fulfils a condition; return the ghost."""
    return eventually(lambda: next((ghost for ghost in map(Ghost, rviz.ghosts[-1:])
                                    if condition(ghost)), None), what)


def test_ghost_follows_a_drag_without_branch_jumps(rviz, home, panda):
    rviz.choose(TIP, 'back to the arm')
    T = Configuration(panda, panda.to_q(HOME)).transform(TIP)
    eventually(lambda: np.allclose(rviz.pose(TIP).homogeneous, T, atol=1e-3) and np.allclose(
        hand(rviz.ghosts[-1]).act(np.array([0, 0, 0.1034])), T[:3, 3], atol=1e-3),
        'marker and ghost at the arm')
    assert len(rviz.markers[TIP].controls) == 7
    start, before = rviz.pose(TIP), hand(rviz.ghosts[-1])
    for step in range(1, 16):
        count = len(rviz.ghosts)
        rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, 0.01 * step, 0]))
        eventually(lambda count=count: len(rviz.ghosts) > count, 'a ghost')
    goal = before.translation + [0, 0.15, 0]
    eventually(lambda: np.allclose(hand(rviz.ghosts[-1]).translation, goal, atol=1e-4),
               'the ghost at the goal')
    links = [np.array([matrix(each.pose)[:3, 3] for each in Ghost(array).links])
             for array in rviz.ghosts[-15:]]
    assert max(np.abs(b - a).max() for a, b in zip(links, links[1:], strict=False)) < 0.1
    np.testing.assert_allclose(hand(rviz.ghosts[-1]).rotation, before.rotation, atol=1e-3)


def test_goal_inside_an_object_is_orange_until_collisions_are_allowed(client, home, rviz):
    start = rviz.pose(TIP)
    apply_scene(client, diff(box('block', 0.4, at=pose(0.55, 0, 0.1))))
    rviz.drag(TIP, pin.SE3(start.rotation, np.array([0.5, 0.0, 0.25])), release=True)
    ghost = wait_for_ghost(rviz, lambda ghost: ghost.color == ORANGE, 'orange')
    assert ghost.contacts and 'block' in ghost.text
    rviz.choose(TIP, 'avoid collisions')
    wait_for_ghost(rviz, lambda ghost: ghost.color == GREEN, 'green')
    eventually(lambda: any(each.title == '[ ] avoid collisions'
                           for each in rviz.markers[TIP].menu_entries), 'the unchecked menu entry')
    rviz.choose(TIP, 'avoid collisions')
    wait_for_ghost(rviz, lambda ghost: ghost.color == ORANGE, 'orange again')
    clear_scene(client)


def test_arm_moves_only_after_execute_in_the_menu(rviz, record):
    start, rest = rviz.pose(TIP), record.wait_for_rest()
    goal = pin.SE3(start.rotation, start.translation + [0.05, 0.1, -0.05])
    rviz.drag(TIP, goal, release=True)
    eventually(lambda: np.allclose(rviz.pose(TIP).homogeneous, goal.homogeneous),
               'the marker at the goal')
    np.testing.assert_allclose(record.wait_for_rest(), rest, atol=1e-9)
    rviz.choose(TIP, 'execute')     # waits for the solution of the drag
    eventually(lambda: np.allclose(tip_at(record.read()), goal.homogeneous, atol=2e-3),
               'the arm at the goal')
    wait_for_ghost(rviz, lambda ghost: 'on the way' not in ghost.text, 'the end of the motion')


def test_malformed_feedback_is_ignored(rviz, record):
    bad = pin.SE3(np.eye(3), np.array([np.nan, 0, 0]))
    start = pin.SE3(tip_at(record.read()))
    rviz.drag(TIP, start, release=True)
    eventually(lambda: np.allclose(rviz.pose(TIP).homogeneous, start.homogeneous, rtol=0,
                                   atol=1e-9), 'the marker at the arm')
    rviz.drag(TIP, bad, release=True)
    rviz.send_feedback('nobody', 1)
    rviz.send_feedback(TIP, 2, entry=99)
    rviz.drag(TIP, start, release=True)
    wait_for_ghost(rviz, lambda ghost: ghost.color == GREEN, 'green')
    moved = start * pin.SE3(np.eye(3), np.array([0, 0, 0.1]))
    rviz.send_feedback(TIP, 1, stamped(moved.homogeneous).pose, frame='map')
    for mark in ' x':   # the menu changes after all earlier feedback
        rviz.choose(TIP, 'avoid collisions')
        eventually(lambda mark=mark: any(entry.title == f'[{mark}] avoid collisions'
                                         for entry in rviz.markers[TIP].menu_entries), 'the menu')
    np.testing.assert_allclose(rviz.pose(TIP).homogeneous, start.homogeneous, atol=1e-9)


def test_second_client_stops_the_arm_while_the_first_one_drags(client, rviz, record):
    start, other, at = rviz.pose(TIP), Rviz(client, 'other'), record.read()
    rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, -0.3, 0]), release=True)
    rviz.choose(TIP, 'execute')
    eventually(lambda: np.abs(record.read() - at).max() > 0.05, 'motion')
    rviz.drag(TIP, start, release=True)
    other.choose(TIP, 'stop')
    assert np.linalg.norm(tip_at(record.wait_for_rest())[:3, 3] - start.translation) < 0.2
    other.close()


def test_new_robot_description_ends_the_motion_and_the_goals_command(
        client, command, rviz, record, panda):
    """This test is the last of the module."""
    start, at = rviz.pose(TIP), record.read()
    rviz.drag(TIP, pin.SE3(start.rotation, start.translation + [0, -0.3, 0]), release=True)
    rviz.choose(TIP, 'execute')
    eventually(lambda: np.abs(record.read() - at).max() > 0.05, 'motion')
    client.publish('robot_description', String(data='<robot'), latched=True)
    eventually(lambda: 'waiting for another robot description' in command.text, 'a warning')
    client.publish('robot_description', String(data=Robot.load('ur5').urdf), latched=True)
    try:
        record.wait_for_rest()
        assert command.process.wait(10) == 2 and 'another robot_description' in command.text
        eventually(lambda: not rviz.markers, 'no markers')
        eventually(lambda: rviz.warnings == ['no server in RUNNING'], 'no server')
        rviz.warnings.clear()
    finally:
        client.publish_robot(panda)


def tip_at(joints):
    """Return the pose of the tip at joint values of the arm (4, 4)."""
    panda = Robot.load('panda')
    return Configuration(panda, panda.to_q(dict(zip(HOME, joints, strict=True)))).transform(TIP)
