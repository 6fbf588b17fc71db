"""Surfaces to pixels: a buffer of depths, in NumPy, without a screen or a graphics card."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import Array, Indices
from ros2_ik.view.surface import Color, Surface

FINER = 3                   # pixels drawn for each one, along both edges
TANGENT = 0.3               # of half of the view's angle, upwards
MARGIN = 1.05               # round what is to be seen
NEAR = 0.05                 # as a part of what is in view: nothing nearer is drawn
MOST = 1 << 20              # pixels looked at in one go: bounds the memory
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
    """Return a picture (height, width, 3) of red, green, blue in [0, 1] on white."""
    size = (FINER * width, FINER * height)
    solid = Layer([body for layer in layers if not _glassy(layer) for body in layer.bodies])
    seen = [_projected(layer, camera, size) for layer in (solid, *filter(_glassy, layers))
            if layer.bodies]
    step = FINER * max(1, MOST // (FINER * size[0]))
    return np.concatenate([
        _band(seen, size[0], top, min(top + step, size[1]))
        .reshape(-1, FINER, width, FINER, 3).mean(axis=(1, 3))
        for top in range(0, size[1], step)])


class _Projected(NamedTuple):
    """The triangles of a layer in the picture, (n, 3, 2), and what is known of each corner."""

    layer: Layer
    corners: Array
    shares: Array     # see _shares
    inverse: Array    # of the depth, (n, 3)
    normals: Array    # (n, 3, 3)
    colors: Array     # (n, 3)
    middle: Array     # of the picture, (2,), and its distance in pixels
    focal: float


def _projected(layer: Layer, camera: Camera, size: tuple[int, int]) -> _Projected:
    corners, normals, colors = _triangles(layer, camera)
    middle, focal = np.array(size) / 2, size[1] / (2 * TANGENT)
    inverse = 1 / corners[:, :, 2]
    at = corners[:, :, :2] * (focal * inverse)[:, :, None] + middle
    return _Projected(layer, at, _shares(at), inverse, normals, colors, middle, focal)


def _band(seen: Sequence[_Projected], width: int, top: int, bottom: int) -> Array:
    """Return the colours of the pixels from one row to another, (n, 3)."""
    colors, solid = np.ones((width * (bottom - top), 3)), np.zeros(width * (bottom - top))
    drawn = [_drawn(each, width, top, bottom) for each in seen]
    depths = np.array([np.where(each.layer.in_front & (depth > 0), np.inf, depth)
                       for each, (_, depth) in zip(seen, drawn, strict=True)])
    if seen and not _glassy(seen[0].layer):
        colors, solid = drawn[0][0], depths[0]
    for place in np.argsort(depths, axis=0):    # of each pixel the farthest first
        for number, (each, (color, _)) in enumerate(zip(seen, drawn, strict=True)):
            at = np.flatnonzero((place == number) & (depths[number] > solid))
            colors[at] += each.layer.opacity * (color[at] - colors[at])
    return colors


def _glassy(layer: Layer) -> bool:
    return layer.opacity < 1 or layer.in_front


def _drawn(seen: _Projected, width: int, top: int, bottom: int) -> tuple[Array, Array]:
    """Return the colour of each pixel (n, 3), and 1 / depth (n,), 0 where there is nothing."""
    count = width * (bottom - top)
    colors, depth, nearest = np.ones((count, 3)), np.zeros(count), np.full(count, -1)
    for triangle, pixel, each in _covered(seen, width, top, bottom):
        values = (each * seen.inverse[triangle]).sum(axis=1)
        np.maximum.at(depth, pixel, values)
        won = values == depth[pixel]
        nearest[pixel[won]] = triangle[won]
    pixel = np.flatnonzero(nearest >= 0)
    triangle = nearest[pixel]
    places = np.stack([pixel % width + 0.5, pixel // width + top + 0.5, np.ones(len(pixel))],
                      axis=1)
    normal = np.einsum('ijk,ij->ik', seen.normals[triangle],
                       np.einsum('ijk,ik->ij', seen.shares[triangle], places))
    rays = places - (*seen.middle, 1 - seen.focal)
    colors[pixel] = seen.colors[triangle] * _light(normal, rays)[:, None]
    return colors.clip(0, 1), depth


def _light(normals: Array, rays: Array) -> Array:
    """Return how bright surfaces are (n,) with normals (n, 3), looked at along rays (n, 3)."""
    normals = normals / (np.linalg.norm(normals, axis=1, keepdims=True) + 1e-12)
    towards = -np.sign(np.einsum('ij,ij->i', normals, rays))    # seen from behind, too
    return np.asarray(AMBIENT + DIFFUSE * np.clip(towards * (normals @ TO_LIGHT), 0, None))


def _triangles(layer: Layer, camera: Camera) -> tuple[Array, Array, Array]:
    """Return corners and normals there (n, 3, 3), in the camera's axes, and colours (n, 3)."""
    corners, normals, colors = [], [], []
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


def _covered(seen: _Projected, width: int, top: int, bottom: int
             ) -> Iterator[tuple[Indices, Indices, Array]]:
    """Yield numbers of triangles, of pixels in them, and the corners' shares there."""
    ends, corner = ((0, top), (width, bottom)), seen.corners
    low = np.clip(np.ceil(corner.min(axis=1) - 0.5), *ends).astype(np.intp)
    high = np.clip(np.floor(corner.max(axis=1) - 0.5) + 1, low, ends[1]).astype(np.intp)
    columns, count = (high - low)[:, 0], (high - low).prod(axis=1)
    some = np.flatnonzero(count)
    total = np.cumsum(count[some])
    parts = np.searchsorted(total, np.arange(MOST, total[-1] if len(total) else 0, MOST))
    for triangles in np.split(some, np.unique(parts)):
        triangle = np.repeat(triangles, count[triangles])
        starts = np.cumsum(count[triangles]) - count[triangles]
        number = np.arange(len(triangle)) - np.repeat(starts, count[triangles])
        x = low[triangle, 0] + number % columns[triangle]
        y = low[triangle, 1] + number // columns[triangle]
        a, b, c = np.moveaxis(seen.shares[triangle], 2, 0)
        each = a * (x + 0.5)[:, None] + b * (y + 0.5)[:, None] + c
        inside = (each >= 0).all(axis=1)
        yield triangle[inside], ((y - top) * width + x)[inside], each[inside]


def _shares(corners: Array) -> Array:
    """
    Return for triangles (n, 3, 2) what makes shares of the corners of x, y, 1, (n, 3, 3).

    All are positive inside; NaN for a triangle without area.
    """
    a, b, c = np.swapaxes(np.pad(corners, ((0, 0), (0, 0), (0, 1)), constant_values=1), 0, 1)
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray(rows / np.einsum('ij,ij->i', a, rows[:, 0])[:, None, None])
