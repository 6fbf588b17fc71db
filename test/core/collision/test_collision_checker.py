"""Collisions and distances of CollisionChecker, judged by python-fcl on the same shapes."""

from concurrent.futures import ThreadPoolExecutor
import itertools
import sys

from all_shapes import differences
from fcl_judge import FclJudge
from judge import pose, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from scenes import pair, pairs, random_pose, scattered, shaped_robot
import trimesh

from ros2_ik.core import Robot
from ros2_ik.core.collision import CollisionChecker, self_pairs
from ros2_ik.core.errors import InvalidSceneError, UnknownNameError
from ros2_ik.core.scene import (
    AllowedCollisions,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    Mesh,
    Scene,
    SceneObject,
    Sphere,
)

SHIPPED = ('panda', 'ur5', 'baxter')
SMALL = [('mimic_chain', 'fixed'), ('fingers', 'fixed'), ('one_joint', 'fixed'),
         ('nested', 'fixed'), ('two_arms', 'freeflyer'),
         ('two_arms', 'planar')]
COLUMN = Box([0.2, 0.2, 2])    # an obstacle in front of the arm; edges [m]


def nearby_pose(generator):
    return random_pose(generator, (-0.5, -0.5, -0.3), (0.5, 0.5, 0.8))


def compare_with_judge(checker, judge, count):
    """Compare contacts at random configurations; return the number of those in collision."""
    generator, hits = np.random.default_rng(1), 0
    for _ in range(count):
        q = checker.robot.random_q(generator)
        expected = judge.touching(checker.robot.to_joints(q))
        assert checker.collides(q) == bool(expected)
        found = checker.in_collision(q)
        assert pairs(found) == expected and len(found) == len(expected)
        depths = [contact.depth for contact in found]
        assert depths == sorted(depths, reverse=True) and all(depth >= 0 for depth in depths)
        hits += bool(expected)
    return hits


def scene_with_column(robot, box=COLUMN, T=None):
    return Scene(robot).add(SceneObject('column', [box], pose((0.4, 0, 0.3)) if T is None else T))


# -- against python-fcl -------------------------------------------------------------------

def test_collisions_of_hulls_equal_those_of_fcl(load):
    robot = load('ur5')
    scene = scattered(robot)
    judge = FclJudge(robot).surround(scene)
    hits = compare_with_judge(CollisionChecker(robot, scene, 'hull'), judge, 60)
    assert 5 < hits <= 60


def test_checker_is_thread_safe(load):
    robot, generator = load('ur5'), np.random.default_rng(6)
    checker = CollisionChecker(robot, scattered(robot).add(
        SceneObject('floor', [HalfSpace([0, 0, 1], -0.1)])))
    checkers = checker, checker.for_pair('forearm_link', 'floor')
    states = [robot.random_q(generator) for _ in range(40)]

    def results(order):
        found = {}
        for i in order:
            near = [c.distances(states[i]) for c in checkers]
            found[i] = [(c.collides(states[i]), c.in_collision(states[i])) for c in checkers], [
                (n.names, n.distance.tobytes(), n.jacobian.tobytes()) for n in near]
        return found

    sequential = results(range(len(states)))
    assert 3 < sum(found[0][0][0] for found in sequential.values()) < 37
    orders = [np.random.default_rng(seed).permutation(len(states)).tolist() for seed in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(found == sequential for found in pool.map(results, orders * 2))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(('name', 'root'), SMALL)
def test_collisions_of_all_kinds_of_joints_equal_those_of_fcl(name, root):
    robot = shaped_robot(name, root)
    generator = np.random.default_rng(2)
    scene = Scene(robot)
    for i in range(6):
        scene = scene.add(SceneObject(f'box {i}', [Box(generator.uniform(0.1, 0.3, 3))],
                                      nearby_pose(generator)))
    frames = TreeJudge(robot.urdf, root)
    judge = FclJudge(robot, frames, floating=root != 'fixed').surround(scene)
    judge.exclude(self_pairs(robot).guessed)
    assert compare_with_judge(CollisionChecker(robot, scene, 'hull'), judge, 100) > 2


@pytest.mark.parametrize('shape', ['<sphere radius="0.05"/>', '<box size="0.1 0.2 0.3"/>',
                                   '<cylinder radius="0.05" length="0.1"/>',
                                   '<capsule radius="0.05" length="0.1"/>'])
def test_shapes_with_nearly_equal_centres_collide(shape):
    """Coal fails at these poses unless contacts are requested."""
    robot = shaped_robot('one_joint', shapes={'tip': shape}, xyz=(0, 0, 0))
    generator = np.random.default_rng(0)
    corners = 0.15 * np.array(list(itertools.product((-1, 1), repeat=3)))
    others = [Box([0.3] * 3), Sphere(0.2), Cylinder(0.2, 0.4), Cone(0.2, 0.4),
              Capsule(0.1, 0.3), ConvexHull(corners)]
    for other in others:
        for _ in range(60):
            offset = generator.uniform(-1, 1, 3) * 10 ** generator.uniform(-6, -1.5)
            checker = CollisionChecker(robot, scene_with_column(
                robot, other, pose([0.7, 0, 0.1] + offset)))
            assert checker.collides(robot.neutral)
            assert pairs(checker.in_collision(robot.neutral)) == {pair('tip', 'column')}


# -- contacts -----------------------------------------------------------------------------

def test_contact_has_names_depth_and_position():
    robot = shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.1"/>'}, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('ball', [Sphere(0.2)], pose((0.95, 0, 0.1))))
    contact, = CollisionChecker(robot, scene).in_collision(robot.neutral)
    assert pair(contact.first, contact.second) == pair('tip', 'ball')
    assert contact.depth == pytest.approx(0.05, abs=1e-6)
    assert contact.point == pytest.approx((0.775, 0, 0.1), abs=1e-6)
    assert "'tip'" in str(contact) and "'ball'" in str(contact) and '0.05' in str(contact)


# -- allowed pairs ------------------------------------------------------------------------

def test_allowed_collision_matrix_overrides_the_srdf(load):
    robot = load('panda')
    disabled = sorted(robot.disabled_pairs)
    q = robot.to_q({'panda_joint4': -1.5})
    assert CollisionChecker(robot).in_collision(q) == ()
    strict = Scene(robot).with_allowed(AllowedCollisions())
    found = pairs(CollisionChecker(robot, strict).in_collision(q))
    assert found and found <= {frozenset(names) for names in disabled}


def test_allowed_pairs_are_not_reported(load):
    robot, scene = load('panda'), scene_with_column(load('panda'))
    q = robot.to_q({'panda_joint2': 0.9, 'panda_joint4': -1.5, 'panda_joint6': 1.5})
    found = pairs(CollisionChecker(robot, scene).in_collision(q))
    assert len(found) > 1
    one = next(iter(found))
    rest = CollisionChecker(robot, scene.allow(*one)).in_collision(q)
    assert pairs(rest) == found - {one}
    all_allowed = scene.allow('column', None)
    assert CollisionChecker(robot, all_allowed).in_collision(q) == ()
    link = next(name for name in one if name != 'column')
    checked_again = all_allowed.allow(link, 'column', False)
    assert pairs(CollisionChecker(robot, checked_again).in_collision(q)) == {one}


def test_contact_of_fixed_bodies_is_ignored_unless_the_base_moves(load):
    """A floor that intersects the base link."""
    robot = load('panda')
    scene = Scene(robot).add(SceneObject('floor', [Box([2, 2, 0.2])], pose((0, 0, -0.05))))
    q = robot.to_q({'panda_joint4': -1.5})
    assert CollisionChecker(robot, scene).in_collision(q) == ()
    mobile = Robot.load('panda', root_joint='freeflyer')
    scene = Scene(mobile).add(SceneObject('floor', [Box([2, 2, 0.2])], pose((0, 0, -0.05))))
    q = mobile.to_q({'panda_joint4': -1.5})
    assert pair('floor', 'panda_link0') in pairs(CollisionChecker(mobile, scene).in_collision(q))


def test_robots_without_movable_geometry_have_no_contacts(small):
    for robot, shapes in itertools.product(
            (small('one_joint'), small('one_link'), small('all_fixed')), ([], [COLUMN])):
        scene = Scene(robot)
        scene = scene.add(SceneObject('column', shapes)) if shapes else scene
        checker = CollisionChecker(robot, scene)
        assert not checker.collides(robot.neutral) and checker.in_collision(robot.neutral) == ()
        found = checker.distances(robot.neutral)
        assert found.names == () and found.jacobian.shape == (0, robot.nv)
        assert checker.pair_count == 0 and checker.moving_joints == frozenset()


# -- narrow gaps --------------------------------------------------------------------------

@pytest.mark.parametrize('size', [1e-3, 1.0])
@pytest.mark.parametrize('position', [0.0, 1500.0])
def test_collides_and_in_collision_agree_at_narrow_gaps(size, position):
    """At gaps below 1 um either result is valid, but both functions must agree."""
    robot = Robot.from_urdf(
        '<robot name="r"><link name="base"/><link name="rod"><collision><geometry>'
        f'<cylinder radius="{size / 2}" length="{size}"/></geometry></collision></link>'
        '<joint name="x" type="prismatic"><parent link="base"/><child link="rod"/>'
        '<limit lower="-5" upper="5000" velocity="1" effort="1"/></joint></robot>')
    checker = CollisionChecker(robot, Scene(robot).add(
        SceneObject('post', [Box([size] * 3)], pose((position, 0, 0)))))
    collisions = 0
    for gap in np.geomspace(1e-9, 1e-4, 100):
        q = robot.to_q({'x': position - size - gap})
        found = checker.in_collision(q)
        assert pairs(found) == ({frozenset(('rod', 'post'))} if checker.collides(q) else set())
        assert all(contact.depth >= 0 for contact in found) and not (found and gap > 1.1e-6)
        collisions += bool(found)
    assert 10 < collisions < 90


# -- restricted checkers, other robots, changing scenes -------------------------------------

def test_checker_restricted_to_one_pair_reports_no_other_pair(load):
    robot, scene = load('panda'), scene_with_column(load('panda'))
    checker = CollisionChecker(robot, scene.allow('panda_hand', 'column'))
    q = robot.to_q({'panda_joint2': 0.9, 'panda_joint4': -1.5, 'panda_joint6': 1.5})
    only = checker.for_pair('panda_hand', 'column')
    assert pairs(only.in_collision(q)) == {pair('panda_hand', 'column')}
    assert only.moving_joints == {f'panda_joint{i}' for i in range(1, 8)}
    with pytest.raises(UnknownNameError, match="'colum'.*'column'"):
        checker.for_pair('panda_hand', 'colum')


def test_checker_with_scene_of_another_robot_is_refused(load):
    with pytest.raises(InvalidSceneError):
        CollisionChecker(load('panda'), Scene(load('ur5')))


@pytest.mark.parametrize('name', SHIPPED)
def test_collisions_equal_those_of_fcl_while_scenes_change(name, load):
    counts, wrong = differences(load(name), 3, 8, np.random.default_rng(7))
    assert not wrong and counts['touching'] > 30 and counts['ties'] == 0


@pytest.mark.parametrize(('made_by', 'radius'), [('checker', 0.3003), ('mesh', 0.3004)])
def test_distance_of_a_mesh_is_that_of_its_hull_until_it_has_convex_parts(
        made_by, radius, tmp_path, monkeypatch):
    """A box at the centre of a ring is inside its hull, and 0.22 m from the ring."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.setattr('ros2_ik.core.collision.distance_check.PARTS_CHECK_PERIOD', 0.0)
    torus = trimesh.creation.torus(radius, 0.05, 20, 14)
    ring = Mesh(np.array(torus.vertices), np.array(torus.faces))
    robot = shaped_robot('one_joint', shapes={'arm': '<sphere radius="0.001"/>'}, xyz=(0, 0, 0))
    scene = Scene(robot).attach(SceneObject('tool', [ring]), 'tip')
    at = robot.model.createData()
    pin.framesForwardKinematics(robot.model, at, robot.neutral)
    box = SceneObject('box', [Box([0.06] * 3)],
                      pose(at.oMf[robot.model.getFrameId('tip')].translation))
    checker = CollisionChecker(robot, scene.add(box)).for_pair('box', 'tool')
    assert not checker.collides(robot.neutral)
    assert checker.distances(robot.neutral).distance[0] < -0.05
    if made_by == 'checker':
        checker.make_parts()
    assert ring.convex_parts
    found = checker.distances(robot.neutral, np.inf)
    assert 0.1 < found.distance[0] < 0.23 and len(found.distance) > 4
