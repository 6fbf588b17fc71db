"""Scenes of many objects: a checker sees each of them."""


import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Box, collision_checker, Robot, Scene, SceneObject


@pytest.fixture(scope='module')
def panda():
    return Robot.load('panda')


def grid(robot, count):
    """Give a scene of small boxes in a wall that the robot does not reach."""
    scene = Scene(robot)
    for i in range(count):
        at = np.eye(4)
        at[:3, 3] = 5.0, 0.1 * (i % 30), 0.1 * (i // 30)
        scene = scene.add(SceneObject(f'box {i}', [Box([0.02, 0.02, 0.02])], at))
    return scene


def test_each_object_is_seen_whatever_was_checked_before(panda):
    """Models are copied from others: larger ones, smaller ones, with other objects."""
    data = panda.model.createData()
    pin.framesForwardKinematics(panda.model, data, panda.neutral)
    at = data.oMf[panda.frame_id('panda_hand')].homogeneous
    for count in (300, 20, 0, 170, 33, 31):
        scene = grid(panda, count)
        free = collision_checker(panda, scene)
        assert not free.collides(panda.neutral)
        touching = scene.add(SceneObject('in the hand', [Box([0.02, 0.02, 0.02])], at))
        checker = collision_checker(panda, touching)
        assert checker.collides(panda.neutral)
        names = {name for contact in checker.in_collision(panda.neutral)
                 for name in (contact.first, contact.second)}
        assert 'in the hand' in names and not any(name.startswith('box') for name in names)
        assert not free.collides(panda.neutral)


def test_attached_objects_against_each_one_in_the_world(panda):
    """Pairs of attached objects and others: by the scene's matrix, names and touch links."""
    scene = grid(panda, 40)
    scene = scene.attach(SceneObject('tool', [Box([0.02, 0.02, 0.02])] * 2), 'panda_hand')
    before = collision_checker(panda, scene).pair_count
    fewer = collision_checker(panda, scene.allow('tool', 'box 3')).pair_count
    assert before - fewer == 2    # two parts against one box
    other = SceneObject('other', [Box([0.02, 0.02, 0.02])])
    beside = scene.attach(other, 'panda_hand')     # on the same link: neither can move
    against = collision_checker(panda, beside).pair_count \
        - collision_checker(panda, Scene(panda).attach(other, 'panda_hand')).pair_count
    alone = before - collision_checker(panda, Scene(panda)).pair_count
    assert against == alone + 40   # and what is new against each box
