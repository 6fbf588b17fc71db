"""What a robot looks like: the <visual> elements of its URDF."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core.errors import IKError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import numbers
from ros2_ik.core.scene.meshes import read_colored_triangles
from ros2_ik.core.scene.robot_geometry import (
    Color,
    ElementReader,
    robot_geometry,
    RobotGeometry,
)
from ros2_ik.core.scene.shapes import Mesh, Shape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def visual_geometry(robot: Robot) -> RobotGeometry:
    """
    Return what of a robot is seen, in parts of one colour each.

    A robot without visual elements, and links of which one cannot be read, as its mesh is not
    found, are seen as their collision elements; `warnings` say so.
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
    """Reads the <visual> elements of a URDF; what is wrong is left out."""

    tag, without = 'visual', 'its collision elements are drawn'

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot, 'exact', 'skip')
        self._colors = {material.get('name'): _rgb(material)
                        for material in robot.tree.element.findall('material')}
        self._parts: list[tuple[Mesh, Color]] = []

    def _shapes(self, element: 'Element', link: str) -> list[tuple[Shape, Color]]:
        self._parts = []
        shape = self._shape(element, link)
        material = element.find('material')
        color = None if material is None else (
            _rgb(material) or self._colors.get(material.get('name')))
        if not self._parts:
            return [(shape, color)]
        # as RViz does: a material of the URDF is there instead of those of the mesh
        return [(part, color or own) for part, own in self._parts]

    def _unit(self, unit: float, what: str) -> float:
        return unit    # as RViz and Gazebo show it

    def _read_mesh(self, path: Path, scale: list[float]) -> Mesh:
        mirrored = np.prod(scale) < 0
        self._parts = [
            (Mesh(points * np.array(scale), faces[:, ::-1] if mirrored else faces),
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

