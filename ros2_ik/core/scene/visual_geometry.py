"""The <visual> elements of a URDF, as triangles to draw or as files that RViz draws itself."""

import numpy as np

from ros2_ik.core.meshes.meshes import read_colored_triangles, read_unit
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.geometry_elements import Color, ElementReader, GeometryElement
from ros2_ik.core.scene.robot_geometry import robot_geometry, RobotGeometry, shaped_geometry
from ros2_ik.core.scene.shapes import Mesh, Shape


def visual_elements(robot: Robot) -> tuple[GeometryElement, ...]:
    """Return all whose mesh is found and that are well-formed; no mesh file is read."""
    reader = ElementReader(robot, 'visual', 'skip')
    return tuple(element for element, _ in reader.read(
        lambda element: element.primitive() if element.file is None else None))


def visual_geometry(robot: Robot) -> RobotGeometry:
    """
    Return the looks of a robot, in parts of one colour each.

    A robot without visual elements, and links of which one cannot be read, as its mesh is not
    found, look like their collision elements; `warnings` say so.
    """
    seen = shaped_geometry(robot, ElementReader(robot, 'visual', 'skip'), _parts)
    others = [body for body in robot_geometry(robot, missing='skip').bodies
              if body.link in seen.left_out or not seen.bodies]
    names = ', '.join(dict.fromkeys(body.link for body in others))
    return RobotGeometry(
        (*(body for body in seen.bodies if body.link not in seen.left_out), *others),
        (*seen.warnings, *([f'drawn by their collision elements: {names}'] if names else [])),
        seen.left_out)


def _parts(element: GeometryElement) -> list[tuple[Shape, Color]]:
    """Return the shapes of one colour each; the URDF's counts before the file's, as in RViz."""
    if element.file is None:
        return [(element.primitive(), element.color)]
    factors = read_unit(element.file) * np.array(element.size)    # as RViz and Gazebo show it
    return [(Mesh(points * factors, faces[:, ::-1] if factors.prod() < 0 else faces),
             element.color or (None if color is None else tuple(color.tolist())))
            for points, faces, color in read_colored_triangles(element.file)]
