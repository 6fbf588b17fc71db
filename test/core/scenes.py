"""Robots with shapes on their links, and scenes, for collision tests."""

from judge import pose
import numpy as np
from scipy.spatial.transform import Rotation
from small_robots import SMALL

from ros2_ik.core import Robot
from ros2_ik.core.scene import Box, Capsule, Scene, SceneObject, Sphere

BALL, BRICK = '<sphere radius="0.06"/>', '<box size="0.3 0.08 0.05"/>'
ROD, PILL = '<cylinder radius="0.05" length="0.3"/>', '<capsule radius="0.05" length="0.2"/>'
SHAPES = {
    'one_joint': {'arm': BRICK, 'tip': BALL},
    'mimic_chain': {'base': BALL, 'la': PILL, 'lb': BRICK, 'lc': BALL, 'tip': BRICK},
    'fingers': {'palm': BRICK, 'left_tip': BALL, 'right_tip': '<box size="0.05 0.05 0.05"/>'},
    'crank': {'rod': BRICK, 'arm': PILL, 'tip': BALL},
    'nested': {'base': BRICK, 'cart': BRICK, 'boom': PILL, 'drone': BALL, 'tip': BRICK},
    'two_arms': {'base': BRICK, 'chest': ROD, 'left_b': PILL, 'left_c': BRICK, 'left_hand': BALL,
                 'right_b': PILL, 'right_c': ROD, 'right_hand': BRICK}}


def collision(shape, xyz=(0.05, 0, 0.02), rpy=(0.1, 0.2, 0.3)):
    """Return a <collision> element, by default offset from the frame of its link."""
    place = ''.join(f'{key}="{" ".join(map(str, value))}" '
                    for key, value in (('xyz', xyz), ('rpy', rpy)))
    return f'<collision><origin {place}/><geometry>{shape}</geometry></collision>'


def shaped_robot(name, root_joint='fixed', shapes=None, **place):
    """
    Return a small robot with a shape on some of its links.

    Its SRDF disables the first pair, so that all other pairs, even adjacent ones, are checked.
    """
    text, shapes = SMALL[name], SHAPES[name] if shapes is None else shapes
    for link, shape in shapes.items():
        text = text.replace(f'<link name="{link}">',
                            f'<link name="{link}">{collision(shape, **place)}')
    one, other = [*shapes, 'nothing'][:2]
    srdf = (f'<robot name="small"><disable_collisions link1="{one}" link2="{other}" '
            'reason="Adjacent"/></robot>')
    return Robot.from_urdf(text, srdf=srdf, root_joint=root_joint)


def ball_arm():
    """Return an arm of one joint about z, with a sphere of radius 0.1 m at (0.7, 0, 0.1)."""
    return shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.1"/>'}, xyz=(0, 0, 0))


def ball_at(x, radius=0.2):
    """Return a sphere at (x, 0, 0.1), as high as the sphere of `ball_arm`."""
    return SceneObject('ball', [Sphere(radius)], pose((x, 0, 0.1)))


def random_pose(generator, lower=(-0.8, -0.8, 0), upper=(0.8, 0.8, 1)):
    """Return a pose in a box, at a random orientation."""
    turn = Rotation.random(random_state=generator.integers(2**31)).as_rotvec()
    return pose(generator.uniform(lower, upper), turn)


def scattered(robot, count=10, seed=0, most=0.3, **box):
    """Return a scene of boxes with edges of 0.05 m to `most` at random poses."""
    generator, scene = np.random.default_rng(seed), Scene(robot)
    for i in range(count):
        scene = scene.add(SceneObject(f'box {i}', [Box(generator.uniform(0.05, most, 3))],
                                      random_pose(generator, **box)))
    return scene


def tool(length=0.2, radius=0.02):
    """Return a stick along z from the frame of its link."""
    return SceneObject('stick', [(Capsule(radius, length), pose((0, 0, length / 2)))])


def pair(*names):
    """Return a pair of names as the judge returns it."""
    return frozenset(names)


def pairs(contacts):
    """Return the pairs of names of contacts."""
    return {pair(contact.first, contact.second) for contact in contacts}
