"""Frames of a scene in requests, without DDS: which are added, and which have changed."""

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Box, Configuration, Scene, SceneObject
from ros2_ik.messages.frames import changed_frame, framed_robot, link_name
from ros2_ik.messages.request_error import RequestError

HAND = 'panda_hand'


def at(z):
    return pin.SE3(np.eye(3), np.array([0.0, 0.0, z]))


def held(scene, id, place):
    return scene.attach(SceneObject(id, [Box((0.02, 0.02, 0.08))], place, {'tip': at(0.04)}), HAND)


@pytest.fixture
def scene(panda):
    """Give a panda that holds a peg and an object named as requests name their tool."""
    return held(held(Scene(panda), 'peg', at(0.13)), 'tool', at(0.2))


def test_a_typo_adds_no_frames_and_is_told_all(scene):
    robot = framed_robot(scene, ['peg/tip', 'tol'])
    assert {*robot.added_frames} == {'peg/tip'}
    with pytest.raises(RequestError, match="tips: unknown frame 'tol'; did you mean 'tool'"):
        link_name(robot, 'tol', 'tips', scene)


@pytest.mark.parametrize(('change', 'told'), [
    (lambda scene: held(scene, 'peg', at(0.13 + 1e-12)), ''),
    (lambda scene: held(scene, 'tool', at(0.2)), ''),
    (lambda scene: held(scene, 'peg', at(0.131)),
     f"frame 'peg/tip' is no longer where it was on link '{HAND}'"),
    (lambda scene: held(scene, 'tool', at(0.201)),
     f"frame 'tool' is no longer where it was on link '{HAND}'"),
    (lambda scene: scene.detach('peg', at=Configuration(scene.robot, scene.robot.neutral)),
     f"frame 'peg/tip' is no longer where it was on link '{HAND}'"),
    (lambda scene: Scene(scene.robot), "'peg/tip' is no longer in the scene")])
def test_what_has_changed(scene, change, told):
    """The request's own tool, here named gripper, is none of the scene's frames."""
    assert changed_frame(['gripper', 'peg/tip', 'tool'], scene, change(scene)) == told
