"""
Distances: against closed forms, python-fcl, and a proof by the shapes' own formulas.

The proof needs no other library: two convex shapes are no nearer than the planes across the
normal that touch them, and no further than two points of theirs.
"""

from itertools import product

import fcl
from fcl_judge import distance, fcl_shape, FclJudge
from judge import pose, step
import numpy as np
import pytest
from scenes import random_pose, scattered, solid, tool
from scipy.spatial.transform import Rotation
from small_robots import SMALL

from ros2_ik.core import Robot
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.kernels.velocity_rows import DISTANCE
from ros2_ik.core.scene import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    OcTree,
    Plane,
    Scene,
    SceneObject,
    Sphere,
)
from ros2_ik.core.scene.robot_geometry import robot_geometry
from ros2_ik.core.velocity.distance_constraints import DistanceConstraints

KINDS = {'box': Box([0.3, 0.2, 0.1]), 'sphere': Sphere(0.15), 'cylinder': Cylinder(0.1, 0.3),
         'cone': Cone(0.15, 0.3), 'capsule': Capsule(0.08, 0.25),
         'convex_hull': ConvexHull(np.random.default_rng(0).uniform(-0.15, 0.15, (20, 3)))}
FREE = ('<robot name="r"><link name="base"/><link name="body">{}</link><joint name="fly" '
        'type="floating"><parent link="base"/><child link="body"/></joint></robot>')
URDF = {'box': '<box size="0.2 0.1 0.15"/>', 'sphere': '<sphere radius="0.12"/>',
        'cylinder': '<cylinder radius="0.08" length="0.25"/>',
        'capsule': '<capsule radius="0.07" length="0.3"/>'}
OWN = {'box': Box([0.2, 0.1, 0.15]), 'sphere': Sphere(0.12), 'cylinder': Cylinder(0.08, 0.25),
       'capsule': Capsule(0.07, 0.3)}


def flying(shape):
    """Make a body of that shape that can be anywhere."""
    return Robot.from_urdf(FREE.format(
        f'<collision><geometry>{URDF[shape]}</geometry></collision>'))


def at_pose(robot, T):
    return robot.to_q({'fly': [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]})


def support(shape, n):
    """How far a shape reaches along a unit direction from its origin: by formula."""
    kind, across = shape.kind, np.hypot(n[0], n[1])
    if kind in ('mesh', 'convex_hull'):
        return float((np.array(shape.vertices if kind == 'mesh' else shape.points) @ n).max())
    return {'box': lambda: np.abs(n) @ shape.size / 2,
            'sphere': lambda: shape.radius,
            'cylinder': lambda: shape.radius * across + shape.length / 2 * abs(n[2]),
            'capsule': lambda: shape.radius + shape.length / 2 * abs(n[2]),
            'cone': lambda: max(shape.length / 2 * n[2],
                                shape.radius * across - shape.length / 2 * n[2])}[kind]()


def gap(shape, T, other, T_other, n):
    """How far apart the planes across n are that touch the one and the other from between."""
    reach = support(shape, T[:3, :3].T @ n) + n @ T[:3, 3]
    nearest = -support(other, -T_other[:3, :3].T @ n) + n @ T_other[:3, 3]
    return nearest - reach


# -- closed forms -------------------------------------------------------------------------

def ball_in(shape, T, centre):
    """Signed distance of a point from a shape, closed form."""
    p = T[:3, :3].T @ (centre - T[:3, 3])
    if shape.kind == 'sphere':
        return np.linalg.norm(p) - shape.radius
    if shape.kind == 'box':
        q = np.abs(p) - shape.size / 2
    elif shape.kind == 'cylinder':
        q = np.array([np.hypot(p[0], p[1]) - shape.radius, abs(p[2]) - shape.length / 2])
    elif shape.kind == 'capsule':
        along = np.clip(p[2], -shape.length / 2, shape.length / 2)
        return np.linalg.norm(p - [0, 0, along]) - shape.radius
    else:
        return p @ shape.normal - shape.offset
    return np.linalg.norm(np.maximum(q, 0)) + min(q.max(), 0)


@pytest.mark.parametrize('shape', [Box([0.3, 0.2, 0.1]), Sphere(0.15), Cylinder(0.1, 0.3),
                                   Capsule(0.08, 0.25), HalfSpace([0, 0.6, 0.8], 0.05)],
                         ids=lambda shape: shape.kind)
def test_balls_by_closed_forms(shape):
    robot, generator = flying('sphere'), np.random.default_rng(0)
    for _ in range(150):
        T, placed = random_pose(generator, -0.1, 0.1), random_pose(generator, -0.2, 0.2)
        scene = Scene(robot).add(SceneObject('thing', [shape], T))
        q = at_pose(robot, placed)
        found = CollisionChecker(robot, scene).distances(q, 2.0)
        wanted = ball_in(shape, T, placed[:3, 3]) - 0.12
        assert found.distance == pytest.approx([wanted], abs=3e-6)
        assert CollisionChecker(robot, scene).collides(q) == (wanted < 0) or abs(wanted) < 1e-5


# -- convex shapes of all kinds -----------------------------------------------------------

@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('own', URDF)
def test_convex_shapes(kind, own):
    """Distance, normal, witnesses; and python-fcl where it is exact."""
    robot, generator = flying(own), np.random.default_rng(0)
    shape, mine = KINDS[kind], OWN[own]
    signs, exact = set(), {own, kind} <= {'box', 'convex_hull'}
    judge = [fcl.CollisionObject(fcl_shape(one)[0], fcl.Transform()) for one in (mine, shape)]
    slack = 1e-9 if exact else 5e-6
    for _ in range(100):
        T, T_other = random_pose(generator, -0.2, 0.2), random_pose(generator, -0.1, 0.1)
        scene = Scene(robot).add(SceneObject('thing', [shape], T_other))
        found = CollisionChecker(robot, scene).distances(at_pose(robot, T), 2.0)
        d, n = found.distance[0], found.normal[0]
        first, second = (mine, T), (shape, T_other)
        if found.names[0] == ('thing', 'body'):
            first, second = second, first
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-9)
        assert (found.second_point[0] - found.first_point[0]) @ n == pytest.approx(d, abs=1e-6)
        assert gap(*first, *second, n) == pytest.approx(d, abs=slack)
        own_witness = (found.first_point if first[0] is mine else found.second_point)[0]
        assert abs(ball_in(mine, T, own_witness)) < 1e-5      # on its surface
        for body, T_one in zip(judge, (T, T_other), strict=True):
            body.setTransform(fcl.Transform(T_one[:3, :3], T_one[:3, 3]))
        theirs = distance(*judge)
        # fcl stops early now and then: it is then too far off, never too near
        assert abs(theirs - d) < (1e-6 if exact and d < 0 else 1e-3) or theirs > d > 0
        signs.add(d > 0)
    assert signs == {True, False}


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_robots_among_boxes(name, load):
    """Of pairs of convex solids: proven when apart, as fcl when not, each to 1e-6."""
    robot, scene = load(name), scattered(load(name), seed=1)
    checker = CollisionChecker(robot, scene, 'hull')
    judge = FclJudge(robot).surround(scene)
    generator, signs = np.random.default_rng(2), []
    for _ in range(100):
        q = robot.random_q(generator)
        joints = robot.to_joints(q)
        judge.place(joints)
        found, seen = checker.distances(q, 0.2, most=30), set()
        assert (np.diff(found.distance) >= 0).all()
        for names, d, n in zip(found.names, found.distance, found.normal, strict=True):
            if names in seen:
                continue
            seen.add(names)       # the nearest of its pieces comes first
            theirs = judge.distance(*names)
            pieces = list(product(*(solids(robot, scene, judge, joints, name) for name in names)))
            flat = all(one[0].kind in ('mesh', 'box') for pair in pieces for one in pair)
            slack = 1e-6 if flat else 3e-6
            if abs(theirs - d) > slack:
                best = min(abs(gap(*a, *b, n) - d) for a, b in pieces)
                assert d > 0 and best < slack, (names, d, theirs)
            signs.append(d > 0)
    assert 0.02 < np.mean(signs) < 0.98


def solids(robot, scene, judge, joints, name):
    """Give the shapes of a link or an object, each with its pose by the judge."""
    if name in scene.objects:
        thing = scene.objects[name]
        return [(thing.parts[0].shape, thing.pose.homogeneous)]
    T = judge.pose_of(joints, name)
    return [(body.shape, T @ body.in_link.homogeneous) for body in robot_geometry(robot).bodies
            if body.link == name]


def test_all_within_reach_and_no_others(load):
    robot, scene = load('panda'), scattered(load('panda'), seed=3)
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(0)
    for _ in range(20):
        q = robot.random_q(generator)
        everything = checker.distances(q, np.inf)
        assert len(everything.distance) == checker.pair_count
        for reach in (0.0, 0.05, 0.3):
            found = checker.distances(q, reach)
            near = everything.distance[everything.distance < reach]
            assert found.distance == pytest.approx(near, abs=3e-6)
            few = checker.distances(q, reach, most=3)
            assert few.distance == pytest.approx(near[:3], abs=3e-6)
            assert len(few.names) == len(few.jacobian) == len(few.normal) == min(3, len(near))


def test_touching_and_negative_means_collision(load):
    robot, scene = load('baxter'), scattered(load('baxter'))
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(1)
    for _ in range(100):
        q = robot.random_q(generator)
        nearest = checker.distances(q, 0.05, most=1).distance
        if abs(nearest[0]) > 1e-5:
            assert checker.collides(q) == (nearest[0] < 0)


# -- gradients ----------------------------------------------------------------------------

def gradient(checker, q, wanted, h):
    """Central differences of the distance of one pair of names, (nv,); NaN at a kink."""
    robot, rows = checker.robot, []

    def value(v):
        found = checker.distances(step(robot, q, v), np.inf)
        return min(d for names, d in zip(found.names, found.distance, strict=True)
                   if names == wanted)
    middle = value(np.zeros(robot.nv))
    for v in np.eye(robot.nv) * h:
        ahead, behind = value(v), value(-v)
        kink = abs(ahead - 2 * middle + behind) > 30 * h * h
        rows.append(np.nan if kink else (ahead - behind) / (2 * h))
    return np.array(rows)


GRADIENTS = [('mimic_chain', 'fixed'), ('nested', 'fixed'), ('two_arms', 'planar')]


@pytest.mark.parametrize(('name', 'root'), GRADIENTS)
def test_gradients_on_all_kinds_of_joints(name, root):
    """Apart and within each other; only at kinks differences say nothing."""
    robot, generator = solid(name, root), np.random.default_rng(1)
    scene = Scene(robot)
    for i, shape in enumerate((Box([0.2, 0.3, 0.25]), Sphere(0.15), Capsule(0.08, 0.3))):
        scene = scene.add(SceneObject(f'thing {i}', [shape],
                                      random_pose(generator, -0.4, 0.5)))
    scene = scene.attach(tool(), solid_tip(robot))
    checks_gradients(CollisionChecker(robot, scene), generator, 12)


def solid_tip(robot):
    return next(name for name in ('tip', 'left_tip', 'left_hand') if name in robot.frame_names)


def test_gradients_of_hulls(load):
    robot, scene = load('ur5'), scattered(load('ur5'), seed=6)
    checks_gradients(CollisionChecker(robot, scene), np.random.default_rng(1), 4)


def checks_gradients(checker, generator, count):
    signs, compared = set(), 0
    for _ in range(count):
        q = checker.robot.random_q(generator)
        found, seen = checker.distances(q, 0.5), set()
        assert found.jacobian.shape == (len(found.names), checker.robot.nv)
        for i, names in enumerate(found.names):
            if names in seen:
                continue
            seen.add(names)
            if len(seen) > 6:
                break
            wanted = gradient(checker, q, names, 1e-4)
            smooth = np.isfinite(wanted)
            np.testing.assert_allclose(found.jacobian[i][smooth], wanted[smooth], atol=1e-3)
            compared += smooth.sum()
            signs.add(found.distance[i] > 0)
    assert compared > 10 and True in signs


@pytest.mark.parametrize('offset', [0.1, 1e-7, 0.0, -1e-7, -0.1])
def test_gradient_of_two_balls_through_contact(offset):
    """The one is (p - c) / |p - c|, in and out: exact."""
    robot, generator = flying('sphere'), np.random.default_rng(0)
    scene = Scene(robot).add(SceneObject('ball', [Sphere(0.2)], pose((0.1, 0.2, 0.3))))
    checker = CollisionChecker(robot, scene)
    for _ in range(20):
        away = generator.normal(size=3)
        away /= np.linalg.norm(away)
        T = random_pose(generator)
        T[:3, 3] = np.array([0.1, 0.2, 0.3]) + (0.32 + offset) * away
        found = checker.distances(at_pose(robot, T), 1.0)
        assert found.distance == pytest.approx([offset], abs=1e-6)
        wanted = T[:3, :3].T @ away      # a floating joint moves along its own axes
        assert found.jacobian[0] == pytest.approx([*wanted, 0, 0, 0], abs=1e-4)
        sign = 1 if found.names[0] == ('ball', 'body') else -1
        assert found.normal[0] == pytest.approx(sign * away, abs=1e-4)


def test_a_step_along_the_gradient_parts_what_touches(load):
    """The sign that Pink's barrier has wrong in penetration."""
    robot, scene = load('panda'), scattered(load('panda'), seed=8)
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(0)
    parted = seen = 0
    for _ in range(150):
        q = robot.random_q(generator)
        found = checker.distances(q, 0.0, most=1)
        if not len(found.distance) or found.distance[0] > -1e-4:
            continue
        pair = checker.only(*found.names[0])
        J = pair.distances(q, 1.0, most=1).jacobian[0]
        before = pair.distances(q, 1.0, most=1).distance[0]
        if np.linalg.norm(J) < 1e-3:
            continue
        after = pair.distances(step(robot, q, 1e-3 * J / np.linalg.norm(J)), 1.0, most=1)
        parted, seen = parted + (after.distance[0] > before), seen + 1
    assert seen > 20 and parted == seen


# -- odd ones -----------------------------------------------------------------------------


@pytest.mark.parametrize('kind, names', [
    ('box', ('cells', 'held')), ('box', ('held', 'cells')), ('cone', ('cells', 'held'))])
def test_an_octree_is_as_far_from_what_is_held_as_its_boxes(kind, names):
    """Whichever is named first: the gradient is that of the distance."""
    robot, generator = Robot.from_urdf(FREE.format('')), np.random.default_rng(0)
    centres = (np.unique(generator.integers(-3, 3, (12, 3)), axis=0) + 0.5) * 0.1
    one, other = (CollisionChecker(robot, Scene(robot).add(SceneObject('cells', parts)).attach(
        SceneObject('held', [KINDS[kind]]), 'body')).only(*names)
        for parts in ([OcTree(centres, 0.1)], [(Box([0.1] * 3), pose(at)) for at in centres]))
    apart = 0
    for _ in range(100):
        q = at_pose(robot, random_pose(generator, -0.8, 0.8))
        mine, theirs = one.distances(q, 3.0), other.distances(q, 3.0, most=2)
        assert one.collides(q) == other.collides(q)
        if theirs.distance[0] > 1e-3:
            assert mine.distance == pytest.approx(theirs.distance[:1], abs=1e-5)
            if theirs.distance[1] > theirs.distance[0] + 1e-3:    # else either may be nearest
                assert mine.jacobian == pytest.approx(theirs.jacobian[:1], abs=1e-2)
                apart += 1
    assert apart > 30


def test_a_half_space_is_as_deep_as_what_sinks_in():
    robot, generator = flying('box'), np.random.default_rng(0)
    n = np.array([0, 0.6, 0.8])
    checker = CollisionChecker(robot, Scene(robot).add(SceneObject('floor', [HalfSpace(n, 0.1)])))
    for _ in range(100):
        T = random_pose(generator, -0.5, 0.5)
        found = checker.distances(at_pose(robot, T), 2.0)
        wanted = n @ T[:3, 3] - support(OWN['box'], T[:3, :3].T @ n) - 0.1
        assert found.distance == pytest.approx([wanted], abs=1e-9)
        assert found.jacobian[0][:3] == pytest.approx(T[:3, :3].T @ n, abs=1e-6)


@pytest.mark.parametrize('side', [1, -1])
def test_a_plane_is_parted_to_the_nearer_side(side):
    robot = flying('sphere')
    checker = CollisionChecker(robot, Scene(robot).add(SceneObject('sheet', [
        Plane([0, 0, 1], 0.1)])))
    for height in (0.3, 0.15, 0.05, 0.01):
        found = checker.distances(robot.to_q({'fly': [0, 0, 0.1 + side * height, 0, 0, 0, 1]}), 1)
        assert found.distance == pytest.approx([height - 0.12], abs=1e-6)
        assert found.jacobian[0] == pytest.approx([0, 0, side, 0, 0, 0], abs=1e-6)


def test_the_first_distances_are_those_of_later_calls():
    """What the first call prepares leaves the placements of the robot's joints alone."""
    for number, ask in enumerate((
            lambda checker, q: checker.distances(q, 10.0).distance.tolist(),
            lambda checker, q: checker.in_collision(q))):
        robot = Robot.from_urdf(SMALL['two_arms'].replace('name="small"', f'name="{number}"'))
        q, scene = robot.random_q(np.random.default_rng(8)), Scene(robot)
        for link, radius in (('left_hand', 0.05), ('right_hand', 2.0), ('chest', 0.05)):
            scene = scene.attach(SceneObject(f'ball of {link}', [Sphere(radius)]), link)
        checker = CollisionChecker(robot, scene)
        first, second = (ask(checker, q) for _ in range(2))
        assert first == second and len(first)


def test_moved_objects_are_where_a_scene_has_them():
    """Objects that come near and go away, some of several shapes, turned ones too."""
    robot, generator = flying('capsule'), np.random.default_rng(5)
    scene = Scene(robot)
    for number, kind in enumerate([*KINDS, 'box', 'sphere']):
        parts = [KINDS[kind], (Sphere(0.05), random_pose(generator, (-0.2,) * 3, (0.2,) * 3))]
        scene = scene.add(SceneObject(f'thing {number}', parts[:1 + number % 2],
                                      random_pose(generator)))
    moved = DistanceConstraints('moved', CollisionChecker(robot, scene), margin=0.3, rows=1000,
                                gain=0.8, push=0.25, dt=0.01)
    q = at_pose(robot, random_pose(generator))
    for _ in range(60):
        names = list(generator.permutation([*scene.objects])[:generator.integers(9)])
        T = np.array([random_pose(generator) for _ in names]).reshape(-1, 4, 4)
        for name, place in zip(names, T, strict=True):
            scene = scene.move(str(name), place)
        moved.move(dict(zip(map(str, names), T, strict=True)), {})
        if generator.random() < 0.5:
            q = at_pose(robot, random_pose(generator))
        found = moved.near(q)
        distance, near = found.rows[:, DISTANCE], found.rows[:, DISTANCE] < 0.3
        judge = CollisionChecker(robot, scene).distances(q, 0.3)
        np.testing.assert_allclose(distance[near], judge.distance, rtol=0, atol=1e-6)
        assert sorted(pair for pair, one in zip(found.pairs, near, strict=True) if one) == sorted(
            judge.names)
