"""Collision checks with padding and attached objects."""

from fcl_judge import FclJudge
from judge import pose, TreeJudge
import numpy as np
import pytest
from scenes import ball_arm, ball_at, pair, pairs, scattered, shaped_robot, tool
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.collision import CollisionChecker, self_pairs
from ros2_ik.core.scene import Capsule, HalfSpace, OcTree, Scene, SceneObject, Sphere

BALL = '<sphere radius="0.1"/>'


# -- padding ------------------------------------------------------------------------------

@pytest.mark.parametrize(('gap', 'padding'), [(0.02, 0.019), (0.02, 0.021), (-0.05, 0.03)])
def test_padding_reduces_the_distance_of_a_link_to_objects(gap, padding):
    robot, touches = ball_arm(), gap < padding
    scene = Scene(robot).add(ball_at(1.0 + gap)).with_padding({'tip': padding})
    checker = CollisionChecker(robot, scene)
    assert checker.collides(robot.neutral) == touches
    found = checker.distances(robot.neutral)
    assert found.distance == pytest.approx([gap - padding], abs=1e-6)
    contacts = checker.in_collision(robot.neutral)
    assert [c.depth for c in contacts] == pytest.approx([padding - gap] * touches, abs=1e-6)


def test_padding_does_not_apply_between_links():
    """MoveIt also pads links only against objects."""
    robot = shaped_robot('two_arms', shapes={'left_hand': BALL, 'right_hand': BALL}, xyz=(0, 0, 0))
    without_srdf = Robot.from_urdf(robot.urdf)
    generator = np.random.default_rng(0)
    plain = CollisionChecker(without_srdf)
    padded = CollisionChecker(without_srdf, Scene(without_srdf).with_padding(
        {'left_hand': 0.3, 'right_hand': 0.3}))
    for _ in range(30):
        q = robot.random_q(generator)
        assert padded.distances(q, np.inf).distance == pytest.approx(
            plain.distances(q, np.inf).distance)
        assert padded.collides(q) == plain.collides(q)


# -- attached objects ---------------------------------------------------------------------

def test_attached_object_collides_with_links_other_than_touch_links(load):
    robot = load('panda')
    q = robot.to_q({'panda_joint4': -1.5})
    touch_links = [*(f'panda_link{i}' for i in (4, 5, 6)), 'panda_hand', 'panda_leftfinger',
                   'panda_rightfinger']
    scene = Scene(robot).attach(tool(0.3), 'panda_link7', touch_links)
    assert CollisionChecker(robot, scene).in_collision(q) == ()
    scene = Scene(robot).attach(tool(0.3), 'panda_link6')
    found = pairs(CollisionChecker(robot, scene).in_collision(q))
    assert any('stick' in names for names in found)
    assert pair('stick', 'panda_link6') not in found
    allowed = scene
    for names in found:
        allowed = allowed.allow(*names)
    assert CollisionChecker(robot, allowed).in_collision(q) == ()


def test_touch_links_do_not_allow_contacts_with_world_objects(load):
    """Past defects: an object with the id of the attached one, or named in touch_links."""
    robot = load('panda')
    q = robot.to_q({'panda_joint4': -1.5})
    stick = tool(0.3)
    touch_links = [*(f'panda_link{i}' for i in (4, 5, 6)), 'panda_hand', 'panda_leftfinger',
                   'panda_rightfinger', 'table']
    scene = Scene(robot).attach(stick, 'panda_link7', touch_links)
    place = Configuration(robot, q).placement('panda_link7')
    ball = SceneObject('table', [Sphere(0.02)], place * scene.attached['stick'].object.pose)
    hand = Configuration(robot, q).placement('panda_hand')
    same_id = SceneObject('stick', [Sphere(0.02)], hand)
    for added, names in ((ball, ('stick', 'table')), (same_id, ('stick', 'panda_hand'))):
        checker = CollisionChecker(robot, scene.add(added))
        assert pair(*names) in pairs(checker.in_collision(q))


def test_attached_objects_of_two_links_collide_unless_allowed(load):
    """Objects attached to the same link are not checked against each other."""
    robot = load('baxter')
    long_part = [(Capsule(0.02, 3.0), pose())]
    same = Scene(robot).attach(SceneObject('a', long_part), 'left_gripper').attach(
        SceneObject('b', long_part), 'left_gripper')
    q = robot.to_q(None)
    assert pair('a', 'b') not in pairs(CollisionChecker(robot, same).in_collision(q))
    ball = [Sphere(3.0)]
    apart = Scene(robot).attach(SceneObject('a', ball), 'left_gripper').attach(
        SceneObject('b', ball), 'right_gripper')
    assert pair('a', 'b') in pairs(CollisionChecker(robot, apart).in_collision(q))
    touching = Scene(robot).attach(SceneObject('a', ball), 'left_gripper').attach(
        SceneObject('b', ball), 'right_gripper', ['a'])
    assert pair('a', 'b') not in pairs(CollisionChecker(robot, touching).in_collision(q))


@pytest.mark.parametrize(('name', 'root', 'link'), [
    ('mimic_chain', 'fixed', 'lc'), ('two_arms', 'freeflyer', 'left_hand'),
    ('nested', 'fixed', 'drone')])
def test_contacts_of_attached_objects_agree_with_fcl(name, root, link):
    robot = shaped_robot(name, root)
    scene = scattered(robot, 5, 1).attach(tool(0.4, 0.05), link)
    judge = FclJudge(robot, TreeJudge(robot.urdf, root), floating=root != 'fixed').surround(scene)
    judge.exclude(self_pairs(robot).guessed)
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(2)
    for _ in range(80):
        q = robot.random_q(generator)
        assert pairs(checker.in_collision(q)) == judge.touching(robot.to_joints(q))


@pytest.mark.parametrize('normal', [[0, 0, 1], [0, -1, 0], [2, 0, 0]])
def test_rotated_octree_collides_with_an_attached_half_space_at_its_lowest_corner(normal):
    robot = Robot.from_urdf('<robot name="f"><link name="a"/></robot>', root_joint='freeflyer')
    edge = 0.04
    scene = (Scene(robot).add(SceneObject('cell', [OcTree(np.full((1, 3), edge / 2), edge)]))
             .attach(SceneObject('held', [HalfSpace(normal, 0.0)]), 'a'))
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(0)
    corners = np.array([[x, y, z] for x in (0, edge) for y in (0, edge) for z in (0, edge)])
    for _ in range(200):
        q = np.r_[generator.uniform(-0.5, 0.5, 3), generator.normal(size=4)]
        q[3:] /= np.linalg.norm(q[3:])
        corners_in_a = (corners - q[:3]) @ Rotation.from_quat(q[3:]).as_matrix()
        lowest = (corners_in_a @ normal).min()
        if abs(lowest) > 1e-5:
            assert checker.collides(q) == (lowest < 0), (q, lowest)
