"""Meshes are solid, judged by python-fcl and trimesh."""

from fcl_judge import FclJudge
from judge import pose
import numpy as np
import pytest
from scenes import pairs, scattered, shaped_robot
import trimesh

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import HalfSpace, Mesh, Plane, Scene, SceneObject


def shell(outer, inner):
    """Return a sphere with a spherical cavity."""
    hollow = trimesh.creation.icosphere(2, inner)
    hollow.invert()
    return trimesh.util.concatenate([trimesh.creation.icosphere(2, outer), hollow])


def two_balls():
    """Return two distant spheres in one mesh."""
    found = [trimesh.creation.icosphere(2, 0.05) for _ in range(2)]
    found[1].apply_translation([3, 0, 0])
    return trimesh.util.concatenate(found)


def as_mesh(made, **options):
    return Mesh(np.array(made.vertices), np.array(made.faces), **options)


def ball_arm_among(*things):
    """Return an arm with a sphere of 0.1 m, and objects at offsets from it."""
    robot = shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.1"/>'}, xyz=(0, 0, 0))
    scene = Scene(robot)
    for i, (shape, offset) in enumerate(things):
        place = None if isinstance(shape, (HalfSpace, Plane)) else pose(
            np.array([0.7, 0, 0.1]) + offset)
        scene = scene.add(SceneObject(f'thing {i}', [shape], place))
    return CollisionChecker(robot, scene)


BALL = trimesh.creation.icosphere(3, 0.5)
INSIDE_OUT = BALL.copy()
INSIDE_OUT.invert()


@pytest.mark.parametrize(('made', 'offset', 'touches'), [
    (BALL, (0.3, 0, 0), True), (BALL, (0.7, 0, 0), False), (INSIDE_OUT, (0, 0, 0), True),
    (INSIDE_OUT, (0.7, 0, 0), False), (shell(0.5, 0.2), (0, 0, 0), True),
    (trimesh.creation.torus(0.4, 0.1), (0, 0, 0), False),
    (trimesh.creation.torus(0.4, 0.15), (0.4, 0, 0), True),
    (two_balls(), (-1.5, 0, 0), False), (two_balls(), (-3, 0, 0), True)])
def test_meshes_collide_as_solids(made, offset, touches):
    checker = ball_arm_among((as_mesh(made), offset))
    q = checker.robot.neutral
    assert checker.collides(q) == touches == bool(checker.in_collision(q))


def damaged(made, how):
    """Return a closed mesh with defects: missing, duplicate or flipped triangles."""
    draw = np.random.default_rng(3)
    vertices, faces = np.array(made.vertices), np.array(made.faces)
    few, half = draw.random(len(faces)) < 0.02, draw.random(len(faces)) < 0.5
    if how == 'missing':
        return vertices, faces[~few]
    if how == 'turned anyhow':
        return vertices, np.where(half[:, None], faces[:, ::-1], faces)
    if how == 'missing and turned anyhow':
        return vertices, np.where(half[:, None], faces[:, ::-1], faces)[~few]
    if how == 'two-sided':
        return vertices, np.concatenate([faces, faces[:, ::-1]])
    if how == 'two-sided and missing':
        return vertices, np.concatenate([faces, faces[~few][:, ::-1], faces[half]])[30:]
    corners = vertices[faces].reshape(-1, 3)
    return (corners + draw.uniform(-1, 1, corners.shape) * {'rounded': 5e-7, 'gaps': 2e-4}[how],
            np.arange(len(corners)).reshape(-1, 3))


@pytest.mark.parametrize('how', ['missing', 'turned anyhow', 'missing and turned anyhow',
                                 'two-sided', 'two-sided and missing', 'rounded', 'gaps'])
def test_mesh_with_holes_is_solid(how, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    ring = trimesh.creation.torus(0.4, 0.15, 40, 20)
    mesh, draw, q = Mesh(*damaged(ring, how)), np.random.default_rng(4), np.zeros(1)
    robot = shaped_robot('one_joint', shapes={'tip': '<sphere radius="0.01"/>'}, xyz=(0, 0, 0))
    seen, false = {True: 0, False: 0}, 0
    assert not mesh.has_parts
    for offset in draw.uniform([-0.5, -0.5, -0.14], [0.5, 0.5, 0.14], (60, 3)):
        off = np.hypot(np.hypot(*offset[:2]) - 0.4, offset[2]) - 0.15    # from the surface
        if abs(off) < 0.04:     # about holes
            continue
        scene = Scene(robot).add(SceneObject('ring', [mesh], pose([0.7, 0, 0.1] - offset)))
        checker = CollisionChecker(robot, scene)
        hit = checker.collides(q)
        assert hit == bool(checker.in_collision(q)) and hit >= (off < 0)
        seen[bool(hit)] += 1
        false += hit > (off < 0)
    assert min(seen.values()) > 5 and not mesh.has_parts
    assert false <= 3 * ('anyhow' in how)


def overlapping(draw):
    """Return a cube of 1 m and a bar through its side, x 0.1 .. 1.1, with flipped faces."""
    cube = trimesh.creation.box([1, 1, 1])
    bar = trimesh.creation.box([1, 0.5, 0.5]).apply_translation([0.6, 0, 0])
    bar.invert()
    bar.faces = draw.permutation(bar.faces)
    return trimesh.util.concatenate([cube, bar])


def test_overlapping_parts_are_solid_whatever_their_winding():
    """Only a part that is all inside another one is a cavity."""
    draw = np.random.default_rng(2)
    for k in range(13):
        mesh = as_mesh(overlapping(draw))
        if k == 12:
            assert mesh.convex_parts
        for x, touches in ((-0.3, True), (0.3, True), (0.8, True), (1.25, False)):
            checker = ball_arm_among((mesh, (-x, 0, 0)))
            assert checker.collides(np.zeros(1)) == touches, x
            if k == 12:
                assert (checker.distances(np.zeros(1), 3.0).distance.min() < 0) == touches


def test_padding_applies_to_meshes(load):
    robot, generator, seen = load('ur5'), np.random.default_rng(5), set()
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
                seen.add(near < 0.03)
    assert seen == {True, False}
