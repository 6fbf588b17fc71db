"""Drawn surfaces of shapes, robots and scenes."""

from judge import FileJudge
import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    load_scene,
    Mesh,
    OcTree,
    Plane,
    Robot,
    Sphere,
)
from ros2_ik.core.internals import shape_kinds

pytest.importorskip('trimesh')
from ros2_ik.view.surfaces import drawn_object, placed_objects, RobotModel, shape_surface

CORNERS = np.array([[x, y, z] for x in (-0.1, 0.2) for y in (-0.3, 0.1) for z in (0, 0.4)])
# shape, and the corners of its bounding box
SHAPES = {
    'box': (Box([0.2, 0.4, 0.6]), [-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]),
    'sphere': (Sphere(0.3), [-0.3] * 3, [0.3] * 3),
    'cylinder': (Cylinder(0.1, 0.5), [-0.1, -0.1, -0.25], [0.1, 0.1, 0.25]),
    'cone': (Cone(0.1, 0.5), [-0.1, -0.1, -0.25], [0.1, 0.1, 0.25]),
    'capsule': (Capsule(0.1, 0.5), [-0.1, -0.1, -0.35], [0.1, 0.1, 0.35]),
    'plane': (Plane([0, 0, 1], 0.5), [-2, -2, 0.5], [2, 2, 0.5]),
    'half_space': (HalfSpace([1, 0, 0], 0.5), [0.5, -2, -2], [0.5, 2, 2]),
    'convex_hull': (ConvexHull(CORNERS), CORNERS.min(axis=0), CORNERS.max(axis=0)),
    'mesh': (Mesh(CORNERS[:4], [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]),
             CORNERS[:4].min(axis=0), CORNERS[:4].max(axis=0)),
    'octree': (OcTree([[0.01, 0.02, 0.03], [0.09, 0, 0], [0.32, 0, 0]], 0.1),
               [0, 0, 0], [0.4, 0.1, 0.1]),      # cells, not cubes centred at the points
}


def test_each_shape_kind_has_an_example():
    assert set(SHAPES) == set(shape_kinds())


@pytest.mark.parametrize('kind', sorted(SHAPES))
def test_drawn_surface_has_the_bounds_of_its_shape(kind):
    shape, low, high = SHAPES[kind]
    surface = shape_surface(shape, (1, 0, 0))
    assert surface.faces.min() >= 0 and surface.faces.max() < len(surface.vertices)
    assert np.abs(surface.vertices.min(axis=0) - low).max() < 2e-3
    assert np.abs(surface.vertices.max(axis=0) - high).max() < 2e-3


def test_drawn_links_are_at_the_poses_of_yourdfpy():
    robot = Robot.load('panda')
    model = RobotModel(robot)
    q = robot.random_q(np.random.default_rng(2))
    judge, poses = FileJudge(robot.urdf), model.poses(q)
    assert len(poses) > 9
    for link, _, in_link in model.surfaces:
        visual, = judge.urdf.link_map[link].visuals
        expected = judge.transform(robot.to_joints(q), link, 'panda_link0')
        if visual.origin is not None:
            expected = expected @ visual.origin
        assert np.abs(expected - (poses[link] * in_link).homogeneous).max() < 1e-6


def test_objects_are_drawn_in_their_colours_and_attached_objects_at_the_hand():
    robot = Robot.load('panda')
    scene = load_scene('table', robot)
    drawn = drawn_object(scene.objects['table'], scene.objects['table'].drawn_color())
    assert len(drawn) == 5 and drawn[0][0].color == (0.72, 0.53, 0.34)
    from ros2_ik.core import Configuration, SceneObject
    scene_with_tool = scene.attach(SceneObject('tool', [Box([0.1, 0.1, 0.1])]), 'panda_hand')
    q = robot.random_q(np.random.default_rng(1))
    hand = Configuration(robot, q).transform('panda_hand')
    (_, _, object_color), (_, pose, held_color) = placed_objects(scene_with_tool, q)
    assert np.abs(pose.homogeneous - hand).max() < 1e-9 and object_color != held_color


def test_rendered_surface_hides_surfaces_behind_it_unless_drawn_in_front():
    pytest.importorskip('PIL')
    from ros2_ik.view.picture import camera_on, render
    camera = camera_on(CORNERS, np.array([1.0, 0, 0]), 1.0)    # looks along -x
    middle = pin.SE3(np.eye(3), CORNERS.mean(axis=0))

    def center(*surfaces, **options):
        return render(surfaces, camera, 40, 40, **options)[20, 20]
    far = shape_surface(Sphere(0.05), (0.0, 0.0, 1.0)), middle
    near = shape_surface(Sphere(0.1), (1.0, 0.0, 0.0)), middle * pin.SE3(
        np.eye(3), np.array([0.3, 0, 0]))
    r, _, b = center(far, near)
    assert r > 0.5 and b == 0
    r, _, b = center(near, in_front=[far])
    assert r == 0 and b > 0.5
