"""Closed meshes collide as solids, judged by python-fcl, trimesh and closed forms."""

from fcl_judge import FclJudge
from judge import pose
import numpy as np
import pytest
from scenes import pairs, scattered, shaped_robot
import trimesh

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import HalfSpace, Mesh, Plane, Scene, SceneObject


def hollow_ball(outer, inner):
    hollow = trimesh.creation.icosphere(2, inner)
    hollow.invert()
    return trimesh.util.concatenate([trimesh.creation.icosphere(2, outer), hollow])


def two_balls():
    """Return two distant spheres in one mesh."""
    balls = [trimesh.creation.icosphere(2, 0.05) for _ in range(2)]
    balls[1].apply_translation([3, 0, 0])
    return trimesh.util.concatenate(balls)


def to_mesh(source, **options):
    return Mesh(np.array(source.vertices), np.array(source.faces), **options)


def checker_among(*objects):
    """Return the checker of an arm with a sphere of 0.1 m, among objects at offsets from it."""
    robot = shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.1"/>'}, xyz=(0, 0, 0))
    scene = Scene(robot)
    for i, (shape, offset) in enumerate(objects):
        place = None if isinstance(shape, (HalfSpace, Plane)) else pose(
            np.array([0.7, 0, 0.1]) + offset)
        scene = scene.add(SceneObject(f'thing {i}', [shape], place))
    return CollisionChecker(robot, scene)


BALL = trimesh.creation.icosphere(3, 0.5)
INSIDE_OUT = BALL.copy()
INSIDE_OUT.invert()


@pytest.mark.parametrize(('source', 'offset', 'touches'), [
    (BALL, (0.3, 0, 0), True), (BALL, (0.7, 0, 0), False), (INSIDE_OUT, (0, 0, 0), True),
    (INSIDE_OUT, (0.7, 0, 0), False), (hollow_ball(0.5, 0.2), (0, 0, 0), True),
    (trimesh.creation.torus(0.4, 0.1), (0, 0, 0), False),
    (trimesh.creation.torus(0.4, 0.15), (0.4, 0, 0), True),
    (two_balls(), (-1.5, 0, 0), False), (two_balls(), (-3, 0, 0), True)])
def test_meshes_collide_as_solids(source, offset, touches):
    checker = checker_among((to_mesh(source), offset))
    q = checker.robot.neutral
    assert checker.collides(q) == touches == bool(checker.in_collision(q))


def damaged(source, damage):
    """Return a closed mesh with defects: missing, duplicate or flipped triangles."""
    draw = np.random.default_rng(3)
    vertices, faces = np.array(source.vertices), np.array(source.faces)
    missing, flipped = draw.random(len(faces)) < 0.02, draw.random(len(faces)) < 0.5
    if damage == 'missing':
        return vertices, faces[~missing]
    if damage == 'random winding':
        return vertices, np.where(flipped[:, None], faces[:, ::-1], faces)
    if damage == 'missing and random winding':
        return vertices, np.where(flipped[:, None], faces[:, ::-1], faces)[~missing]
    if damage == 'two-sided':
        return vertices, np.concatenate([faces, faces[:, ::-1]])
    if damage == 'two-sided and missing':
        return vertices, np.concatenate([faces, faces[~missing][:, ::-1], faces[flipped]])[30:]
    corners = vertices[faces].reshape(-1, 3)
    return (corners + draw.uniform(-1, 1, corners.shape) * {'rounded': 5e-7, 'gaps': 2e-4}[damage],
            np.arange(len(corners)).reshape(-1, 3))


@pytest.mark.parametrize('damage', ['missing', 'random winding', 'missing and random winding',
                                    'two-sided', 'two-sided and missing', 'rounded', 'gaps'])
def test_damaged_mesh_is_solid(damage, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    ring = trimesh.creation.torus(0.4, 0.15, 40, 20)
    mesh, draw, q = Mesh(*damaged(ring, damage)), np.random.default_rng(4), np.zeros(1)
    robot = shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.01"/>'}, xyz=(0, 0, 0))
    counts, false_positives = {True: 0, False: 0}, 0
    assert not mesh.has_parts
    for offset in draw.uniform([-0.5, -0.5, -0.14], [0.5, 0.5, 0.14], (60, 3)):
        distance = np.hypot(np.hypot(*offset[:2]) - 0.4, offset[2]) - 0.15    # to the surface
        if abs(distance) < 0.04:     # near the holes
            continue
        scene = Scene(robot).add(SceneObject('ring', [mesh], pose([0.7, 0, 0.1] - offset)))
        checker = CollisionChecker(robot, scene)
        hit = checker.collides(q)
        assert hit == bool(checker.in_collision(q)) and hit >= (distance < 0)
        counts[bool(hit)] += 1
        false_positives += hit > (distance < 0)
    assert min(counts.values()) > 5 and not mesh.has_parts
    assert false_positives <= 3 * ('winding' in damage)


def overlapping(draw):
    """Return a cube of 1 m and a bar through its side, x 0.1 .. 1.1, with flipped faces."""
    cube = trimesh.creation.box([1, 1, 1])
    bar = trimesh.creation.box([1, 0.5, 0.5]).apply_translation([0.6, 0, 0])
    bar.invert()
    bar.faces = draw.permutation(bar.faces)
    return trimesh.util.concatenate([cube, bar])


def test_overlapping_parts_of_any_winding_are_solid():
    """Only a part that is entirely inside another part is a cavity."""
    draw = np.random.default_rng(2)
    for k in range(13):
        mesh = to_mesh(overlapping(draw))
        if k == 12:
            assert mesh.convex_parts
        for x, touches in ((-0.3, True), (0.3, True), (0.8, True), (1.25, False)):
            checker = checker_among((mesh, (-x, 0, 0)))
            assert checker.collides(np.zeros(1)) == touches, x
            if k == 12:
                assert (checker.distances(np.zeros(1), 3.0).distance.min() < 0) == touches


def test_padding_applies_to_meshes(load):
    robot, generator, results = load('ur5'), np.random.default_rng(5), set()
    plain = scattered(robot, 5, 4)
    padded = CollisionChecker(robot, plain.with_padding({'forearm_link': 0.03}))
    judge = FclJudge(robot, raw=True).surround(plain)
    for _ in range(150):
        q = robot.random_q(generator)
        found = pairs(padded.in_collision(q))
        judge.place(robot.to_joints(q))
        for i in range(5):
            near = judge.distance('forearm_link', f'box {i}')
            if abs(near - 0.03) > 1e-4 and near > 0:
                assert ({'forearm_link', f'box {i}'} in map(set, found)) == (near < 0.03)
                results.add(near < 0.03)
    assert results == {True, False}
