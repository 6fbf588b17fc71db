"""The robot's geometry: the <collision> and <visual> elements of its URDF, as shapes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from ros2_ik.core.checks import one_of
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidSceneError
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.meshes.mesh_files import read_mesh
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.packages import find_mesh
from ros2_ik.core.robot.urdf import numbers, read_origin
from ros2_ik.core.scene.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from ros2_ik.core.scene.shapes.mesh import DETAILS

MISSING = ('refuse', 'skip')
_PRIMITIVES: dict[str, tuple[Callable[..., Shape], tuple[str, ...]]] = {
    'box': (lambda *size: Box(np.array(size)), ('size',)), 'sphere': (Sphere, ('radius',)),
    'cylinder': (Cylinder, ('radius', 'length')), 'capsule': (Capsule, ('radius', 'length'))}
_TAGS = (*_PRIMITIVES, 'mesh')
Color = tuple[float, ...] | None
S = TypeVar('S')


class MeshFile(NamedTuple):
    """Path of a mesh file, and the scale factor along each axis (3,)."""

    path: Path
    scale: tuple[float, ...]


@dataclass(frozen=True)
class ElementOf(Generic[S]):
    """
    A <collision> or <visual> element, or the part of a <visual> element that has one colour.

    `name` is the element's name, '<link>_<number>' if the URDF has none. `shape` is a Shape, or a
    MeshFile if the mesh has not been read. `in_link` is the pose in the link frame, a
    pinocchio.SE3. `color` is red, green, blue in [0, 1], or None if no colour is known.
    """

    link: str
    name: str
    shape: S
    in_link: pin.SE3
    color: Color = None


GeometryElement = ElementOf[Shape | MeshFile]
LinkGeometry = ElementOf[Shape]


def _elements(robot: Robot, tag: str, missing: str,
              shapes: Callable[[GeometryElement, list[str]], list[tuple[S, Color]]]
              ) -> tuple[tuple[ElementOf[S], ...], tuple[str, ...], tuple[str, ...]]:
    """
    Return the elements with `tag` ('collision' or 'visual'), warnings, and incomplete links.

    `shapes(element, warnings)` returns (shape, colour) pairs; it may add warnings or raise an
    IKError. If an element cannot be used and `missing` is 'refuse', InvalidSceneError is raised;
    if `missing` is 'skip', the element is left out with a warning, and its link is incomplete.
    """
    root, warnings, incomplete_links = robot.tree.element, list[str](), dict[str, None]()
    found: list[ElementOf[S]] = []
    materials = {material.get('name'): material for material in root.findall('material')}
    for link in root.findall('link'):
        body = link.get('name', '')
        for index, element in enumerate(link.findall(tag)):
            name, material = element.get('name') or f'{body}_{index}', element.find('material')
            try:
                color = None if material is None else _rgb(material) or _rgb(
                    materials.get(material.get('name'), material))
                whole = GeometryElement(body, name, _shape(element, robot.package_dirs),
                                        read_origin(element), color)
                found += [ElementOf(body, name, shape, whole.in_link, color)
                          for shape, color in shapes(whole, warnings)]
            except IKError as error:
                text = f"link '{body}', {tag} '{name}' cannot be used: {error}"
                if missing == 'refuse':
                    raise InvalidSceneError(text) from None
                warnings.append(f'{text}; it is left out')
                incomplete_links[body] = None
    if not found and not incomplete_links:
        warnings.append(f"robot '{robot.name}' has no {tag} elements")
    return tuple(found), tuple(warnings), tuple(incomplete_links)


def _shape(element: Element, package_dirs: tuple[str, ...]) -> Shape | MeshFile:
    # tags with a namespace are extensions of other programs, such as drake:declare_convex
    kinds = [kind for kind in element.findall('geometry/*') if ':' not in kind.tag]
    if len(kinds) != 1 or kinds[0].tag not in _TAGS:
        tags = ', '.join(f'<{kind.tag}>' for kind in kinds) or 'nothing'
        raise InvalidSceneError(f'its geometry is {tags}; valid: one of {", ".join(_TAGS)}')
    shape = kinds[0]
    if shape.tag == 'mesh':
        scale = numbers(shape.get('scale', '1 1 1'), 3, 'mesh scale')
        return MeshFile(find_mesh(shape.get('filename', ''), package_dirs), tuple(scale))
    make, names = _PRIMITIVES[shape.tag]
    return make(*(value for name in names for value in numbers(
        shape.get(name, ''), 3 if name == 'size' else 1, f'{shape.tag} {name}')))


def _rgb(material: Element) -> Color:
    color = material.find('color')
    if color is None:
        return None
    rgba = numbers(color.get('rgba', ''), 4, f"material '{material.get('name')}', color")
    return tuple(min(max(value, 0.0), 1.0) for value in rgba[:3])


@dataclass(frozen=True, eq=False)
class RobotGeometry:
    """
    The shapes of a robot's links; each body has one shape and one colour.

    `warnings` are sentences about missing, replaced or left-out elements, and ignored units.
    `incomplete_links` are the links with an element that was left out.
    """

    bodies: tuple[LinkGeometry, ...]
    warnings: tuple[str, ...] = ()
    incomplete_links: tuple[str, ...] = ()

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the links that have at least one body, in the order of `bodies`."""
        return tuple(dict.fromkeys(body.link for body in self.bodies))

    @property
    def without_parts(self) -> tuple[Mesh, ...]:
        """Exact meshes without computed convex parts: distances use their convex hulls instead."""
        return tuple(body.shape for body in self.bodies if isinstance(body.shape, Mesh)
                     and body.shape.detail == 'exact' and not body.shape.has_parts)

    @cached_property
    def key(self) -> str:
        """Digest of all names, shapes and poses; colours and warnings do not change it."""
        return digest(*(repr((body.link, body.name, body.shape.digest,
                              body.in_link.homogeneous.tolist())) for body in self.bodies))


def robot_geometry(robot: Robot, meshes: str = 'exact', missing: str = 'refuse') -> RobotGeometry:
    """
    Return the robot's collision geometry; cached per Robot object.

    `meshes` selects how meshes are represented, 'exact' or 'hull' (see `Mesh`). `missing` is for
    elements that are malformed, or whose mesh cannot be found or read: 'refuse' raises
    InvalidSceneError with the link and the paths tried, 'skip' leaves the elements out with a
    warning. The result for a robot without collision elements has no bodies and one warning.
    """
    one_of(meshes, 'meshes', DETAILS, InvalidOptionError)
    one_of(missing, 'missing', MISSING, InvalidOptionError)
    return _geometry(robot.without_added_frames, meshes, missing)


@lru_cache(maxsize=8)
def _geometry(robot: Robot, meshes: str, missing: str) -> RobotGeometry:
    return RobotGeometry(*_elements(robot, 'collision', missing, lambda element, warnings: [
        (_collision_shape(element, meshes, warnings), None)]))


def _collision_shape(element: GeometryElement, meshes: str, warnings: list[str]) -> Shape:
    """Return the shape of an element; warn if a unit is ignored or a hull replaces the mesh."""
    if isinstance(element.shape, Shape):
        return element.shape
    file, scale = element.shape
    unit = float(read_mesh(file).unit)
    # RViz applies the unit: with units above 1 m, RViz would show contacts that the check misses
    if unit > 1:
        raise InvalidSceneError(f'its unit is {unit:g} m; valid: up to 1 m')
    if unit < 1:
        warnings.append(f"link '{element.link}': its mesh '{file.name}' has the unit {unit:g} m, "
                        'which is ignored, as in MoveIt: coordinates count as metres. RViz and '
                        'Gazebo apply the unit: use the scale of <mesh> instead')
    mesh = Mesh.from_file(file, scale, meshes)
    if mesh.detail != meshes:
        warnings.append(f"link '{element.link}': its mesh '{file.name}' has "
                        f'{len(mesh.triangles)} triangles: its convex hull is used instead')
    return mesh


def visual_elements(robot: Robot) -> tuple[GeometryElement, ...]:
    """Return the valid <visual> elements whose mesh files, if any, exist; reads no mesh."""
    return _elements(robot, 'visual', 'skip', lambda element, _: [
        (element.shape, element.color)])[0]


def visual_geometry(robot: Robot) -> RobotGeometry:
    """
    Return the robot's visual geometry, in bodies of one colour each.

    Collision elements are added for links with a visual element that cannot be read, and for links
    that neither have visual elements nor are fixed to a link that has some. `warnings` name the
    elements that cannot be read.
    """
    bodies, warnings, incomplete_links = _elements(robot, 'visual', 'skip', _visual_shapes)
    # links that the same joints move are fixed to each other
    drawn = {robot.moving_joints(body.link) for body in bodies}
    substitutes = (body for body in robot_geometry(robot, missing='skip').bodies
                   if body.link in incomplete_links
                   or robot.moving_joints(body.link) not in drawn)
    return RobotGeometry((*bodies, *substitutes), warnings, incomplete_links)


def _visual_shapes(element: GeometryElement, _: list[str]) -> list[tuple[Shape, Color]]:
    """Return one shape per colour; as in RViz, the URDF's colour overrides the mesh file's."""
    if isinstance(element.shape, Shape):
        return [(element.shape, element.color)]
    file, scale = element.shape
    mesh, shapes = read_mesh(file), list[tuple[Shape, Color]]()
    # apply the unit of the file, as RViz and Gazebo do; collision geometry ignores the unit
    factors = mesh.unit * np.array(scale)
    # a mirroring scale reverses the orientation of the faces
    triangles = mesh.triangles[:, ::-1] if factors.prod() < 0 else mesh.triangles
    colors, number_of = np.unique(mesh.colors, axis=0, return_inverse=True)
    for number, color in enumerate(colors):
        used, faces = np.unique(triangles[number_of.reshape(-1) == number], return_inverse=True)
        shapes.append((Mesh(mesh.vertices[used] * factors, faces.reshape(-1, 3)),
                       element.color or (tuple(color.tolist()) if color.min() >= 0 else None)))
    return shapes
