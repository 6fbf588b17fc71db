"""The <visual> elements of a URDF, for who draws the files themselves."""

from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from ros2_ik.core.errors import IKError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import numbers, read_origin
from ros2_ik.core.scene.mesh_paths import find_mesh

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class VisualElement(NamedTuple):
    """
    What is to be seen of a link: a 'box', 'sphere', 'cylinder' or 'mesh'.

    `place` is a pinocchio.SE3 in the link; `size` (3,) are the lengths along its axes [m], of a
    mesh the scales of its `file`.
    """

    link: str
    kind: str
    place: Any
    size: tuple[float, float, float]
    file: Path | None = None


def visual_elements(robot: Robot) -> tuple[VisualElement, ...]:
    """Return them all; those that are malformed, or whose mesh is not found, are left out."""
    found = []
    for link in robot.tree.element.findall('link'):
        for visual in link.findall('visual'):
            try:
                found.append(_read(robot, link.get('name', ''), visual))
            except (IKError, StopIteration):
                continue    # not to be drawn, but else a robot
    return tuple(found)


def _read(robot: Robot, link: str, visual: 'Element') -> VisualElement:
    shape = next(iter(visual.find('geometry') or ()))
    place = read_origin(visual)
    if shape.tag == 'mesh':
        x, y, z = numbers(shape.get('scale', '1 1 1'), 3, 'scale')
        return VisualElement(link, 'mesh', place, (x, y, z),
                             find_mesh(shape.get('filename', ''), robot.package_dirs))
    if shape.tag == 'box':
        x, y, z = numbers(shape.get('size', ''), 3, 'size')
        return VisualElement(link, 'box', place, (x, y, z))
    across = 2 * numbers(shape.get('radius', ''), 1, 'radius')[0]
    if shape.tag == 'sphere':
        return VisualElement(link, 'sphere', place, (across, across, across))
    along = numbers(shape.get('length', ''), 1, 'length')[0]
    return VisualElement(link, 'cylinder', place, (across, across, along))
