"""Surfaces to pixels: a buffer of depths, without a screen or a graphics card."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numba import njit
import numpy as np

from ros2_ik.core import Array
from ros2_ik.view.surface import Color, Surface

FINER = 3                   # pixels drawn for each one, along both edges
TANGENT = 0.3               # of half of the view's angle, upwards
MARGIN = 1.05               # round what is to be seen
NEAR = 0.05                 # as a part of what is in view: nothing nearer is drawn
TO_LIGHT = np.array([-0.42, -0.66, -0.62])    # right, down, forward
AMBIENT, DIFFUSE = 0.5, 0.54


class Body(NamedTuple):
    """A surface where pose (pinocchio.SE3) is, in its own colour or another."""

    surface: Surface
    pose: Any
    color: Color | None = None


class Layer(NamedTuple):
    """
    What hides only its own parts where it is transparent.

    One that is `in_front` is seen through all others.
    """

    bodies: Sequence[Body]
    opacity: float = 1.0
    in_front: bool = False


class Camera(NamedTuple):
    """
    A point of view, `position` (3,); the rows of `R` (3, 3) are right, down and forward.

    What is nearer than `near` [m] is not seen.
    """

    position: Array
    R: Array
    near: float

    def seen(self, points: Array) -> Array:
        """Return points (n, 3) in the camera's axes."""
        return (points - self.position) @ self.R.T


def camera_on(points: Array, back: Array, aspect: float) -> Camera:
    """
    Return a camera that has all points (n, 3) in view, `back` (3,) of them.

    `aspect` is the width of the picture over its height.
    """
    forward = -back / np.linalg.norm(back)
    right = np.cross(forward, np.array([0.0, 0, 1]))
    right /= np.linalg.norm(right)
    R = np.array([right, np.cross(forward, right), forward])
    seen = points @ R.T
    slopes = TANGENT / MARGIN * np.array([aspect, 1.0])
    # of the pyramid that the points fill: where its sides meet depth 0
    high = (seen[:, :2] - slopes * seen[:, 2:]).max(axis=0)
    low = (seen[:, :2] + slopes * seen[:, 2:]).min(axis=0)
    distance = ((high - low) / (2 * slopes)).max()
    return Camera(R.T @ (*(high + low) / 2, -distance), R, NEAR * np.ptp(seen[:, 2]))


def render(layers: Sequence[Layer], camera: Camera, width: int, height: int) -> Array:
    """
    Return a picture (height, width, 3) of red, green, blue in [0, 1] on white.

    Of several layers that are transparent, the farther one is drawn first.
    """
    focal = FINER * height / (2 * TANGENT)
    picture: Any = np.ones((FINER * height, FINER * width, 3), np.float32)
    depth: Any = np.zeros(picture.shape[:2], np.float32)
    solid = Layer([body for layer in layers if not _glassy(layer) for body in layer.bodies])
    _draw(*_triangles(solid, camera), focal, camera.near, picture, depth)
    glass = [(layer, _triangles(layer, camera)) for layer in layers if _glassy(layer)]
    for layer, triangles in sorted(glass, key=lambda pair: (
            pair[0].in_front, -float(np.maximum(pair[1][0][:, :, 2], 0).mean()))):
        over = picture.copy()
        _draw(*triangles, focal, camera.near, over,
              np.zeros_like(depth) if layer.in_front else depth.copy())
        picture += layer.opacity * (over - picture)
    return np.asarray(picture.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3)))


def _glassy(layer: Layer) -> bool:
    return bool(layer.bodies) and (layer.opacity < 1 or layer.in_front)


@njit('void(f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8, f8, f4[:,:,::1], f4[:,::1])', cache=True)
def _draw(corners: Array, normals: Array, colors: Array, focal: float, near: float,
          picture: Array, depth: Array) -> None:
    """
    Draw triangles where they are nearer than `depth`, which is 1 / z there.

    Corners and normals (n, 3, 3) are in the camera's axes; `focal` is the distance of the picture
    [px]. Light falls on both sides alike. Triangles need not be cut at the plane z = 0 behind
    the camera (Olano and Greer, Triangle Scan Conversion using 2D Homogeneous Coordinates, 1997).
    """
    height, width = depth.shape
    shares, ray = np.empty((3, 3)), np.ones(3)
    for k in range(len(corners)):
        corner = corners[k]
        for i in range(3):
            shares[i] = np.cross(corner[(i + 1) % 3], corner[(i + 2) % 3])
        volume = (shares[0] * corner[0]).sum()
        if volume == 0 or corner[:, 2].max() < near:
            continue
        shares /= volume
        top, bottom, left, right = 0, height, 0, width
        if corner[:, 2].min() >= near:
            x = corner[:, 0] / corner[:, 2] * focal + width / 2 - 0.5
            y = corner[:, 1] / corner[:, 2] * focal + height / 2 - 0.5
            top, bottom = max(0, int(np.ceil(y.min()))), min(height, int(np.floor(y.max())) + 1)
            left, right = max(0, int(np.ceil(x.min()))), min(width, int(np.floor(x.max())) + 1)
        for row in range(top, bottom):
            for column in range(left, right):
                ray[0] = (column + 0.5 - width / 2) / focal
                ray[1] = (row + 0.5 - height / 2) / focal
                # ray = a * corner 0 + b * corner 1 + c * corner 2, and 1 / z = a + b + c
                a = shares[0, 0] * ray[0] + shares[0, 1] * ray[1] + shares[0, 2]
                b = shares[1, 0] * ray[0] + shares[1, 1] * ray[1] + shares[1, 2]
                c = shares[2, 0] * ray[0] + shares[2, 1] * ray[1] + shares[2, 2]
                if min(a, b, c) < 0 or not depth[row, column] < a + b + c <= 1 / near:
                    continue
                depth[row, column] = a + b + c
                normal = a * normals[k, 0] + b * normals[k, 1] + c * normals[k, 2]
                lit = -np.sign((normal * ray).sum()) * (normal * TO_LIGHT).sum() / (
                    np.sqrt((normal * normal).sum()) + 1e-12)
                picture[row, column] = np.minimum(
                    colors[k] * (AMBIENT + DIFFUSE * max(lit, 0.0)), 1.0)


def _triangles(layer: Layer, camera: Camera) -> tuple[Array, Array, Array]:
    """Return corners and normals there (n, 3, 3), in the camera's axes, and colours (n, 3)."""
    corners, normals = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
    colors = [np.empty((0, 3))]
    for surface, pose, color in layer.bodies:
        points = camera.seen(surface.vertices @ pose.rotation.T + pose.translation)
        each = points[surface.faces]
        flat = np.cross(each[:, 1] - each[:, 0], each[:, 2] - each[:, 0])
        smooth = np.stack([np.bincount(surface.faces.reshape(-1), np.repeat(flat[:, k], 3),
                                       len(points)) for k in range(3)], axis=1)
        corners.append(each)
        normals.append(np.asarray(smooth[surface.faces]))
        colors.append(np.tile(color or surface.color, (len(each), 1)))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colors)
