"""Rasteriser: surfaces to pixels by a depth buffer, without a screen or a graphics card."""

from collections.abc import Sequence
from typing import NamedTuple

from numba import njit
import numpy as np
from numpy.typing import NDArray
import pinocchio as pin

from ros2_ik.core import Array
from ros2_ik.view.surface import Surface

FINER = 3                   # pixels drawn for each one, along both edges
TANGENT = 0.3               # of half of the vertical angle of view
MARGIN = 1.05               # size of the view, in sizes of its content
NEAR = 0.05                 # depth of the near plane, in depths of the view
TO_LIGHT = np.array([-0.42, -0.66, -0.62])    # right, down, forward
AMBIENT, DIFFUSE = 0.5, 0.54

Body = tuple[Surface, pin.SE3]    # a surface at a pose
Pixels = NDArray[np.float32]


class Camera(NamedTuple):
    """
    A point of view, `position` (3,); the rows of `R` (3, 3) are right, down and forward.

    Triangles nearer than `near` [m] are not drawn.
    """

    position: Array
    R: Array
    near: float

    def seen(self, points: Array) -> Array:
        """Return points (n, 3) in the camera's axes."""
        return (points - self.position) @ self.R.T


def camera_on(points: Array, back: Array, aspect: float) -> Camera:
    """
    Return a camera that has all points (n, 3) in view, and looks along -`back` (3,).

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


def render(bodies: Sequence[Body], camera: Camera, width: int, height: int,
           in_front: Sequence[Body] = ()) -> Array:
    """
    Return a picture (height, width, 3) of red, green, blue in [0, 1] on white.

    Bodies `in_front` are seen through all others. The farther of two translucent bodies is drawn
    first.
    """
    focal = FINER * height / (2 * TANGENT)
    picture = np.ones((FINER * height, FINER * width, 3), np.float32)
    depth = np.zeros(picture.shape[:2], np.float32)

    def draw(drawn: Sequence[Body], picture: Pixels, depth: Pixels) -> None:
        _draw(*_triangles(drawn, camera), focal, camera.near, picture, depth)

    draw([body for body in bodies if body[0].opacity == 1], picture, depth)
    for body in sorted((body for body in bodies if body[0].opacity < 1),
                       key=lambda body: -float(camera.seen(vertices(body))[:, 2].mean())):
        over = picture.copy()
        draw([body], over, depth.copy())
        picture += body[0].opacity * (over - picture)
    draw(in_front, picture, np.zeros_like(depth))
    return np.asarray(picture.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3)))


@njit('void(f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8, f8, f4[:,:,::1], f4[:,::1])', cache=True)
def _draw(corners: Array, normals: Array, colors: Array, focal: float, near: float,
          picture: Pixels, depth: Pixels) -> None:
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


def vertices(body: Body) -> Array:
    """Return the vertices of a body (n, 3) in the root frame."""
    surface, pose = body
    return np.asarray(surface.vertices @ pose.rotation.T + pose.translation)


def _triangles(bodies: Sequence[Body], camera: Camera) -> tuple[Array, Array, Array]:
    """Return corners and normals there (n, 3, 3), in the camera's axes, and colours (n, 3)."""
    corners, normals = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
    colors = [np.empty((0, 3))]
    for body in bodies:
        faces, points = body[0].faces, camera.seen(vertices(body))
        each = points[faces]
        flat = np.cross(each[:, 1] - each[:, 0], each[:, 2] - each[:, 0])
        smooth = np.zeros_like(points)
        np.add.at(smooth, faces.reshape(-1), np.repeat(flat, 3, axis=0))
        corners.append(each)
        normals.append(smooth[faces])
        colors.append(np.tile(body[0].color, (len(faces), 1)))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colors)
