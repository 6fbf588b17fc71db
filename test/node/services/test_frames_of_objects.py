"""Frames of objects, attached objects and tools in requests."""

from moveit_msgs.msg import CollisionObject
from node_harness import matrix, robot_state, stamped, values
import numpy as np
import pytest
from scene_harness import applied, attached, box, change, diff, HOME, pose, state_holding

from ros2_ik.messages.constraints import function_message
from ros2_ik.msg import Bounds, Status

ROOT, HAND = 'panda_link0', 'panda_hand'
FINGERS = ['panda_leftfinger', 'panda_rightfinger']
DOWN = (1.0, 0.0, 0.0, 0.0)
PEG, TIP = pose(0.01, 0, 0.13), pose(0, 0, 0.04)    # peg in the hand, tip in the peg
BIN = pose(0.5, 0.2, 0.1)


def peg():
    return attached(box('peg', 0.02, at=PEG, frame=HAND, subframe_names=['tip'],
                        subframe_poses=[TIP]), HAND, FINGERS)


@pytest.fixture
def scene(client, empty_scene):
    """Add a bin to the world and a peg to the hand."""
    applied(client, diff(box('bin', at=BIN, subframe_names=['grasp'],
                             subframe_poses=[pose(0, 0, 0.25, DOWN)]), holding=[peg()]))


def tip_of(fk, joints):
    """Return the pose of the tip of the peg by yourdfpy, (4, 4)."""
    return fk.transform(joints, HAND, ROOT) @ matrix(PEG) @ matrix(TIP)


@pytest.mark.usefixtures('scene')
def test_fk_of_a_subframe_is_correct_before_and_after_detaching(client, panda_fk):
    turned = HOME | {'panda_joint1': 0.7}
    expected = np.linalg.inv(matrix(BIN)) @ tip_of(panda_fk, turned)
    answer = client.fk(links=['peg/tip', 'bin'], state=robot_state(turned), frame_id='bin')
    assert answer.status == Status.SUCCESS, answer.message
    assert list(answer.links) == ['peg/tip', 'bin'] and answer.poses[0].header.frame_id == 'bin'
    np.testing.assert_allclose(matrix(answer.poses[0].pose), expected, atol=1e-8)
    np.testing.assert_allclose(matrix(answer.poses[1].pose), np.eye(4), atol=1e-9)
    applied(client, diff(holding=[attached(change('peg', CollisionObject.REMOVE), '')],
                         joints=turned))
    answer = client.fk(links=['peg/tip'], frame_id='bin')
    np.testing.assert_allclose(matrix(answer.poses[0].pose), expected, atol=1e-7)
    answer = client.fk(links=['peg/tp'])
    assert answer.status == Status.INVALID_LINK_NAME
    assert "did you mean 'peg/tip'" in answer.message


@pytest.mark.usefixtures('scene')
@pytest.mark.parametrize('avoid', [True, False])
def test_attached_subframe_reaches_the_frame_of_a_moved_object(client, panda_fk, avoid):
    request = {'tips': ['peg/tip'], 'targets': [stamped(np.eye(4), 'bin/grasp')],
               'seed': robot_state(HOME), 'avoid_collisions': avoid,
               'constraints': [function_message(
                   'angle_between_vectors', Bounds(upper=[1e-3]), 'peg/tip', 'bin/grasp',
                   vector=[0, 0, 1], other_vector=[0, 0, 1])]}
    for bin_pose in (BIN, pose(0.4, -0.3, 0.15)):
        applied(client, diff(change('bin', CollisionObject.MOVE, pose=bin_pose)))
        answer = client.ik(**request)
        assert answer.status == Status.SUCCESS, answer.message
        found = tip_of(panda_fk, values(answer.solution) | {'panda_finger_joint1': 0.02})
        expected = matrix(bin_pose) @ matrix(pose(0, 0, 0.25, DOWN))
        np.testing.assert_allclose(found, expected, atol=2e-4)
    applied(client, diff(holding=[attached(change('peg', CollisionObject.REMOVE), '')]))
    assert "moves 'peg/tip'" in client.ik(**request).message


def test_object_attached_by_the_request_carries_a_tool_frame(client, empty_scene, panda_fk):
    tool = stamped(matrix(pose(0.02, 0, 0.03, (0, np.sin(0.2), 0, np.cos(0.2)))), 'peg/tip')
    expected = matrix(pose(0.45, 0.1, 0.3, DOWN))
    answer = client.ik(targets=[stamped(expected)], tool=tool, seed=state_holding(peg()))
    assert answer.status == Status.SUCCESS, answer.message
    found = tip_of(panda_fk, values(answer.solution) | {'panda_finger_joint1': 0.02})
    np.testing.assert_allclose(found @ matrix(tool.pose), expected, atol=2e-4)
    answer = client.ik(targets=[stamped(expected)], tool=tool, seed=robot_state(HOME))
    assert answer.status == Status.INVALID_LINK_NAME, answer.message
    assert "tool.header: unknown frame 'peg/tip'" in answer.message
