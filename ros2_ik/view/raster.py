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
    size, focal = (FINER * width, FINER * height), FINER * height / (2 * TANGENT)
    picture: Any = np.ones((size[1], size[0], 3), np.float32)
    depth: Any = np.zeros(picture.shape[:2], np.float32)
    solid = Layer([body for layer in layers if not _glassy(layer) for body in layer.bodies])
    _draw(*_triangles(solid, camera), focal, picture, depth)
    glass = [(layer, _triangles(layer, camera)) for layer in layers if _glassy(layer)]
    seen = [pair for pair in glass if len(pair[1][0])]
    for layer, triangles in sorted(seen, key=lambda pair: (
            pair[0].in_front, -float(pair[1][0][:, :, 2].mean()))):
        over = picture.copy()
        _draw(*triangles, focal, over, np.zeros_like(depth) if layer.in_front else depth.copy())
        picture += layer.opacity * (over - picture)
    return np.asarray(picture.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3)))


def _glassy(layer: Layer) -> bool:
    return bool(layer.bodies) and (layer.opacity < 1 or layer.in_front)


@njit('void(f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8, f4[:,:,::1], f4[:,::1])', cache=True)
def _draw(corners: Array, normals: Array, colors: Array, focal: float, picture: Array,
          depth: Array) -> None:
    """
    Draw triangles where they are nearer than `depth`, which is 1 / z there.

    Corners and normals (n, 3, 3) are in the camera's axes; `focal` is the distance of the picture
    [px]. Light falls on both sides alike.
    """
    height, width = depth.shape
    x, y = np.empty(3), np.empty(3)
    for k in range(len(corners)):
        inverse = 1 / corners[k, :, 2]
        x[:] = corners[k, :, 0] * inverse * focal + width / 2
        y[:] = corners[k, :, 1] * inverse * focal + height / 2
        area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
        if area == 0:
            continue
        for row in range(max(0, int(np.ceil(y.min() - 0.5))),
                         min(height, int(np.floor(y.max() - 0.5)) + 1)):
            for column in range(max(0, int(np.ceil(x.min() - 0.5))),
                                min(width, int(np.floor(x.max() - 0.5)) + 1)):
                u, v = column + 0.5, row + 0.5
                # the shares of the corners, of which each is 1 at its own
                a = ((x[1] - u) * (y[2] - v) - (x[2] - u) * (y[1] - v)) / area
                b = ((x[2] - u) * (y[0] - v) - (x[0] - u) * (y[2] - v)) / area
                c = 1 - a - b
                near = a * inverse[0] + b * inverse[1] + c * inverse[2]
                if min(a, b, c) < 0 or near <= depth[row, column]:
                    continue
                depth[row, column] = near
                normal = a * normals[k, 0] + b * normals[k, 1] + c * normals[k, 2]
                towards = normal[0] * (u - width / 2) + normal[1] * (v - height / 2) + (
                    normal[2] * focal)
                lit = -np.sign(towards) * (normal * TO_LIGHT).sum() / (
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
        seen = _before_camera(each, np.asarray(smooth[surface.faces]), camera.near)
        corners.append(seen[0])
        normals.append(seen[1])
        colors.append(np.tile(color or surface.color, (len(seen[0]), 1)))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colors)


def _before_camera(corners: Array, normals: Array, near: float) -> tuple[Array, Array]:
    """Cut off what is nearer; large triangles reach behind the camera, such as a floor's."""
    behind = corners[:, :, 2] < near
    whole = ~behind.any(axis=1)
    kept = [corners[whole]], [normals[whole]]
    for k in np.flatnonzero(~whole & ~behind.all(axis=1)):
        points: list[Array] = []
        for a, b in zip(corners[k], np.roll(corners[k], -1, axis=0), strict=True):
            if a[2] >= near:
                points.append(a)
            if (a[2] >= near) != (b[2] >= near):
                points.append(a + (near - a[2]) / (b[2] - a[2]) * (b - a))
        fan = [[points[0], *points[i:i + 2]] for i in range(1, len(points) - 1)]
        kept[0].append(np.array(fan))
        kept[1].append(np.tile(normals[k].mean(axis=0), (len(fan), 3, 1)))
    return np.concatenate(kept[0]), np.concatenate(kept[1])
