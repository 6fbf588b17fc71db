"""Links that the scene makes larger or smaller, judged by python-fcl on shapes made as large."""

import pickle
from types import SimpleNamespace

from fcl_judge import fcl_shape, FclJudge, hull, Solid
from judge import pose, TreeJudge
import numpy as np
import pytest
from scenes import ball_arm, ball_at, pairs, scattered, solid, tool
import trimesh

from ros2_ik.core import InvalidSceneError
from ros2_ik.core.scene import (
    CollisionChecker,
    OcTree,
    robot_geometry,
    Scene,
    SceneObject,
    Sphere,
)

MESHES = {'panda_hand': 1.6, 'panda_link5': 0.5, 'panda_link7': 1.3, 'panda_leftfinger': 2.0}
SHAPES = {'base': 1.5, 'left_c': 2.0, 'right_c': 0.4, 'left_hand': 1.7, 'left_b': 0.6}


def resized(robot, scene, frames):
    """Judge links of the scale of a scene: shapes as large, meshes about their mean vertex."""
    judge = FclJudge(robot, frames)
    for body in robot_geometry(robot).bodies:
        factor = scene.scale.get(body.link)
        if factor is None:
            continue
        index = [item for item in robot_geometry(robot).bodies if item.link == body.link].index(
            body)
        if body.shape.kind == 'mesh':
            points = trimesh.Trimesh(body.shape.vertices, body.shape.triangles).vertices
            points = points.mean(axis=0) + factor * (points - points.mean(axis=0))
            made = hull(points), np.linalg.norm(points, axis=1).max()
        else:
            made = fcl_shape(SimpleNamespace(kind=body.shape.kind, **{
                name: factor * getattr(body.shape, name) for name in ('size', 'radius', 'length')
                if hasattr(body.shape, name)}))
        judge.solids[body.link][index] = Solid(*made, body.in_link.homogeneous)
    return judge.surround(scene)


@pytest.mark.parametrize(('scale', 'distance'), [(1.3, -0.01), (0.5, 0.07), (1.0, 0.02)])
def test_a_scaled_ball(scale, distance):
    robot = ball_arm()
    scene = Scene(robot).add(ball_at(1.02)).with_scale({'tip': scale})
    checker = CollisionChecker(robot, scene)
    assert checker.collides(robot.neutral) == (distance < 0)
    assert checker.distances(robot.neutral).distance == pytest.approx([distance], abs=1e-6)
    assert checker.only('tip', 'ball').distances(robot.neutral).distance == pytest.approx(
        [distance], abs=1e-6)
    contacts = checker.in_collision(robot.neutral)
    assert [c.depth for c in contacts] == pytest.approx([-distance] * (distance < 0), abs=1e-6)


def test_padding_comes_on_top():
    robot = ball_arm()
    scene = Scene(robot).add(ball_at(1.1)).with_scale({'tip': 1.5}).with_padding({'tip': 0.03})
    found = CollisionChecker(robot, scene).distances(robot.neutral)
    assert found.distance == pytest.approx([0.1 - 0.05 - 0.03], abs=1e-6)


@pytest.mark.parametrize('name', ['panda', 'two_arms'])
def test_scaled_links_touch_what_the_judge_says(name, load):
    robot = load(name) if name == 'panda' else solid(name)
    links = robot_geometry(robot).links
    scene = scattered(robot, seed=3).with_scale(MESHES if name == 'panda' else SHAPES)
    held = {'panda': 'panda_link4', 'two_arms': 'right_hand'}[name]
    scene = scene.attach(tool(0.4), held, links)
    frames = None if name == 'panda' else TreeJudge(robot.urdf, 'fixed')
    plain, judge = FclJudge(robot, frames).surround(scene), resized(robot, scene, frames)
    checker, generator, more = CollisionChecker(robot, scene), np.random.default_rng(0), 0
    for _ in range(60):
        q = robot.random_q(generator)
        at = robot.to_joints(q)
        own = {names for names in plain.touching(at) if names <= {*links}}
        wanted = own | {names for names in judge.touching(at) if not names <= {*links}}
        assert pairs(checker.in_collision(q)) == wanted
        assert checker.collides(q) == bool(wanted)
        more += wanted != plain.touching(at)
    assert more > 5


def test_links_keep_their_size_against_each_other(load):
    robot = load('panda')
    plain = CollisionChecker(robot)
    large = CollisionChecker(robot, Scene(robot).with_scale(
        dict.fromkeys(robot_geometry(robot).links, 5.0)))
    generator = np.random.default_rng(0)
    for _ in range(20):
        q = robot.random_q(generator)
        assert large.distances(q, 0.3).distance == pytest.approx(plain.distances(q, 0.3).distance)
        assert pairs(large.in_collision(q)) == pairs(plain.in_collision(q))
    pair = ('panda_hand', 'panda_link3')
    assert large.only(*pair).distances(q, 9.0).distance == pytest.approx(
        plain.only(*pair).distances(q, 9.0).distance)


@pytest.mark.parametrize('meshes', ['hull', 'pieces', 'exact'])
def test_scaled_meshes_of_every_detail(meshes, load):
    """Larger ones contain the smaller ones, and the box that a judge scales touches alike."""
    robot, generator = load('ur5'), np.random.default_rng(1)
    scene = Scene(robot).add(SceneObject('ball', [Sphere(0.2)], pose((0.4, 0.1, 0.4))))
    checkers = [CollisionChecker(robot, scene.with_scale(dict.fromkeys(
        robot_geometry(robot).links, factor)), meshes) for factor in (0.5, 1.0, 1.5)]
    sizes = set()
    for _ in range(60):
        q = robot.random_q(generator)
        found = [{names for names in pairs(checker.in_collision(q)) if 'ball' in names}
                 for checker in checkers]
        if meshes != 'exact':    # triangles are hollow
            assert found[0] <= found[1] <= found[2]
        sizes.add(tuple(map(len, found)))
    assert any(a < b < c for a, b, c in sizes)


def test_scaled_links_meet_an_octree():
    robot = ball_arm()
    cell = SceneObject('cells', [OcTree([[1.05, 0.05, 0.15]], 0.1)])
    apart, near = (CollisionChecker(robot, Scene(robot).add(cell).with_scale({'tip': factor}))
                   for factor in (2.9, 3.2))
    assert apart.distances(robot.neutral).distance == pytest.approx([0.01], abs=1e-6)
    assert not apart.collides(robot.neutral) and near.collides(robot.neutral)


def test_a_scaled_scene_travels():
    robot = ball_arm()
    scene = Scene(robot).add(ball_at(1.02)).with_scale({'tip': 1.3})
    checker = CollisionChecker(robot, scene)
    for other in (pickle.loads(pickle.dumps(checker)),
                  CollisionChecker(robot, pickle.loads(pickle.dumps(scene)))):
        assert other.collides(robot.neutral)
    assert not CollisionChecker(robot, scene.with_scale({'tip': 1.0})).collides(robot.neutral)


def test_a_size_that_makes_no_sense_is_refused():
    tiny = solid('one_joint', shapes={'tip': '<sphere radius="1e-7"/>'})
    with pytest.raises(InvalidSceneError, match=r"scale of 'tip', 0.001: .*radius of a sphere"):
        CollisionChecker(tiny, Scene(tiny).with_scale({'tip': 0.001}))
