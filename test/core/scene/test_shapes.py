"""Shapes and the allowed collision matrix: values, MoveIt's rules and refusals."""

import itertools
import pickle

import coal
from hypothesis import given, strategies as st
import numpy as np
import pytest
import trimesh

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene import AllowedCollisions
from ros2_ik.core.scene.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    Mesh,
    OcTree,
    Plane,
    shape_kinds,
    Sphere,
)

CUBE = trimesh.creation.box((0.4, 0.5, 0.6))
EXAMPLES = {
    'box': Box([0.3, 0.4, 0.5]), 'sphere': Sphere(0.3), 'cylinder': Cylinder(0.2, 0.5),
    'cone': Cone(0.25, 0.6), 'capsule': Capsule(0.1, 0.4),
    'half_space': HalfSpace([0, 0.6, 0.8], 0.1), 'plane': Plane([1, 0, 0], 0.2),
    'mesh': Mesh(CUBE.vertices, CUBE.faces), 'convex_hull': ConvexHull(CUBE.vertices),
    'octree': OcTree([[0.02, 0.03, 0.01], [0.31, -0.21, 0.11]], 0.05),
}


def distance(shape, x):
    """Return the signed distance of a point from a shape by coal [m]."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    coal.distance(shape.geometry, coal.Transform3s.Identity(), coal.Capsule(1e-6, 1e-9),
                  coal.Transform3s(np.eye(3), x), request, result)
    return result.min_distance


def test_each_shape_has_an_example():
    assert set(EXAMPLES) == set(shape_kinds())
    assert all(EXAMPLES[kind].kind == kind for kind in EXAMPLES)


@pytest.mark.parametrize('kind', EXAMPLES)
def test_shapes_are_immutable_and_their_copies_equal(kind):
    shape = EXAMPLES[kind]
    assert shape.geometry is shape.geometry
    copy = pickle.loads(pickle.dumps(shape))
    assert copy == shape and hash(copy) == hash(shape) and copy.digest == shape.digest
    assert copy != EXAMPLES['box' if kind != 'box' else 'sphere']
    with pytest.raises(AttributeError):
        copy.kind_of_thing = 3


def test_normals_of_half_spaces_and_planes_are_normalized():
    ground = HalfSpace([0, 0, 2], 1)
    assert ground.offset == 0.5 and ground.normal.tolist() == [0, 0, 1]
    assert distance(ground, np.array([3, 4, 1.5])) == pytest.approx(1, abs=1e-5)
    assert Plane([0, 0, 2], 1) == Plane([0, 0, 1], 0.5) != ground
    assert distance(Plane([0, 0, 1], 0.5), np.array([0, 0, 0.1])) == pytest.approx(0.4, abs=1e-5)


def test_octree_has_the_boxes_and_collisions_of_its_cells():
    tree = EXAMPLES['octree']
    boxes = np.array([list(box) for box in tree.geometry.toBoxes()])
    assert sorted(boxes[:, :3].round(6).tolist()) == [[0.025, 0.025, 0.025],
                                                      [0.325, -0.225, 0.125]]
    assert (boxes[:, 3] == 0.05).all()
    for x, collides in (([0.01, 0.01, 0.01], True), ([0.1, 0.1, 0.1], False)):
        result = coal.CollisionResult()
        coal.collide(tree.geometry, coal.Transform3s.Identity(), coal.Capsule(1e-3, 1e-9),
                     coal.Transform3s(np.eye(3), np.array(x)), coal.CollisionRequest(), result)
        assert result.isCollision() == collides


MALFORMED = {
    'box: zero': (lambda: Box([1, 0, 1]), 'size of a box'),
    'box: two': (lambda: Box([1, 1]), '3 finite numbers'),
    'box: NaN': (lambda: Box([1, np.nan, 1]), 'size of a box'),
    'box: huge': (lambda: Box([1e300, 1, 1]), 'up to 1e'),
    'sphere: negative': (lambda: Sphere(-1), 'radius of a sphere'),
    'sphere: bool': (lambda: Sphere(True), 'radius of a sphere'),
    'sphere: tiny': (lambda: Sphere(1e-300), 'radius of a sphere'),
    'cylinder': (lambda: Cylinder(1, 0), 'length of a cylinder'),
    'half space': (lambda: HalfSpace([0, 0, 0], 1), 'has no direction'),
    'half space offset': (lambda: HalfSpace([0, 0, 1], np.nan), 'offset'),
    'plane': (lambda: Plane([0, 1], 1), 'normal of a plane'),
    'hull': (lambda: ConvexHull([]), 'points of a convex hull'),
    'mesh: empty': (lambda: Mesh([], []), 'vertices of a mesh'),
    'mesh: index': (lambda: Mesh(CUBE.vertices, [[0, 1, 8]]), r'8 vertices; triangle 0'),
    'mesh: half': (lambda: Mesh(CUBE.vertices, [[0, 1.5, 2]]), 'triangle 0'),
    'mesh: quads': (lambda: Mesh(CUBE.vertices, [[0, 1, 2, 3]]), 'triangles of a mesh'),
    'mesh: detail': (lambda: Mesh(CUBE.vertices, CUBE.faces, 'fine'), 'exact, hull'),
    'octree: resolution': (lambda: OcTree([[0, 0, 0]], 0), 'resolution'),
    'octree: far': (lambda: OcTree([[1e5, 0, 0]], 0.01), 'further away'),
}


@pytest.mark.parametrize('case', MALFORMED)
def test_malformed_shapes_are_refused(case):
    make, message = MALFORMED[case]
    with pytest.raises(InvalidSceneError, match=message) as caught:
        make()
    assert len(str(caught.value)) < 400


NAMES = ['a', 'b', 'c', 'd']
flags = st.dictionaries(st.sampled_from(NAMES), st.booleans())
entries = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
                          .map(sorted).map(tuple), st.booleans())


@pytest.mark.parametrize('pairs', [{'ab': True}, {('a', 'b', 'c'): True}, {('a', ''): True},
                                   {('a', 'b'): None}, {('a', 'b'): True, ('b', 'a'): False},
                                   [('a', 'b')]])
def test_malformed_allowed_pairs_are_refused(pairs):
    with pytest.raises(InvalidSceneError):
        AllowedCollisions(pairs)


@pytest.mark.parametrize('defaults', [{'': True}, {5: True}, {'a': None}, ['a']])
def test_malformed_defaults_of_allowed_collisions_are_refused(defaults):
    with pytest.raises(InvalidSceneError):
        AllowedCollisions(defaults=defaults)


def test_update_of_a_collision_matrix_leaves_the_old_one_unchanged():
    old = AllowedCollisions({('b', 'a'): True}, {'c': True})
    new = old.updated(AllowedCollisions({('c', 'a'): False}, {'b': True, 'c': False}))
    assert (dict(old.pairs), dict(old.defaults)) == ({('a', 'b'): True}, {'c': True})
    assert dict(new.pairs) == {('a', 'b'): True, ('a', 'c'): False}
    assert dict(new.defaults) == {'b': True, 'c': False}


@given(entries, flags)
def test_allowed_pairs_follow_the_rules_of_moveit(pairs, defaults):
    matrix = AllowedCollisions(pairs, defaults)
    for first, second in itertools.product(NAMES, NAMES):
        pair = tuple(sorted((first, second)))
        if pair in pairs:
            expected = pairs[pair]
        elif first in defaults and second in defaults:
            expected = defaults[first] and defaults[second]
        else:
            expected = defaults.get(first, defaults.get(second, False))
        assert matrix.allowed(first, second) is expected
