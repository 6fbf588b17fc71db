"""Pictures (PNG) of robots in their scenes, without a browser or a graphics card."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from textwrap import wrap

import numpy as np
from PIL import Image, ImageDraw, ImageFont
import pinocchio as pin

from ros2_ik.core import Array, Contact, Cylinder, Scene, Sphere
from ros2_ik.view.raster import Body, camera_on, render, vertices
from ros2_ik.view.surfaces import (
    Color,
    CONTACT,
    CONTACT_RADIUS,
    contact_text,
    drawn_object,
    extent,
    MAX_CONTACTS,
    placed_objects,
    RobotModel,
    shape_surface,
    TO_CAMERA,
)

AXES: tuple[Color, ...] = ((0.87, 0.15, 0.15), (0.1, 0.62, 0.2), (0.15, 0.35, 0.9))
AXES_RATIO = 0.16    # length of a target's axes / size of the robot
BLACK: Color = (0.13, 0.13, 0.13)
FONT_RATIO = 0.022   # height of letters / geometric mean of the edges of picture and panels
COLUMNS = 4          # largest number of panels in a row
MIN_FONT = 12        # smallest height of letters [px]
FAR_RATIO = 1.25     # bodies beyond this multiple of the robot's size may be out of view


@dataclass(frozen=True)
class Panel:
    """
    A panel of a picture: a robot at `q` (nq,) and a text above it.

    `color` replaces the robot's own colours. `targets` are poses (4, 4), drawn as coordinate
    frames. Contacts are drawn in red and named below the text.
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
                *((contact_text(one), CONTACT) for one in self.contacts[:MAX_CONTACTS])]


def write_picture(path: Path, model: RobotModel, scene: Scene, panels: Sequence[Panel],
                  size: tuple[int, int], back: Array | None = None) -> None:
    """
    Write panels, up to four in a row, to a PNG file of `size` (width, height) [px].

    All panels have the same view. `back` (3,) is the direction from the robot to the camera, by
    default that of the viewer. Raises OSError if the file cannot be written.
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
    # text takes at most half of a panel; all panels have the same height of text
    most = min(int(height / 2 / step), max(map(len, texts)))
    above = math.ceil(step * most)
    images = panel_images(model, scene, panels, (width, height - above), back)
    for number, (text, image) in enumerate(zip(texts, images, strict=True)):
        x, y = number % columns * width, number // columns * height
        picture.paste(image, (x, y + above))
        for row, (line, color) in enumerate(text[:most]):
            pen.text((x + step / 2, y + step * (row + 0.2)), line, font=font,
                     fill=tuple(round(255 * value) for value in color))
    picture.save(path, format='PNG', optimize=True)


def panel_images(model: RobotModel, scene: Scene, panels: Sequence[Panel], size: tuple[int, int],
                 back: Array | None = None) -> Iterator[Image.Image]:
    """Yield the image of each panel, without text, of `size` (width, height) [px]."""
    middle, length = extent(model.robot, panels[0].q)
    drawn = [list(_bodies(model, scene, panel, AXES_RATIO * length)) for panel in panels]
    # one camera for all panels; it shows all bodies near the robot, not a large floor or wall
    points = [vertices(body) for bodies in drawn for body in bodies]
    near = [each for each in points
            if np.linalg.norm(each - middle, axis=1).max() < FAR_RATIO * length]
    # a robot may have no visible link
    near = near or [middle + length * np.array([[-0.5] * 3, [0.5] * 3])]
    camera = camera_on(np.concatenate(near), np.array(TO_CAMERA if back is None else back),
                       size[0] / size[1])
    ball = shape_surface(Sphere(CONTACT_RADIUS), CONTACT)
    for panel, bodies in zip(panels, drawn, strict=True):
        balls = [(ball, pin.SE3(np.eye(3), np.array(one.point)))
                 for one in panel.contacts[:MAX_CONTACTS]]
        pixels = render(bodies, camera, *size, in_front=balls)
        yield Image.fromarray(np.rint(255 * pixels).astype(np.uint8))


def _bodies(model: RobotModel, scene: Scene, panel: Panel, length: float) -> Iterator[Body]:
    """Yield the bodies of a panel, without contacts; `length` is that of target axes [m]."""
    poses = model.poses(panel.q)
    for link, surface, in_link in model.surfaces:
        yield surface._replace(color=panel.color or surface.color), poses[link] * in_link
    for item, pose, default in placed_objects(scene, panel.q):
        for surface, in_item in drawn_object(item, default):
            yield surface, pose * in_item
    for T in panel.targets:
        for column, color in zip(np.eye(3), AXES, strict=True):
            # a cylinder, whose axis is z, turned to the axis of the target
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), column)
            yield (shape_surface(Cylinder(0.04 * length, length), color),
                   pin.SE3(T) * pin.SE3(turn, 0.5 * length * column))
