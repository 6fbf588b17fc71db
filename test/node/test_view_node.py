"""The session of a page with the robot of a node: what it shows is judged by joint_states."""

import os
import signal

from arm_harness import ARM, at_home, HOME, mock_robot, Recorder, TRAJECTORIES
from node_harness import eventually, nodes, seed
import numpy as np
import pytest
from scene_harness import applied, box, diff, empty, objects, pose
from std_msgs.msg import String

from ros2_ik.cli.node_arm import LATCHED
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.view import node_session
from ros2_ik.core import Box, Configuration, IKError, SceneObject
from ros2_ik.srv import ComputeFK
from ros2_ik.view.answer import Reached

TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def arm(client, domain, tmp_path_factory):
    """Give a panda and a node that moves it."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')) as mock, \
            nodes(domain, tmp_path_factory.mktemp('node')) as start:
        mock.start = lambda: start(**TRAJECTORIES)
        mock.node = mock.start()
        at_home(client)
        yield mock


def until(session, condition, what):
    def look():
        session.attempt(session.step)
        return condition()
    return eventually(look, what, 30.0)


@pytest.fixture
def viewer(client, arm, domain, monkeypatch):
    """Give a session of the node, in a context of its own as a command has it."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    with NodeClient('/ros2_ik') as own:
        session = node_session(own, [TIP], None)
        until(session, lambda: session.arm.q.any(), 'joint_states')
        yield session


def tip_of(session, q):
    return Configuration(session.robot, q).transform(TIP)


def test_it_stands_where_the_robot_does(viewer):
    until(viewer, lambda: np.allclose([viewer.robot.to_joints(viewer.arm.q)[name] for name in ARM],
                                      [HOME[name] for name in ARM], atol=1e-3), 'home')
    with pytest.raises(IKError, match='stands where it is'):
        viewer.arm.place(viewer.arm.q)


def test_a_drag_is_answered_and_the_robot_goes_there(client, viewer):
    viewer.back_to_robot()
    T = viewer.problem.targets[TIP].copy()
    for _ in range(10):
        T = T.copy()
        T[:3, 3] += [0.005, 0.01, -0.005]
        viewer.drag(TIP, T)
        assert viewer.answer.accepted, viewer.status
        np.testing.assert_allclose(tip_of(viewer, viewer.answer.q), T, atol=1e-4)
    record = Recorder(client)
    record.listen()
    viewer.move_there()
    until(viewer, lambda: 'SUCCESS' in viewer.status and 'arrived' in viewer.status, 'arrival')
    q = viewer.robot.to_q(dict(zip(ARM, record.still(), strict=True)), viewer.arm.q)
    np.testing.assert_allclose(tip_of(viewer, q), T, atol=2e-3)
    record.close()


def test_stop_brakes_the_robot_on_its_way(client, viewer):
    assert client.set('velocity_scaling', 0.02).successful
    viewer.back_to_robot()
    T, record = viewer.problem.targets[TIP].copy(), Recorder(client)
    T[:3, 3] += [0.0, -0.2, 0.0]
    viewer.drag(TIP, T)
    before = record.at()
    viewer.move_there()
    until(viewer, lambda: np.abs(record.at() - before).max() > 1e-3, 'it moves')
    viewer.stop()
    until(viewer, lambda: 'PREEMPTED: stopped on the way' in viewer.status, 'it is said')
    q = viewer.robot.to_q(dict(zip(ARM, record.still(), strict=True)), viewer.arm.q)
    assert tip_of(viewer, q)[1, 3] > T[1, 3] + 0.05
    assert client.set('velocity_scaling', 0.1).successful
    record.close()


def test_objects_go_to_the_node(client, viewer):
    viewer.back_to_robot()
    T = viewer.problem.targets[TIP].copy()
    viewer.solve()
    block = np.eye(4)
    block[:3, 3] = T[:3, 3]
    try:
        viewer.change_scene(viewer.arm.scene.add(
            SceneObject('block', [Box([0.2] * 3)], pose=block)))
        assert 'block' in objects(client)
        assert viewer.answer.reached is Reached.TOUCHING
        assert any('block' in (one.first, one.second) for one in viewer.answer.contacts)
        away = block.copy()
        away[:3, 3] += [0.0, 0.8, 0.0]
        viewer.change_scene(viewer.arm.scene.move('block', away))
        assert objects(client)['block'].pose.position.y == pytest.approx(away[1, 3])
        assert viewer.answer.accepted
        viewer.change_scene(viewer.arm.scene.remove('block'))
        assert 'block' not in objects(client)
    finally:
        empty(client)


def test_what_others_put_there_is_seen(client, viewer):
    applied(client, diff(box('theirs', 0.1, at=pose(0.5, 0.5, 0.5))))
    until(viewer, lambda: 'theirs' in viewer.arm.scene.objects, 'their object')
    empty(client)
    until(viewer, lambda: not viewer.arm.scene.objects, 'no object')


def test_joint_states_that_stop_are_told(arm, viewer):
    """What the page shows of the robot is old then."""
    os.kill(arm.process.pid, signal.SIGSTOP)
    try:
        until(viewer, lambda: 'joint_states are silent for ' in viewer.status, 'silence')
    finally:
        os.kill(arm.process.pid, signal.SIGCONT)
    until(viewer, lambda: 'there again' in viewer.status, 'no silence')


def test_a_node_that_goes_and_comes_back(client, arm, viewer):
    viewer.solve()
    assert viewer.answer.accepted
    arm.node.end()
    until(viewer, lambda: 'is gone' in viewer.status, 'it is said')
    viewer.attempt(viewer.solve)
    assert 'gone' in viewer.status
    arm.node = arm.start()
    until(viewer, lambda: 'there again' in viewer.status, 'it is said')
    at_home(client)
    viewer.solve()
    assert viewer.answer.accepted


def test_another_robot_than_the_one_drawn_is_said_and_nothing_is_done(client, viewer):
    viewer.solve()
    assert viewer.answer.accepted
    publisher = client.node.create_publisher(String, '/robot_description', LATCHED)
    publisher.publish(String(data="""<robot name="other"><link name="base"/><link name="tip"/>
        <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint>
        </robot>"""))    # the last test of this file: the node has it, too
    known = ComputeFK.Request(links=['tip'], state=seed({'turn': 0.0}))
    eventually(lambda: client.answered(ComputeFK, 'ros2_ik/compute_fk', known), 'the node has it')
    until(viewer, lambda: 'another robot_description' in viewer.status, 'it is said')
    for work in viewer.move_there, viewer.solve:
        with pytest.raises(IKError, match='another robot_description'):
            work()
    viewer.stop()
    client.node.destroy_publisher(publisher)
