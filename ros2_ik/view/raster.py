"""Software rasterizer with a depth buffer, for pictures without a screen or a graphics card."""

from collections.abc import Sequence
from typing import NamedTuple

from numba import njit
import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
import trimesh

from ros2_ik.core import Array
from ros2_ik.view.surfaces import Surface

SUPERSAMPLING = 3           # samples per pixel along each edge
MARGIN = 1.05               # size of the view / size of its content
TO_LIGHT = np.array([-0.42, -0.66, -0.62])    # direction to the light: right, down, forward
AMBIENT, DIFFUSE = 0.5, 0.54    # shares of the light

Body = tuple[Surface, pin.SE3]    # a surface at a pose
Pixels = NDArray[np.float32]


class Camera(NamedTuple):
    """
    An orthographic camera; the rows of `R` (3, 3) are its axes: right, down and forward.

    The view has the middle `middle` (2,), right and down, and the height `height` [m].
    """

    R: Array
    middle: Array
    height: float


def camera_on(points: Array, back: Array, aspect: float) -> Camera:
    """
    Return a camera with the direction of view -`back` (3,) that shows all points (n, 3).

    `aspect` is the width of the picture divided by its height.
    """
    forward = -back / np.linalg.norm(back)
    # z of the root frame is up in the picture
    right = np.cross(forward, np.array([0.0, 0, 1]))
    right /= np.linalg.norm(right)
    R = np.array([right, np.cross(forward, right), forward])
    seen = (points @ R.T)[:, :2]
    low, high = seen.min(axis=0), seen.max(axis=0)
    return Camera(R, (low + high) / 2, MARGIN * float(((high - low) / [aspect, 1.0]).max()))


def render(bodies: Sequence[Body], camera: Camera, width: int, height: int,
           in_front: Sequence[Body] = ()) -> Array:
    """
    Return a picture (height, width, 3) of red, green, blue in [0, 1], on a white background.

    Bodies are opaque; bodies `in_front` are visible through all others.
    """
    picture = np.ones((SUPERSAMPLING * height, SUPERSAMPLING * width, 3), np.float32)
    scale = len(picture) / camera.height    # [px/m]
    center = np.array([*picture.shape[1::-1], 0.0]) / 2 - scale * np.array([*camera.middle, 0.0])
    for drawn in bodies, in_front:
        depth = np.full(picture.shape[:2], np.inf, np.float32)
        for body in drawn:
            (points, faces, color, _), pose = body
            normals = trimesh.Trimesh(points, faces, process=False).vertex_normals
            _draw((scale * (vertices(body) @ camera.R.T) + center)[faces],
                  (normals @ (camera.R @ pose.rotation).T)[faces], np.array(color), picture, depth)
    samples = picture.reshape(height, SUPERSAMPLING, width, SUPERSAMPLING, 3)
    return np.asarray(samples.mean(axis=(1, 3)))


@njit(cache=True)
def _draw(corners: Array, normals: Array, color: Array, picture: Pixels, depth: Pixels) -> None:
    """
    Draw triangles, lit on both sides, into `picture`, with `depth` [px] as z-buffer.

    Corners [px] and normals (n, 3, 3) are in the camera's frame.
    """
    height, width = depth.shape
    for k in range(len(corners)):
        p, u, v = corners[k, 0], corners[k, 1] - corners[k, 0], corners[k, 2] - corners[k, 0]
        area = u[0] * v[1] - u[1] * v[0]
        if area == 0:
            continue
        low = p + np.minimum(np.minimum(u, v), 0.0) - 0.5
        high = p + np.maximum(np.maximum(u, v), 0.0) + 0.5
        for row in range(max(0, int(low[1])), min(height, int(high[1]) + 1)):
            for column in range(max(0, int(low[0])), min(width, int(high[0]) + 1)):
                x, y = column + 0.5 - p[0], row + 0.5 - p[1]
                # barycentric shares of the corners
                b, c = (x * v[1] - y * v[0]) / area, (y * u[0] - x * u[1]) / area
                a = 1 - b - c
                z = p[2] + b * u[2] + c * v[2]
                # outside the triangle, or behind a nearer one
                if min(a, b, c) < 0 or z >= depth[row, column]:
                    continue
                depth[row, column] = z
                # Lambert shading with the interpolated normal, turned towards the camera
                normal = a * normals[k, 0] + b * normals[k, 1] + c * normals[k, 2]
                lit = -np.sign(normal[2]) * (normal * TO_LIGHT).sum() / (
                    np.sqrt((normal * normal).sum()) + 1e-12)
                picture[row, column] = np.minimum(
                    color * (AMBIENT + DIFFUSE * max(lit, 0.0)), 1.0)


def vertices(body: Body) -> Array:
    """Return the vertices (n, 3) of a body in the root frame."""
    surface, pose = body
    return np.asarray(surface.vertices @ pose.rotation.T + pose.translation)
