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
TANGENT = 0.3               # tangent of half the vertical angle of view
MARGIN = 1.05               # size of the view / size of its content
NEAR = 0.05                 # depth of the near plane / depth of the content
TO_LIGHT = np.array([-0.42, -0.66, -0.62])    # direction to the light: right, down, forward
AMBIENT, DIFFUSE = 0.5, 0.54    # shares of the light

Body = tuple[Surface, pin.SE3]    # a surface at a pose
Pixels = NDArray[np.float32]


class Camera(NamedTuple):
    """
    A camera at `position` (3,); the rows of `R` (3, 3) are its axes: right, down and forward.

    Triangles nearer than `near` [m] are not drawn.
    """

    position: Array
    R: Array
    near: float

    def to_camera(self, points: Array) -> Array:
        """Transform points (n, 3) from the root frame to the camera's frame."""
        return (points - self.position) @ self.R.T


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
    rotated = points @ R.T
    # The pyramid of view with the given slopes that touches the points: `high` and `low` are the
    # intersections of its sides with the plane of depth 0. The camera is at the pyramid's apex.
    slopes = TANGENT / MARGIN * np.array([aspect, 1.0])
    high = (rotated[:, :2] - slopes * rotated[:, 2:]).max(axis=0)
    low = (rotated[:, :2] + slopes * rotated[:, 2:]).min(axis=0)
    distance = ((high - low) / (2 * slopes)).max()
    return Camera(R.T @ (*(high + low) / 2, -distance), R, NEAR * np.ptp(rotated[:, 2]))


def render(bodies: Sequence[Body], camera: Camera, width: int, height: int,
           in_front: Sequence[Body] = ()) -> Array:
    """
    Return a picture (height, width, 3) of red, green, blue in [0, 1], on a white background.

    Bodies are opaque; bodies `in_front` are visible through all others.
    """
    focal = SUPERSAMPLING * height / (2 * TANGENT)
    picture = np.ones((SUPERSAMPLING * height, SUPERSAMPLING * width, 3), np.float32)
    for drawn in bodies, in_front:
        depth = np.zeros(picture.shape[:2], np.float32)
        for body in drawn:
            (points, faces, color, _), pose = body
            normals = trimesh.Trimesh(points, faces, process=False).vertex_normals
            _draw(camera.to_camera(vertices(body))[faces],
                  (normals @ (camera.R @ pose.rotation).T)[faces], np.array(color), focal,
                  camera.near, picture, depth)
    samples = picture.reshape(height, SUPERSAMPLING, width, SUPERSAMPLING, 3)
    return np.asarray(samples.mean(axis=(1, 3)))


@njit(cache=True)
def _draw(corners: Array, normals: Array, color: Array, focal: float, near: float,
          picture: Pixels, depth: Pixels) -> None:
    """
    Draw triangles into `picture`, with `depth` (1 / z of each pixel, 0 at infinity) as z-buffer.

    Corners and normals (n, 3, 3) are in the camera's frame; `focal` is the focal length [px]. Both
    sides of a triangle are lit. Triangles that extend behind the camera are not clipped: the
    method works in homogeneous coordinates (Olano and Greer, Triangle Scan Conversion using 2D
    Homogeneous Coordinates, 1997).
    """
    height, width = depth.shape
    shares, ray = np.empty((3, 3)), np.ones(3)
    for k in range(len(corners)):
        corner = corners[k]
        # inverse of the matrix of corners, by cofactors: maps a ray to its barycentric shares
        for i in range(3):
            shares[i] = np.cross(corner[(i + 1) % 3], corner[(i + 2) % 3])
        volume = (shares[0] * corner[0]).sum()
        if volume == 0 or corner[:, 2].max() < near:
            continue
        shares /= volume
        # bounding box [px] of the projection; the whole picture if a corner is too near to project
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
                # outside the triangle, behind a nearer one, or nearer than the near plane
                if min(a, b, c) < 0 or not depth[row, column] < a + b + c <= 1 / near:
                    continue
                depth[row, column] = a + b + c
                # Lambert shading with the interpolated normal, turned towards the camera
                normal = a * normals[k, 0] + b * normals[k, 1] + c * normals[k, 2]
                lit = -np.sign((normal * ray).sum()) * (normal * TO_LIGHT).sum() / (
                    np.sqrt((normal * normal).sum()) + 1e-12)
                picture[row, column] = np.minimum(
                    color * (AMBIENT + DIFFUSE * max(lit, 0.0)), 1.0)


def vertices(body: Body) -> Array:
    """Return the vertices (n, 3) of a body in the root frame."""
    surface, pose = body
    return np.asarray(surface.vertices @ pose.rotation.T + pose.translation)
