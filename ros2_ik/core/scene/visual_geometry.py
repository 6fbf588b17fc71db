"""The <visual> elements of a URDF, as triangles to draw or as files that RViz draws itself."""

from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core.errors import IKError
from ros2_ik.core.meshes.meshes import read_colored_triangles, read_unit
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import numbers
from ros2_ik.core.scene.robot_geometry import (
    Color,
    ElementReader,
    robot_geometry,
    RobotGeometry,
)
from ros2_ik.core.scene.shapes import Mesh, Shape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class VisualElement(NamedTuple):
    """
    The looks of a link: a 'box', 'sphere', 'cylinder' or 'mesh'.

    `place` is a pinocchio.SE3 in the link; `size` (3,) are the lengths along its axes [m], of a
    mesh the scales of its `file`.
    """

    link: str
    kind: str
    place: Any
    size: tuple[float, float, float]
    file: Path | None = None


class _MeshFile(NamedTuple):
    """A mesh whose file is not read."""

    file: Path
    size: tuple[float, ...]
    kind: str = 'mesh'
    warnings: tuple[str, ...] = ()


def visual_elements(robot: Robot) -> tuple[VisualElement, ...]:
    """Return all whose mesh is found and that are well-formed; no mesh file is read."""
    return tuple(VisualElement(body.link, 'cylinder' if body.shape.kind == 'capsule' else
                               body.shape.kind, body.in_link, *_size(body.shape))
                 for body in VisualReader(robot, reads_files=False).read().bodies)


def _size(shape: Any) -> tuple[Any, ...]:
    if shape.kind in ('box', 'mesh'):
        return tuple(shape.size), getattr(shape, 'file', None)
    across = 2 * shape.radius
    return ((across, across, across if shape.kind == 'sphere' else shape.length),)


def visual_geometry(robot: Robot) -> RobotGeometry:
    """
    Return the looks of a robot, in parts of one colour each.

    A robot without visual elements, and links of which one cannot be read, as its mesh is not
    found, look like their collision elements; `warnings` say so.
    """
    seen = VisualReader(robot).read()
    hidden = set(seen.left_out)
    others = [body for body in robot_geometry(robot, missing='skip').bodies
              if body.link in hidden or not seen.bodies]
    warnings = seen.warnings
    if hidden and others:
        names = ', '.join(dict.fromkeys(body.link for body in others))
        warnings += (f'drawn by their collision elements: {names}',)
    return RobotGeometry((*(body for body in seen.bodies if body.link not in hidden), *others),
                         warnings, seen.left_out)


class VisualReader(ElementReader):
    """Reads the <visual> elements of a URDF, without what is wrong."""

    tag, without = 'visual', 'its collision elements are drawn'

    def __init__(self, robot: Robot, reads_files: bool = True) -> None:
        super().__init__(robot, 'exact', 'skip')
        self._reads_files = reads_files
        self._colors = {material.get('name'): _rgb(material)
                        for material in robot.tree.element.findall('material')}
        self._parts: list[tuple[Shape, Color]] = []

    def _shapes(self, element: 'Element', link: str) -> list[tuple[Shape, Color]]:
        self._parts = []
        shape = self._shape(element, link)
        material = element.find('material')
        color = None if material is None else (
            _rgb(material) or self._colors.get(material.get('name')))
        # as in RViz, a material of the URDF takes the place of those of the mesh
        return [(part, color or own) for part, own in self._parts or [(shape, None)]]

    def _read_mesh(self, path: Path, scale: list[float], what: str) -> Any:
        if not self._reads_files:
            return _MeshFile(path, tuple(scale))
        factors = read_unit(path) * np.array(scale)    # as RViz and Gazebo show it
        self._parts = [
            (Mesh(points * factors, faces[:, ::-1] if factors.prod() < 0 else faces),
             None if color is None else tuple(color.tolist()))
            for points, faces, color in read_colored_triangles(path)]
        return self._parts[0][0]


def _rgb(material: 'Element') -> Color:
    color = material.find('color')
    if color is None:
        return None
    try:
        rgba = numbers(color.get('rgba', ''), 4, 'material color')
    except IKError:    # a colour is no reason to draw nothing
        return None
    return tuple(min(max(value, 0.0), 1.0) for value in rgba[:3])
