"""
Distances: closed forms, python-fcl, and bounds by support planes.

The bounds need no other library: the distance of convex shapes is at least that of two support
planes with a common normal, and at most that of any two points of the shapes.
"""

import fcl
from fcl_judge import distance, fcl_shape, support
from judge import pose, step
import numpy as np
import pytest
from scenes import random_pose, scattered, shaped_robot, tool
from scipy.spatial.transform import Rotation

from ros2_ik.core import Robot
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    OcTree,
    Scene,
    SceneObject,
    Sphere,
)

SCENE_SHAPES = {
    'box': Box([0.3, 0.2, 0.1]), 'sphere': Sphere(0.15), 'cylinder': Cylinder(0.1, 0.3),
    'cone': Cone(0.15, 0.3), 'capsule': Capsule(0.08, 0.25),
    'convex_hull': ConvexHull(np.random.default_rng(0).uniform(-0.15, 0.15, (20, 3)))}
FREE_BODY = ('<robot name="r"><link name="base"/><link name="body">{}</link><joint name="fly" '
             'type="floating"><parent link="base"/><child link="body"/></joint></robot>')
LINK_ELEMENTS = {'box': '<box size="0.2 0.1 0.15"/>', 'sphere': '<sphere radius="0.12"/>',
                 'cylinder': '<cylinder radius="0.08" length="0.25"/>',
                 'capsule': '<capsule radius="0.07" length="0.3"/>'}
LINK_SHAPES = {'box': Box([0.2, 0.1, 0.15]), 'sphere': Sphere(0.12),
               'cylinder': Cylinder(0.08, 0.25), 'capsule': Capsule(0.07, 0.3)}


def free_body(shape):
    """Return a robot that is one free body with a shape."""
    return Robot.from_urdf(FREE_BODY.format(
        f'<collision><geometry>{LINK_ELEMENTS[shape]}</geometry></collision>'))


def at_pose(robot, T):
    return robot.to_q({'fly': [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]})


def plane_distance(shape, T, other, T_other, n):
    """Return the distance between the support planes perpendicular to n."""
    reach = support(shape, T[:3, :3].T @ n) + n @ T[:3, 3]
    nearest = -support(other, -T_other[:3, :3].T @ n) + n @ T_other[:3, 3]
    return nearest - reach


# -- closed forms -------------------------------------------------------------------------

def signed_distance(shape, T, centre):
    """Return the signed distance of a point from a shape in closed form."""
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
def test_distances_of_spheres_agree_with_closed_forms(shape):
    robot, generator = free_body('sphere'), np.random.default_rng(0)
    for _ in range(150):
        T, T_sphere = random_pose(generator, -0.1, 0.1), random_pose(generator, -0.2, 0.2)
        scene = Scene(robot).add(SceneObject('thing', [shape], T))
        q = at_pose(robot, T_sphere)
        found = CollisionChecker(robot, scene).distances(q, 2.0)
        expected = signed_distance(shape, T, T_sphere[:3, 3]) - 0.12
        assert found.distance == pytest.approx([expected], abs=3e-6)
        assert CollisionChecker(robot, scene).collides(q) == (expected < 0) or abs(expected) < 1e-5


# -- convex shapes of all kinds -----------------------------------------------------------

@pytest.mark.parametrize('kind', SCENE_SHAPES)
@pytest.mark.parametrize('link_kind', LINK_ELEMENTS)
def test_distances_of_convex_shapes_agree_with_support_planes_and_fcl(kind, link_kind):
    robot, generator = free_body(link_kind), np.random.default_rng(0)
    shape, link_shape = SCENE_SHAPES[kind], LINK_SHAPES[link_kind]
    signs, exact = set(), {link_kind, kind} <= {'box', 'convex_hull'}
    fcl_pair = [fcl.CollisionObject(fcl_shape(each)[0], fcl.Transform())
                for each in (link_shape, shape)]
    tolerance = 1e-9 if exact else 5e-6
    for _ in range(100):
        T, T_other = random_pose(generator, -0.2, 0.2), random_pose(generator, -0.1, 0.1)
        scene = Scene(robot).add(SceneObject('thing', [shape], T_other))
        found = CollisionChecker(robot, scene).distances(at_pose(robot, T), 2.0)
        d, n = found.distance[0], found.normal[0]
        first, second = (link_shape, T), (shape, T_other)
        if found.names[0] == ('thing', 'body'):
            first, second = second, first
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-9)
        assert (found.second_point[0] - found.first_point[0]) @ n == pytest.approx(d, abs=1e-6)
        assert plane_distance(*first, *second, n) == pytest.approx(d, abs=tolerance)
        witness = (found.first_point if first[0] is link_shape else found.second_point)[0]
        assert abs(signed_distance(link_shape, T, witness)) < 1e-5      # on its surface
        for body, T_one in zip(fcl_pair, (T, T_other), strict=True):
            body.setTransform(fcl.Transform(T_one[:3, :3], T_one[:3, 3]))
        fcl_distance = distance(*fcl_pair)
        # fcl sometimes stops early: its distance is then too large, never too small
        assert abs(fcl_distance - d) < (1e-6 if exact and d < 0 else 1e-3) or fcl_distance > d > 0
        signs.add(d > 0)
    assert signs == {True, False}


def test_distances_up_to_a_maximum_are_complete(load):
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
            few = checker.distances(q, reach, max_count=3)
            assert few.distance == pytest.approx(near[:3], abs=3e-6)
            assert len(few.names) == len(few.jacobian) == len(few.normal) == min(3, len(near))


def test_distances_are_bitwise_equal_after_queries_at_other_configurations(load):
    robot, scene = load('panda'), scattered(load('panda'), seed=3)
    # a cylinder's vertices lie in common planes: several are extreme in the same direction
    ring = [[0.1 * np.cos(a), 0.1 * np.sin(a), z] for a in np.arange(48) * np.pi / 24
            for z in (0.0, 0.2)]
    checker = CollisionChecker(robot, scene.attach(SceneObject('part', [ConvexHull(ring)]),
                                                   'panda_hand'))
    qs = [robot.random_q(np.random.default_rng(i)) for i in range(20)]
    forward, backward = ([checker.distances(q, np.inf) for q in order] for order in (qs, qs[::-1]))
    for one, other in zip(forward, backward[::-1], strict=True):
        np.testing.assert_array_equal(one.distance, other.distance)
        np.testing.assert_array_equal(one.normal, other.normal)


# -- gradients ----------------------------------------------------------------------------

def gradient(checker, q, pair, h):
    """Return the gradient of a distance by central differences, (nv,); NaN at a kink."""
    robot, rows = checker.robot, []

    def value(v):
        found = checker.distances(step(robot, q, v), np.inf)
        return min(d for names, d in zip(found.names, found.distance, strict=True)
                   if names == pair)
    middle = value(np.zeros(robot.nv))
    for v in np.eye(robot.nv) * h:
        ahead, behind = value(v), value(-v)
        kink = abs(ahead - 2 * middle + behind) > 30 * h * h
        rows.append(np.nan if kink else (ahead - behind) / (2 * h))
    return np.array(rows)


GRADIENT_ROBOTS = [('mimic_chain', 'fixed'), ('nested', 'fixed'), ('two_arms', 'planar')]


@pytest.mark.parametrize(('name', 'root'), GRADIENT_ROBOTS)
def test_gradients_agree_with_finite_differences_on_all_kinds_of_joints(name, root):
    """Except at kinks, where the nearest features change."""
    robot, generator = shaped_robot(name, root), np.random.default_rng(1)
    scene = Scene(robot)
    for i, shape in enumerate((Box([0.2, 0.3, 0.25]), Sphere(0.15), Capsule(0.08, 0.3))):
        scene = scene.add(SceneObject(f'thing {i}', [shape], random_pose(generator, -0.4, 0.5)))
    tip = next(name for name in ('tip', 'left_tip', 'left_hand') if name in robot.frame_names)
    checker, signs, compared = CollisionChecker(robot, scene.attach(tool(), tip)), set(), 0
    for _ in range(12):
        q = robot.random_q(generator)
        found, checked = checker.distances(q, 0.5), set()
        assert found.jacobian.shape == (len(found.names), robot.nv)
        for i, names in enumerate(found.names):
            if names in checked:
                continue
            checked.add(names)
            if len(checked) > 6:
                break
            expected = gradient(checker, q, names, 1e-4)
            smooth = np.isfinite(expected)
            np.testing.assert_allclose(found.jacobian[i][smooth], expected[smooth], atol=1e-3)
            compared += smooth.sum()
            signs.add(found.distance[i] > 0)
    assert compared > 10 and True in signs


@pytest.mark.parametrize('kind, names', [
    ('box', ('cells', 'held')), ('box', ('held', 'cells')), ('cone', ('cells', 'held'))])
def test_distance_of_an_octree_to_an_attached_object_is_that_of_its_cells(kind, names):
    robot, generator = Robot.from_urdf(FREE_BODY.format('')), np.random.default_rng(0)
    centres = (np.unique(generator.integers(-3, 3, (12, 3)), axis=0) + 0.5) * 0.1
    octree, boxes = (CollisionChecker(robot, Scene(robot).add(SceneObject('cells', parts)).attach(
        SceneObject('held', [SCENE_SHAPES[kind]]), 'body')).for_pair(*names)
        for parts in ([OcTree(centres, 0.1)], [(Box([0.1] * 3), pose(at)) for at in centres]))
    compared = 0
    for _ in range(100):
        q = at_pose(robot, random_pose(generator, -0.8, 0.8))
        found, expected = octree.distances(q, 3.0), boxes.distances(q, 3.0, max_count=2)
        assert octree.collides(q) == boxes.collides(q)
        if expected.distance[0] > 1e-3:
            assert found.distance == pytest.approx(expected.distance[:1], abs=1e-5)
            if expected.distance[1] > expected.distance[0] + 1e-3:    # or either is nearest
                assert found.jacobian == pytest.approx(expected.jacobian[:1], abs=1e-2)
                compared += 1
    assert compared > 30
