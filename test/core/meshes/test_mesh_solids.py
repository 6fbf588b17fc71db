"""Meshes of several solids, and how much larger than a mesh is what stands for it."""

import numpy as np
import pytest
from test_meshes import outside_all, own_cache as own_cache
import trimesh

from ros2_ik.core.meshes.convex_pieces import MOST_PIECES
from ros2_ik.core.scene import Mesh


def block(low, high):
    return trimesh.creation.box(bounds=[low, high])


def five_boxes(thick=0.01, inset=0.0):
    """
    Make a bin of 0.6 x 0.4 x 0.3 m of a floor and four walls that overlap.

    Without `inset` they share corners and edges.
    """
    i = inset
    return trimesh.util.concatenate([
        block([-0.3 + i, -0.2 + i, 0], [0.3 - i, 0.2 - i, thick]),
        block([-0.3, -0.2, 0], [thick - 0.3, 0.2, 0.3]),
        block([0.3 - thick, -0.2, 0], [0.3, 0.2, 0.3]),
        block([-0.3 + i, -0.2, 0], [0.3 - i, thick - 0.2, 0.3]),
        block([-0.3 + i, 0.2 - thick, 0], [0.3 - i, 0.2, 0.3])])


def in_the_bin(thick, count=300):
    """Give points inside, at least 1 cm from the walls, and points in the walls and floor."""
    draw = np.random.default_rng(1).uniform
    free = draw([-0.29 + thick, -0.19 + thick, thick + 0.01],
                [0.29 - thick, 0.19 - thick, 0.3], (count, 3))
    points = draw([-0.3, -0.2, 0], [0.3, 0.2, 0.3], (20 * count, 3))
    x, y, z = np.abs(points).T
    return free, points[(x > 0.3 - thick) | (y > 0.2 - thick) | (z < thick)]


@pytest.mark.parametrize('thick, inset, merged', [
    (0.005, 0.0, True), (0.01, 0.002, True), (0.01, 0.0, False), (0.05, 0.002, False)])
def test_a_bin_of_overlapping_boxes_stays_open(thick, inset, merged):
    made = five_boxes(thick, inset)
    if merged:
        made.merge_vertices()
    turn = trimesh.transformations.euler_matrix(0.3, 0.5, 0.7)
    for matrix in (np.eye(4), turn):
        bin_ = made.copy().apply_transform(matrix)
        mesh = Mesh(bin_.vertices, bin_.faces)
        free, solid = (trimesh.transform_points(points, matrix) for points in in_the_bin(thick))
        assert len(mesh.convex_parts) == 5
        assert outside_all(mesh.convex_parts, free).min() > 0.0099
        assert outside_all(mesh.convex_parts, np.vstack([solid, bin_.vertices])).max() < 1e-9
        assert sum(hull.volume for hull in mesh.convex_parts) == pytest.approx(sum(
            part.volume for part in bin_.split()))


def test_an_open_part_beside_a_bin_leaves_the_bin_open():
    flap = np.array([[0.4, 0, 0], [0.5, 0, 0], [0.4, 0, 0.1]])
    bin_ = five_boxes()
    mesh = Mesh(np.vstack([bin_.vertices, flap]),
                np.vstack([bin_.faces, [np.arange(3) + len(bin_.vertices)]]))
    free, solid = in_the_bin(0.01)
    assert outside_all(mesh.convex_parts, free).min() > 0.005
    assert outside_all(mesh.convex_parts, np.vstack([solid, mesh.vertices])).max() < 1e-9


def test_many_solids_are_no_more_pieces_than_others():
    generator = np.random.default_rng(3)
    balls = [trimesh.creation.icosphere(1, 0.05) for _ in range(150)]
    for ball in balls:
        ball.apply_translation(generator.uniform(-1, 1, 3))
    made = trimesh.util.concatenate(balls)
    mesh = Mesh(made.vertices, made.faces)
    assert len(mesh.convex_parts) <= MOST_PIECES
    assert outside_all(mesh.convex_parts, made.vertices).max() < 1e-9
