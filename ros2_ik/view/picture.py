"""Pictures of robots in their scenes, without a browser."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from textwrap import wrap

import numpy as np
from PIL import Image, ImageDraw, ImageFont
import pinocchio as pin

from ros2_ik.core import Array, Cone, Contact, Cylinder, Scene, Sphere
from ros2_ik.view.raster import Body, camera_on, Layer, render
from ros2_ik.view.robot_model import BACK, extent, RobotModel
from ros2_ik.view.scene_model import (
    CONTACT,
    CONTACT_RADIUS,
    contact_text,
    drawn_object,
    MOST_CONTACTS,
    placed_objects,
    TOUCHED,
    touched_names,
)
from ros2_ik.view.surface import Color, shape_surface

AXES: tuple[Color, ...] = ((0.87, 0.15, 0.15), (0.1, 0.62, 0.2), (0.15, 0.35, 0.9))
AXES_SIZE = 0.16     # length of a target's axes, as a part of the robot's size
BLACK: Color = (0.13, 0.13, 0.13)
FONT, SMALLEST = 0.022, 12    # height of letters, as a part of the picture and, half as much, of
                              # its panels, and at least [px]
FAR = 1.25           # what reaches farther, in sizes of the robot, need not be in the picture


@dataclass(frozen=True)
class Panel:
    """
    A robot at q (nq,), in its own colours or in one, and lines of text, in one colour.

    `targets` are poses (4, 4), drawn as frames; contacts are red, and named below the text.
    """

    q: Array
    lines: Sequence[str] = ()
    lines_color: Color = BLACK
    color: Color | None = None
    contacts: Sequence[Contact] = ()
    targets: Sequence[Array] = ()

    def text(self) -> list[tuple[str, Color]]:
        """Return all lines with their colours."""
        return [*((line, self.lines_color) for line in self.lines),
                *((contact_text(one), CONTACT) for one in self.contacts[:MOST_CONTACTS])]


def write_picture(path: Path, model: RobotModel, scene: Scene, panels: Sequence[Panel],
                  size: tuple[int, int], back: Array | None = None) -> None:
    """
    Write panels side by side to a PNG file of size (width, height), all looked at from one point.

    `back` (3,) leads from the robot to there, by default as on a page of the viewer. Raises
    OSError where the file cannot be written.
    """
    columns = _columns(len(panels), size)
    width, height = size[0] // columns, size[1] // math.ceil(len(panels) / columns)
    letters = max(FONT * math.sqrt(math.sqrt(size[0] * size[1] * width * height)), SMALLEST)
    font, step = ImageFont.load_default(letters), 1.3 * letters    # from line to line
    picture = Image.new('RGB', size, 'white')
    pen = ImageDraw.Draw(picture)
    count = max(int((width - step) / pen.textlength('n', font)), 1)    # of letters in a line
    texts = [[(part, color) for line, color in panel.text() for part in wrap(line, count)]
             for panel in panels]
    most = min(int(height / 2 / step), max(map(len, texts)))
    above = math.ceil(step * most)    # of a panel's picture: its lines
    images = panel_images(model, scene, panels, (width, height - above), back)
    for number, (text, image) in enumerate(zip(texts, images, strict=True)):
        x, y = number % columns * width, number // columns * height
        picture.paste(image, (x, y + above))
        for row, (line, color) in enumerate(text[:most]):
            pen.text((x + step / 2, y + step * (row + 0.2)), line, fill=_rgb(color), font=font)
    picture.save(path, format='PNG', optimize=True)


def panel_images(model: RobotModel, scene: Scene, panels: Sequence[Panel], size: tuple[int, int],
                 back: Array | None = None) -> Iterator[Image.Image]:
    """Yield an image of size (width, height) of each panel, without text, seen from one point."""
    layers = [list(_layers(model, scene, panel)) for panel in panels]
    middle, length = extent(model.robot, panels[0].q)
    camera = camera_on(_to_be_seen(layers, middle, FAR * length),
                       np.array(BACK if back is None else back), size[0] / size[1])
    for each in layers:
        yield Image.fromarray(np.rint(255 * render(each, camera, *size)).astype(np.uint8))


def _columns(count: int, size: tuple[int, int]) -> int:
    """Return how many panels are side by side, for panels that are nearly square."""
    return min(range(1, count + 1), key=lambda columns: abs(math.log(
        size[0] / columns / (size[1] / math.ceil(count / columns)))))


def _layers(model: RobotModel, scene: Scene, panel: Panel) -> Iterator[Layer]:
    poses, (_, size) = model.poses(panel.q), extent(model.robot, panel.q)
    yield Layer([Body(surface, poses[link] * in_link, panel.color)
                 for link, surface, in_link in model.surfaces])
    touched = touched_names(panel.contacts)
    for item, pose, usual in placed_objects(scene, panel.q):
        drawn = drawn_object(item, usual)
        opacity = drawn[0][0].opacity
        yield Layer([Body(surface, pose * in_item) for surface, in_item in drawn],
                    min(opacity, TOUCHED) if item.id in touched else opacity)
    if panel.targets:
        yield Layer([arrow for T in panel.targets for arrow in _arrows(T, AXES_SIZE * size)])
    if panel.contacts:
        ball = shape_surface(Sphere(CONTACT_RADIUS), CONTACT)
        yield Layer([Body(ball, pin.SE3(np.eye(3), np.array(one.point)))
                     for one in panel.contacts[:MOST_CONTACTS]], in_front=True)


def _arrows(T: Array, length: float) -> Iterator[Body]:
    """Yield the axes of a frame."""
    for column, color in zip(np.eye(3), AXES, strict=True):
        along = pin.SE3(T[:3, :3], np.array(T[:3, 3])) * pin.SE3(
            pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), column), np.zeros(3))
        for shape, middle in ((Cylinder(0.03 * length, 0.8 * length), 0.4 * length),
                              (Cone(0.08 * length, 0.2 * length), 0.9 * length)):
            yield Body(shape_surface(shape, color),
                       along * pin.SE3(np.eye(3), np.array([0, 0, middle])))


def _to_be_seen(layers: Sequence[Sequence[Layer]], middle: Array, far: float) -> Array:
    """Return the points (n, 3) of all that is not `far` from the robot's middle, as a floor is."""
    every = (_points(body) for panel in layers for layer in panel for body in layer.bodies)
    near = [points for points in every if np.linalg.norm(points - middle, axis=1).max() < far]
    # a robot may have nothing that is seen
    return np.concatenate(near or [middle + far / FAR * np.array([[-0.5] * 3, [0.5] * 3])])


def _points(body: Body) -> Array:
    return np.asarray(body.surface.vertices @ body.pose.rotation.T + body.pose.translation)


def _rgb(color: Color) -> tuple[int, ...]:
    return tuple(round(255 * value) for value in color)
