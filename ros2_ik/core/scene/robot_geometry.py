"""The robot's own geometry: the <collision> and <visual> elements of its URDF as shapes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ros2_ik.core.checks import one_of
from ros2_ik.core.errors import InvalidOptionError, InvalidSceneError
from ros2_ik.core.lru_cache import LRUCache
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.meshes.mesh_paths import geometry_key
from ros2_ik.core.meshes.meshes import read_colored_triangles, read_unit
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.geometry_elements import Color, ElementReader, GeometryElement
from ros2_ik.core.scene.shapes import Mesh, Shape
from ros2_ik.core.scene.shapes.mesh import DETAILS

MISSING = ('refuse', 'skip')
_known: LRUCache[tuple[Any, ...], 'RobotGeometry'] = LRUCache()


@dataclass(frozen=True)
class LinkGeometry:
    """
    A shape on a link: one collision element, or a part of a visual one.

    `in_link` is its pose in the link; `joint` the index of the joint of Pinocchio that carries it
    (0: the root), `placement` its pose in that joint's frame. Both are pinocchio.SE3. `name` is
    the element's, or '<link>_<number>'. `color` is that of a `GeometryElement`.
    """

    link: str
    name: str
    shape: Shape
    in_link: Any
    joint: int
    placement: Any
    color: Color = None


@dataclass(frozen=True)
class RobotGeometry:
    """
    All bodies of a robot; `warnings` name what was left out or replaced.

    `left_out` are the links of which an element could not be read.
    """

    bodies: tuple[LinkGeometry, ...]
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the links with bodies, in the URDF's order."""
        return tuple(dict.fromkeys(body.link for body in self.bodies))

    @property
    def without_parts(self) -> tuple[Mesh, ...]:
        """Exact meshes whose distances are their hulls', until `Mesh.make_parts` was called."""
        return tuple(body.shape for body in self.bodies if isinstance(body.shape, Mesh)
                     and body.shape.detail == 'exact' and not body.shape.has_parts)

    @cached_property
    def key(self) -> str:
        """A digest of links, shapes and places: equal keys mean equal geometry."""
        return digest(*(repr((body.link, body.name, body.joint, body.shape.digest,
                              body.placement.homogeneous.tolist())) for body in self.bodies))


def robot_geometry(robot: Robot, meshes: str = 'exact', missing: str = 'refuse') -> RobotGeometry:
    """
    Return the robot's geometry, made once for each robot and state of its mesh files.

    `meshes` says what stands for a mesh: 'exact', 'hull' or 'pieces', see `Mesh`. With `missing`
    'refuse' an element that is malformed, or whose mesh cannot be found or read, raises
    InvalidSceneError (with link, path and where it was looked for), with 'skip' it becomes a
    warning. A robot without collision elements has no bodies and a warning.
    """
    one_of(meshes, 'meshes', DETAILS, InvalidOptionError)
    one_of(missing, 'missing', MISSING, InvalidOptionError)
    return _known.get((geometry_key(robot), meshes, missing),
                      lambda: _collision_geometry(robot, meshes, missing))


def _collision_geometry(robot: Robot, meshes: str, missing: str) -> RobotGeometry:
    reader = ElementReader(robot, 'collision', missing)
    return _shaped(robot, reader,
                   lambda element: [(_collision_shape(element, meshes, reader.warnings), None)])


def _shaped(robot: Robot, reader: ElementReader,
            shapes: Callable[[GeometryElement], list[tuple[Shape, Color]]]) -> RobotGeometry:
    """Return the geometry of what `shapes` makes of each element: shapes with their colours."""
    bodies, model = [], robot.model
    for element, made in reader.read(shapes):
        frame = model.frames[robot.frame_id(element.link)]
        bodies += [LinkGeometry(element.link, element.name, shape, element.in_link,
                                int(frame.parentJoint), frame.placement * element.in_link, color)
                   for shape, color in made]
    if not bodies and not reader.left_out:
        reader.warnings.append(f"robot '{robot.name}' has no {reader.tag} elements")
    return RobotGeometry(tuple(bodies), tuple(reader.warnings),
                         tuple(dict.fromkeys(reader.left_out)))


def _collision_shape(element: GeometryElement, meshes: str, warnings: list[str]) -> Shape:
    """Return the shape of an element; the unit of a mesh is left as it is, with a warning."""
    if isinstance(element.shape, Shape):
        return element.shape
    file, scale = element.shape
    unit, what = read_unit(file), f"link '{element.link}': its mesh '{file.name}'"
    if unit > 1:     # RViz would show a larger link than is checked
        raise InvalidSceneError(f'its unit is {unit:g} m; valid: up to 1 m')
    if unit < 1:
        warnings.append(f'{what} has the unit {unit:g} m, which does not count, as in MoveIt: its '
                        'numbers are metres. RViz and Gazebo scale by it: write the scale into '
                        '<mesh> instead')
    mesh = Mesh.from_file(file, scale, meshes)
    if mesh.detail != meshes:
        warnings.append(f'{what} has {len(mesh.triangles)} triangles: its convex hull stands for '
                        'it')
    return mesh


def visual_elements(robot: Robot) -> tuple[GeometryElement, ...]:
    """Return all whose mesh is found and that are well-formed; no mesh file is read."""
    reader = ElementReader(robot, 'visual', 'skip')
    return tuple(element for element, _ in reader.read(lambda element: None))


def visual_geometry(robot: Robot) -> RobotGeometry:
    """
    Return the looks of a robot, in parts of one colour each.

    A robot without visual elements, and links of which one cannot be read, as its mesh is not
    found, look like their collision elements; `warnings` say so.
    """
    seen = _shaped(robot, ElementReader(robot, 'visual', 'skip'), _visual_shapes)
    others = [body for body in robot_geometry(robot, missing='skip').bodies
              if body.link in seen.left_out or not seen.bodies]
    names = ', '.join(dict.fromkeys(body.link for body in others))
    return RobotGeometry(
        (*(body for body in seen.bodies if body.link not in seen.left_out), *others),
        (*seen.warnings, *([f'drawn by their collision elements: {names}'] if names else [])),
        seen.left_out)


def _visual_shapes(element: GeometryElement) -> list[tuple[Shape, Color]]:
    """Return the shapes of one colour each; the URDF's counts before the file's, as in RViz."""
    if isinstance(element.shape, Shape):
        return [(element.shape, element.color)]
    file, scale = element.shape
    factors = read_unit(file) * np.array(scale)    # as RViz and Gazebo show it
    return [(Mesh(points * factors, faces[:, ::-1] if factors.prod() < 0 else faces),
             element.color or (None if color is None else tuple(color.tolist())))
            for points, faces, color in read_colored_triangles(file)]
