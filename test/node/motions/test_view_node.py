"""The session of a viewer page that shows and moves the robot of a node."""

from contextlib import contextmanager

from arm_harness import ARM, HOME, TRAJECTORIES, wait_for_robot
from node_harness import eventually, nodes
import numpy as np
import pytest
from scene_harness import applied, box, clear_scene, diff, pose
from small_arm import small_arm

from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.view import node_session
from ros2_ik.core import Configuration, IKError
from ros2_ik.view.arm import AnswerQuality

TIP = 'panda_hand_tcp'


def run_until(session, condition, what):
    def step():
        session.attempt(session.step)
        return condition()
    return eventually(step, what)


@contextmanager
def session_of(name):
    """Yield the session of a node, in its own ROS context as in the command `ros2_ik view`."""
    with NodeClient(name) as client:
        session = node_session(client, [TIP], None)
        run_until(session, lambda: session.arm.q.any(), 'joint_states')
        yield session


@pytest.fixture(autouse=True)
def environment(domain, home, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))


@pytest.fixture
def viewer(environment):
    with session_of('/ros2_ik') as session:
        yield session


def tip_of(session, q):
    return Configuration(session.robot, q).transform(TIP)


def test_drag_is_solved_and_executed_by_the_node(viewer, record):
    run_until(viewer, lambda: np.allclose(
        [viewer.robot.to_joints(viewer.arm.q)[name] for name in ARM], [HOME[name] for name in ARM],
        atol=1e-3), 'home')
    viewer.back_to_robot()
    T = viewer.targets[TIP].copy()
    for _ in range(10):
        T = T.copy()
        T[:3, 3] += [0.005, 0.01, -0.005]
        viewer.drag(TIP, T)
        assert viewer.answer.accepted, viewer.status
        np.testing.assert_allclose(tip_of(viewer, viewer.answer.q), T, atol=1e-4)
    viewer.move_there()
    run_until(viewer, lambda: 'SUCCESS' in viewer.status and 'arrived' in viewer.status, 'arrival')
    q = viewer.robot.to_q(dict(zip(ARM, record.wait_for_rest(), strict=True)), viewer.arm.q)
    np.testing.assert_allclose(tip_of(viewer, q), T, atol=2e-3)
    with pytest.raises(IKError, match='cannot be placed'):
        viewer.arm.set_state(viewer.arm.q)


def test_viewer_solution_follows_the_scene_of_the_node(client, viewer):
    viewer.back_to_robot()
    viewer.solve()
    x, y, z = viewer.targets[TIP][:3, 3].tolist()
    applied(client, diff(box('block', 0.2, at=pose(x, y, z))))
    run_until(viewer, lambda: 'block' in viewer.arm.scene.objects
              and viewer.answer.quality is AnswerQuality.IN_CONTACT, 'the contact')
    assert any('block' in (contact.first, contact.second) for contact in viewer.answer.contacts)
    clear_scene(client)
    run_until(viewer, lambda: not viewer.arm.scene.objects and viewer.answer.accepted, 'solution')


def test_viewer_reports_a_lost_node_and_a_changed_robot(
        client, panda, domain, tmp_path):
    with nodes(domain, tmp_path) as start:
        node = start(('__node:=viewed_ik',), **TRAJECTORIES)
        wait_for_robot(client, 'viewed_ik')
        with session_of('/viewed_ik') as viewer:
            viewer.solve()
            assert viewer.answer.accepted
            node.end()
            run_until(viewer, lambda: 'is not available' in viewer.status, 'the lost node')
            viewer.attempt(viewer.solve)
            assert 'is not available' in viewer.status
            start(('__node:=viewed_ik',), **TRAJECTORIES)
            run_until(viewer, lambda: 'available again' in viewer.status, 'the next node')
            wait_for_robot(client, 'viewed_ik')
            viewer.solve()
            assert viewer.answer.accepted
            client.publish_robot(small_arm())
            run_until(viewer, lambda: 'another robot_description' in viewer.status,
                      'the other robot')
            # a change of the scene, which triggers another solution, may follow the robot
            with pytest.raises(IKError, match='another robot_description|no answer to move to'):
                viewer.move_there()
            with pytest.raises(IKError, match='another robot_description'):
                viewer.solve()
            viewer.stop()
            client.publish_robot(panda)
