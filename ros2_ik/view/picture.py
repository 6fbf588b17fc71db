"""Pictures (PNG) of robots in their scenes, drawn in software, without a graphics card."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from numba import njit
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
import pinocchio as pin
import trimesh

from ros2_ik.core import Array, Contact, Cylinder, Scene, Sphere
from ros2_ik.view.surfaces import (
    Color,
    CONTACT_COLOR,
    CONTACT_RADIUS,
    contact_text,
    drawn_object,
    extent,
    MAX_CONTACTS,
    placed_objects,
    RobotModel,
    shape_surface,
    Surface,
    TO_CAMERA,
)

AXES: tuple[Color, ...] = ((0.87, 0.15, 0.15), (0.1, 0.62, 0.2), (0.15, 0.35, 0.9))
AXES_RATIO = 0.16    # length of a target's axes / size of the robot
BLACK: Color = (0.13, 0.13, 0.13)
FONT_RATIO = 0.022   # height of letters / fourth root of (area of picture * area of panel)
COLUMNS = 4          # largest number of panels in a row
MIN_FONT = 12        # smallest height of letters [px]
FAR_RATIO = 1.25     # reach of a body / size of the robot above which the body may be out of view
SUPERSAMPLING = 3           # samples per pixel along each edge
MARGIN = 1.05               # size of the view / size of its content
TO_LIGHT = np.array([-0.42, -0.66, -0.62])    # direction to the light: right, down, forward
AMBIENT = 0.5        # intensity of ambient light
DIFFUSE = 0.54       # intensity of diffuse light

Body = tuple[Surface, pin.SE3]    # a surface at a pose
Pixels = NDArray[np.float32]


@dataclass(frozen=True)
class Panel:
    """
    A panel of a picture: a robot at `q` (nq,) and a text above it.

    `color` replaces the robot's own colours. `targets` are poses (4, 4), drawn as coordinate
    frames. Contacts are drawn in red and named below the title.
    """

    q: Array
    title: str = ''
    title_color: Color = BLACK
    color: Color | None = None
    contacts: Sequence[Contact] = ()
    targets: Sequence[Array] = ()

    def text(self) -> list[tuple[str, Color]]:
        """Return all lines of text with their colours."""
        return [*([(self.title, self.title_color)] if self.title else []),
                *((contact_text(one), CONTACT_COLOR) for one in self.contacts[:MAX_CONTACTS])]


def write_picture(path: Path, model: RobotModel, scene: Scene, panels: Sequence[Panel],
                  size: tuple[int, int], to_camera: Array | None = None) -> None:
    """
    Write panels, up to four in a row, to a PNG file of `size` (width, height) [px].

    All panels show the same view. `to_camera` (3,) is the direction from the robot to the camera,
    by default TO_CAMERA. Raises OSError if the file cannot be written.
    """
    columns = min(len(panels), COLUMNS)
    width, height = size[0] // columns, size[1] // math.ceil(len(panels) / columns)
    letters = max(FONT_RATIO * math.sqrt(math.sqrt(size[0] * size[1] * width * height)), MIN_FONT)
    font, step = ImageFont.load_default(letters), 1.3 * letters    # step: line spacing [px]
    picture = Image.new('RGB', size, 'white')
    pen = ImageDraw.Draw(picture)
    count = max(int((width - step) / pen.textlength('n', font)), 1)    # letters in a line
    texts = [[(part, color) for line, color in panel.text() for part in wrap(line, count)]
             for panel in panels]
    # the text takes at most half of a panel, and the same height in all panels
    most = min(int(height / 2 / step), max(map(len, texts)))
    above = math.ceil(step * most)
    images = panel_images(model, scene, panels, (width, height - above), to_camera)
    for number, (text, image) in enumerate(zip(texts, images, strict=True)):
        x, y = number % columns * width, number // columns * height
        picture.paste(image, (x, y + above))
        for row, (line, color) in enumerate(text[:most]):
            pen.text((x + step / 2, y + step * (row + 0.2)), line, font=font,
                     fill=tuple(round(255 * value) for value in color))
    picture.save(path, format='PNG', optimize=True)


def panel_images(model: RobotModel, scene: Scene, panels: Sequence[Panel], size: tuple[int, int],
                 to_camera: Array | None = None) -> Iterator[Image.Image]:
    """Yield the image of each panel, without text, of `size` (width, height) [px]."""
    middle, length = extent(model.robot, panels[0].q)
    drawn = [list(_bodies(model, scene, panel, AXES_RATIO * length)) for panel in panels]
    # one camera for all panels; it shows all bodies near the robot, not a large floor or wall
    points = [vertices(body) for bodies in drawn for body in bodies]
    near = [each for each in points
            if np.linalg.norm(each - middle, axis=1).max() < FAR_RATIO * length]
    # a robot may have no visible link
    near = near or [middle + length * np.array([[-0.5] * 3, [0.5] * 3])]
    camera = camera_on(np.concatenate(near), np.array(
        TO_CAMERA if to_camera is None else to_camera), size[0] / size[1])
    ball = shape_surface(Sphere(CONTACT_RADIUS), CONTACT_COLOR)
    for panel, bodies in zip(panels, drawn, strict=True):
        balls = [(ball, pin.SE3(np.eye(3), np.array(one.point)))
                 for one in panel.contacts[:MAX_CONTACTS]]
        pixels = render(bodies, camera, *size, in_front=balls)
        yield Image.fromarray(np.rint(255 * pixels).astype(np.uint8))


def _bodies(model: RobotModel, scene: Scene, panel: Panel, length: float) -> Iterator[Body]:
    """Yield the bodies of a panel, without contacts; target axes have the length `length` [m]."""
    poses = model.poses(panel.q)
    for link, surface, in_link in model.surfaces:
        yield surface._replace(color=panel.color or surface.color), poses[link] * in_link
    for item, pose, color in placed_objects(scene, panel.q):
        for surface, in_item in drawn_object(item, color):
            yield surface, pose * in_item
    for T in panel.targets:
        for column, color in zip(np.eye(3), AXES, strict=True):
            # a cylinder, whose axis is z, turned to the axis of the target
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), column)
            yield (shape_surface(Cylinder(0.04 * length, length), color),
                   pin.SE3(T) * pin.SE3(turn, 0.5 * length * column))


# -- rasterizer --------------------------------------------------------------------------------

class Camera(NamedTuple):
    """
    An orthographic camera; the rows of `R` (3, 3) are its axes: right, down and forward.

    `middle` (2,) is the centre of the view (right, down) [m], `height` the view's height [m].
    """

    R: Array
    middle: Array
    height: float


def camera_on(points: Array, to_camera: Array, aspect: float) -> Camera:
    """
    Return a camera that looks along -`to_camera` (3,) and shows all `points` (n, 3).

    `aspect` is the width of the picture divided by its height.
    """
    forward = -to_camera / np.linalg.norm(to_camera)
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
                # barycentric coordinates of the sample
                b, c = (x * v[1] - y * v[0]) / area, (y * u[0] - x * u[1]) / area
                a = 1 - b - c
                z = p[2] + b * u[2] + c * v[2]
                # skip a sample outside the triangle, or behind a nearer triangle
                if min(a, b, c) < 0 or z >= depth[row, column]:
                    continue
                depth[row, column] = z
                # Lambert shading with the interpolated normal, turned towards the camera
                normal = a * normals[k, 0] + b * normals[k, 1] + c * normals[k, 2]
                lit = -np.sign(normal[2]) * (normal * TO_LIGHT).sum() / (
                    np.sqrt((normal * normal).sum()) + 1e-12)
                picture[row, column] = np.minimum(color * (AMBIENT + DIFFUSE * max(lit, 0.0)), 1.0)


def vertices(body: Body) -> Array:
    """Return the vertices (n, 3) of a body in the root frame."""
    surface, pose = body
    return np.asarray(surface.vertices @ pose.rotation.T + pose.translation)
