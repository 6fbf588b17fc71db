"""Convex hulls, convex parts and the cache of meshes."""

import coal
from example_data import data_folder
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes import cache, convex_pieces
from ros2_ik.core.meshes.meshes import hull_of, mesh_volume
from ros2_ik.core.scene import Mesh


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    """Set an empty cache folder for each test, and return it."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path / 'cache' / 'ros2_ik'


def outside_hull(hull, points):
    """Return the distance [m] of points outside a hull, by the faces of trimesh."""
    solid = trimesh.Trimesh(hull.vertices, hull.faces, process=False)
    normals, at = solid.face_normals, solid.triangles_center
    return (points @ normals.T - np.einsum('ij,ij->i', at, normals)).max(axis=1)


def outside_hulls(hulls, points):
    return np.min([outside_hull(hull, points) for hull in hulls], axis=0)


def open_box(thickness=0.01):
    """Return a bin of 0.6 x 0.4 x 0.3 m without a lid, as one closed surface."""
    outer = trimesh.creation.box(bounds=[[-0.3, -0.2, 0], [0.3, 0.2, 0.3]])
    inner = trimesh.creation.box(bounds=[[thickness - 0.3, thickness - 0.2, thickness],
                                         [0.3 - thickness, 0.2 - thickness, 0.3]])
    triangles = [*outer.triangles[outer.face_normals[:, 2] < 0.5],
                 *inner.triangles[inner.face_normals[:, 2] < 0.5][:, ::-1]]
    ring = [np.array([[x, y, 0.3] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) for _ in '12']
    for corners, shrink in zip(ring, (0, thickness), strict=True):
        corners[:, :2] *= [0.3 - shrink, 0.2 - shrink]
    for a, b in zip(range(4), (1, 2, 3, 0), strict=True):
        triangles += [ring[0][[a, b]].tolist() + [ring[1][b]],
                      [ring[0][a], ring[1][b], ring[1][a]]]
    vertices, index = np.unique(np.reshape(triangles, (-1, 3)).round(9), axis=0,
                                return_inverse=True)
    return vertices, index.reshape(-1, 3)


def link_meshes():
    return [data_folder() / folder / 'collision' / f'{name}.stl' for folder, name in (
        ('ur_description/meshes/ur5', 'base'), ('ur_description/meshes/ur5', 'forearm'),
        ('panda_description/meshes', 'link2'), ('panda_description/meshes', 'hand'))]


@pytest.mark.parametrize('path', link_meshes(), ids=lambda path: path.stem)
def test_hull_of_a_link_contains_the_link(path):
    mesh = Mesh.from_file(path, detail='hull')
    hull = mesh.hull
    assert outside_hull(hull, mesh.vertices).max() < 1e-12
    judge = trimesh.load(path)
    assert hull.volume == pytest.approx(judge.convex_hull.volume, rel=1e-9)
    assert trimesh.Trimesh(hull.vertices, hull.faces).volume == pytest.approx(hull.volume)
    assert mesh_volume(mesh.vertices, mesh.triangles) == pytest.approx(judge.volume, rel=1e-3)
    assert mesh.geometry.num_points == len(hull.vertices)


@pytest.mark.parametrize('points', [
    [[0, 0, 0]] * 5, [[0, 0, 0], [1, 1, 1]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    [[x, y, 1e-14 * x] for x in (0, 1, 2) for y in (0, 1, 2)],
    [[500, 500, 500], [500, 501, 500]]])
def test_points_without_a_volume_become_thin_solids(points):
    hull = hull_of(np.array(points, dtype=float))
    assert outside_hull(hull, np.array(points, dtype=float)).max() < 1e-9
    solid = trimesh.Trimesh(hull.vertices, hull.faces)
    assert solid.is_watertight and solid.volume > 0
    result = coal.CollisionResult()
    coal.collide(hull.geometry, coal.Transform3s.Identity(), coal.Capsule(0.01, 1e-9),
                 coal.Transform3s(np.eye(3), np.array(points[0], dtype=float)),
                 coal.CollisionRequest(), result)
    assert result.isCollision()


def test_convex_parts_of_a_bin_leave_its_inside_free():
    vertices, triangles = open_box()
    judge = trimesh.Trimesh(vertices, triangles)
    assert judge.is_watertight
    bin_ = Mesh(vertices, triangles)
    assert len(bin_.convex_parts) <= 8
    assert sum(hull.volume for hull in bin_.convex_parts) == pytest.approx(judge.volume)
    assert Mesh(vertices, triangles, 'hull').hull.volume > 6 * judge.volume
    surface = judge.sample(3000, seed=0)
    assert outside_hulls(bin_.convex_parts, np.vstack([vertices, surface])).max() < 1e-9
    interior = np.random.default_rng(1).uniform([-0.27, -0.17, 0.04], [0.27, 0.17, 0.3], (300, 3))
    assert outside_hulls(bin_.convex_parts, interior).min() > 0.005


@pytest.mark.parametrize('path', link_meshes()[:2], ids=lambda path: path.stem)
def test_convex_parts_of_a_link_contain_its_surface_and_inside(path):
    mesh, judge = Mesh.from_file(path), trimesh.load(path)
    assert 1 < len(mesh.convex_parts) <= convex_pieces.MAX_PIECES
    # overlaps of parts count twice
    assert sum(hull.volume for hull in mesh.convex_parts) < 1.2 * judge.volume
    assert outside_hulls(mesh.convex_parts, mesh.vertices).max() < 1e-9
    assert outside_hulls(mesh.convex_parts, judge.sample(3000, seed=0)).max() < 1e-7
    assert outside_hulls(mesh.convex_parts, trimesh.sample.volume_mesh(judge, 1000)).max() < 1e-7


def test_convex_parts_of_a_mesh_with_holes_contain_its_surface():
    vertices, triangles = open_box()
    shell = trimesh.Trimesh(vertices, triangles[::2])
    assert mesh_volume(vertices, triangles[::2]) is None
    mesh = Mesh(vertices, triangles[::2])
    assert outside_hulls(mesh.convex_parts, shell.sample(1000, seed=0)).max() < 1e-9


def test_mesh_of_very_many_triangles_is_replaced_by_its_hull():
    generator = np.random.default_rng(0)
    vertices = generator.normal(size=(80_000, 3))
    vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    triangles = generator.integers(0, len(vertices), (500_001, 3))
    mesh = Mesh(vertices, triangles, 'exact')
    assert mesh.detail == 'hull'
    assert isinstance(mesh.geometry, coal.Convex) and mesh.geometry.num_points < 5000


@pytest.mark.parametrize('kind', ['stl', 'obj', 'ascii'])
def test_mesh_files_are_read_and_scaled(kind, tmp_path):
    ring = trimesh.creation.torus(0.3, 0.1)
    path = tmp_path / f'ring.{kind.replace("ascii", "STL")}'
    ring.export(path, file_type={'ascii': 'stl_ascii'}.get(kind, kind))
    for scale in (1, 0.001, [1, 2, 3], (-1, 1, 1)):
        mesh = Mesh.from_file(path, scale)
        expected = ring.bounds * np.broadcast_to(scale, 3)
        assert mesh.vertices.min(axis=0) == pytest.approx(expected.min(axis=0), abs=1e-6)
        assert mesh.vertices.max(axis=0) == pytest.approx(expected.max(axis=0), abs=1e-6)
        volume = ring.volume * abs(np.prod(np.broadcast_to(scale, 3)))
        assert mesh_volume(mesh.vertices, mesh.triangles) == pytest.approx(volume, rel=1e-4)


@pytest.mark.parametrize('scale', [[1, 0, 1], np.nan, [1, 2], 'large'])
def test_malformed_scales_of_a_mesh_file_are_refused(scale):
    with pytest.raises(InvalidSceneError, match='scale of a mesh'):
        Mesh.from_file(link_meshes()[0], scale)


def many_points(kind, count=15_000):
    """Return points on or in a solid, and the volume of their hull."""
    generator = np.random.default_rng(0)
    ball = generator.normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    angles = generator.uniform(0, 2 * np.pi, count)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    cube = generator.uniform(-1, 1, (count, 3))
    cube[np.arange(count), np.arange(count) % 3] = np.sign(cube[:, 0])
    return {'ball': (ball, 4 / 3 * np.pi), 'cube': (cube, 8.0),
            'rod': (ball * [1, 0.01, 0.01] + 3, 4 / 3 * np.pi * 1e-4),
            'foil': (ball * [1, 1, 1e-4], 4 / 3 * np.pi * 1e-4),
            'disc': (np.column_stack([ring, 0 * angles]), 2e-4 * np.pi),
            'cloud': (np.vstack([0.9 * cube, [[-1, -1, -1], [1, 1, 1]]]), 6.0)}[kind]


@pytest.mark.parametrize('kind', ['ball', 'cube', 'rod', 'foil', 'disc', 'cloud'])
def test_hull_of_many_points_contains_them_with_little_extra_volume(kind):
    points, volume = many_points(kind)
    hull = hull_of(points)
    assert len(hull.vertices) < 5000
    assert max(outside_hull(hull, some).max() for some in np.array_split(points[::3], 20)) < 1e-9
    assert 0.98 * volume < hull.volume < 1.12 * volume


@pytest.mark.parametrize('segments, apex', [(300, 'point'), (1000, 'circle')])
def test_hull_with_a_vertex_of_many_neighbours_contains_all_points(segments, apex):
    """Coal counts at most 255 neighbours; the apex of a fine cone has more."""
    angles = np.arange(segments) * 2 * np.pi / segments
    circle = np.stack([0.1 * np.cos(angles), 0.1 * np.sin(angles), np.zeros(segments)], axis=1)
    points = np.vstack([circle, circle + [0, 0, 0.3] if apex == 'circle' else [[0, 0, 0.3]]])
    points = points @ Rotation.from_rotvec([0.3, -1.0, 0.7]).as_matrix().T
    hull, judge = hull_of(points), trimesh.Trimesh(points).convex_hull
    assert outside_hull(hull, points).max() < 1e-9
    assert judge.volume < hull.volume < 1.015 * judge.volume
    assert hull.geometry.num_points == len(hull.vertices)


# -- the cache ------------------------------------------------------------------------------

@pytest.mark.parametrize('content', [b'', b'no zip', b'PK\3\4' + b'\0' * 40])
def test_arrays_are_cached_on_disk_and_corrupt_files_are_replaced(empty_cache, content):
    points, key = np.arange(6.0).reshape(2, 3), cache.digest(content)
    path = empty_cache / 'test' / f'{key}.npz'
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert (cache.cached('test', key, lambda: {'points': points})['points'] == points).all()
    path.rename(path.with_stem(f'copy_{key}'))
    assert (cache.cached('test', f'copy_{key}', dict)['points'] == points).all()
    path.mkdir()    # cannot be replaced by a file
    assert (cache.cached('test', key, lambda: {'points': points})['points'] == points).all()
    assert not list(empty_cache.rglob('*.part'))


@pytest.mark.parametrize('folder', ['/dev/null', '/proc'])
def test_convex_parts_are_computed_without_a_writable_cache_folder(monkeypatch, folder):
    """Not even root can write to these."""
    monkeypatch.setenv('XDG_CACHE_HOME', folder)
    box = trimesh.creation.box([1, 2, 3])
    mesh = Mesh(box.vertices, box.faces)
    part, = mesh.convex_parts
    assert part.volume == pytest.approx(6) and mesh.has_parts


def box_between(low, high):
    return trimesh.creation.box(bounds=[low, high])


def overlapping_bin(thickness=0.01, inset=0.0):
    """
    Return a bin of 0.6 x 0.4 x 0.3 m: a floor and four walls that overlap.

    If `inset` is 0, the boxes share corners and edges.
    """
    i = inset
    return trimesh.util.concatenate([
        box_between([-0.3 + i, -0.2 + i, 0], [0.3 - i, 0.2 - i, thickness]),
        box_between([-0.3, -0.2, 0], [thickness - 0.3, 0.2, 0.3]),
        box_between([0.3 - thickness, -0.2, 0], [0.3, 0.2, 0.3]),
        box_between([-0.3 + i, -0.2, 0], [0.3 - i, thickness - 0.2, 0.3]),
        box_between([-0.3 + i, 0.2 - thickness, 0], [0.3 - i, 0.2, 0.3])])


def bin_points(thickness, count=300):
    """Return points in the cavity, at least 1 cm from the walls, and points in the material."""
    draw = np.random.default_rng(1).uniform
    free = draw([-0.29 + thickness, -0.19 + thickness, thickness + 0.01],
                [0.29 - thickness, 0.19 - thickness, 0.3], (count, 3))
    points = draw([-0.3, -0.2, 0], [0.3, 0.2, 0.3], (20 * count, 3))
    x, y, z = np.abs(points).T
    return free, points[(x > 0.3 - thickness) | (y > 0.2 - thickness) | (z < thickness)]


@pytest.mark.parametrize('thickness, inset, merged', [
    (0.005, 0.0, True), (0.01, 0.002, True), (0.01, 0.0, False), (0.05, 0.002, False)])
def test_bin_of_overlapping_boxes_leaves_its_inside_free(thickness, inset, merged):
    combined = overlapping_bin(thickness, inset)
    if merged:
        combined.merge_vertices()
    rotation = trimesh.transformations.euler_matrix(0.3, 0.5, 0.7)
    for matrix in (np.eye(4), rotation):
        bin_ = combined.copy().apply_transform(matrix)
        mesh = Mesh(bin_.vertices, bin_.faces)
        free, solid = (trimesh.transform_points(points, matrix)
                       for points in bin_points(thickness))
        assert len(mesh.convex_parts) == 5
        assert outside_hulls(mesh.convex_parts, free).min() > 0.0099
        assert outside_hulls(mesh.convex_parts, np.vstack([solid, bin_.vertices])).max() < 1e-9
        assert sum(hull.volume for hull in mesh.convex_parts) == pytest.approx(sum(
            part.volume for part in bin_.split()))


def test_mesh_of_many_solids_has_at_most_the_maximum_of_convex_parts():
    generator = np.random.default_rng(3)
    balls = [trimesh.creation.icosphere(1, 0.05) for _ in range(150)]
    for ball in balls:
        ball.apply_translation(generator.uniform(-1, 1, 3))
    combined = trimesh.util.concatenate(balls)
    mesh = Mesh(combined.vertices, combined.faces)
    assert len(mesh.convex_parts) <= convex_pieces.MAX_PIECES
    assert outside_hulls(mesh.convex_parts, combined.vertices).max() < 1e-9
