"""
Distances: closed forms, python-fcl, and bounds by support functions.

Bounds need no other library: the distance of convex shapes is at least that of their supporting
planes across the normal, and at most that of two points of theirs.
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
    """Return a free body with a shape."""
    return Robot.from_urdf(FREE.format(
        f'<collision><geometry>{URDF[shape]}</geometry></collision>'))


def at_pose(robot, T):
    return robot.to_q({'fly': [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]})


def gap(shape, T, other, T_other, n):
    """Return the distance of the supporting planes perpendicular to n."""
    reach = support(shape, T[:3, :3].T @ n) + n @ T[:3, 3]
    nearest = -support(other, -T_other[:3, :3].T @ n) + n @ T_other[:3, 3]
    return nearest - reach


# -- closed forms -------------------------------------------------------------------------

def ball_in(shape, T, centre):
    """Return the signed distance of a point to a shape in closed form."""
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
def test_distances_of_convex_shapes_agree_with_supports_and_fcl(kind, own):
    """Distance, normal and witness points."""
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
            few = checker.distances(q, reach, most=3)
            assert few.distance == pytest.approx(near[:3], abs=3e-6)
            assert len(few.names) == len(few.jacobian) == len(few.normal) == min(3, len(near))


def test_distances_are_bitwise_equal_after_queries_at_other_configurations(load):
    robot, scene = load('panda'), scattered(load('panda'), seed=3)
    # vertices of a turned part, in common planes: several of them are equally far in a direction
    ring = [[0.1 * np.cos(a), 0.1 * np.sin(a), z] for a in np.arange(48) * np.pi / 24
            for z in (0.0, 0.2)]
    checker = CollisionChecker(robot, scene.attach(SceneObject('part', [ConvexHull(ring)]),
                                                   'panda_hand'))
    qs = [robot.random_q(np.random.default_rng(i)) for i in range(20)]
    first, again = ([checker.distances(q, np.inf) for q in order] for order in (qs, qs[::-1]))
    for one, other in zip(first, again[::-1], strict=True):
        np.testing.assert_array_equal(one.distance, other.distance)
        np.testing.assert_array_equal(one.normal, other.normal)


# -- gradients ----------------------------------------------------------------------------

def gradient(checker, q, wanted, h):
    """Return the gradient of a distance by central differences, (nv,); NaN at a kink."""
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
def test_gradients_agree_with_differences_on_all_kinds_of_joints(name, root):
    """Of separate and of intersecting bodies, except at kinks."""
    robot, generator = shaped_robot(name, root), np.random.default_rng(1)
    scene = Scene(robot)
    for i, shape in enumerate((Box([0.2, 0.3, 0.25]), Sphere(0.15), Capsule(0.08, 0.3))):
        scene = scene.add(SceneObject(f'thing {i}', [shape],
                                      random_pose(generator, -0.4, 0.5)))
    tip = next(name for name in ('tip', 'left_tip', 'left_hand') if name in robot.frame_names)
    checker, signs, compared = CollisionChecker(robot, scene.attach(tool(), tip)), set(), 0
    for _ in range(12):
        q = robot.random_q(generator)
        found, seen = checker.distances(q, 0.5), set()
        assert found.jacobian.shape == (len(found.names), robot.nv)
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


@pytest.mark.parametrize('kind, names', [
    ('box', ('cells', 'held')), ('box', ('held', 'cells')), ('cone', ('cells', 'held'))])
def test_distance_of_an_octree_to_an_attached_object_is_that_of_its_cells(kind, names):
    """In both orders of the names: the gradient is that of the distance."""
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
