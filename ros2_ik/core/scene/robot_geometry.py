"""The robot's own geometry: the <collision> elements of its URDF."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TYPE_CHECKING

import numpy as np

from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidSceneError
from ros2_ik.core.lru_cache import LRUCache
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.meshes.mesh_paths import find_mesh, geometry_key
from ros2_ik.core.meshes.meshes import read_unit, THICKNESS
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import numbers, read_origin
from ros2_ik.core.scene.shapes import Box, Capsule, Cylinder, DETAILS, Mesh, Shape, Sphere

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MISSING = ('refuse', 'skip')
FLAT = 2 * THICKNESS     # m, for sizes of 0
_KINDS = ('box', 'capsule', 'cylinder', 'mesh', 'sphere')
Color = tuple[float, ...] | None
_known: LRUCache[tuple[Any, ...], 'RobotGeometry'] = LRUCache()


@dataclass(frozen=True)
class LinkGeometry:
    """
    A shape on a link: one collision element, or a part of a visual one.

    `in_link` is its place in the link's frame; `joint` the index of Pinocchio's joint that
    carries it (0: nothing does), `placement` its place in that joint's frame. Both are
    pinocchio.SE3. `name` is the element's, or '<link>_<number>' as Pinocchio has it; each once.
    `color` of a visual one is red, green, blue in [0, 1], None where the URDF names none.
    """

    link: str
    name: str
    shape: Shape
    in_link: Any
    joint: int
    placement: Any
    color: tuple[float, ...] | None = None


@dataclass(frozen=True)
class RobotGeometry:
    """
    All bodies of a robot. `warnings` say what was left out or replaced.

    `left_out` are the links of which an element could not be read.
    """

    # in errors and warnings what follows this tells of files, which not everybody is to know
    UNUSABLE: ClassVar[str] = ' cannot be used: '

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
                     and body.shape.represented_by == 'exact' and not body.shape.has_parts)

    @cached_property
    def key(self) -> str:
        """A digest of links, shapes and places: equal keys mean equal geometry."""
        return digest(*(repr((body.link, body.name, body.joint, body.shape.digest,
                              body.placement.homogeneous.tolist())) for body in self.bodies))


def check_detail(meshes: Any) -> None:
    """Raise InvalidOptionError unless that says what stands for a mesh."""
    if not (isinstance(meshes, str) and meshes in DETAILS):
        raise InvalidOptionError(f'meshes is {meshes!r}; valid: {", ".join(DETAILS)}')


def robot_geometry(robot: Robot, meshes: str = 'exact', missing: str = 'refuse') -> RobotGeometry:
    """
    Return the robot's geometry, made once for each robot and state of its mesh files.

    `meshes` says what stands for a mesh: 'exact', 'hull' or 'pieces', see `Mesh`. With `missing`
    'refuse' an element that is malformed, or whose mesh cannot be found or read, raises
    InvalidSceneError (with link, path and where it was looked for), with 'skip' it becomes a
    warning. A robot without collision elements has no bodies and a warning.
    """
    check_detail(meshes)
    if not (isinstance(missing, str) and missing in MISSING):
        raise InvalidOptionError(f'missing is {missing!r}; valid: {", ".join(MISSING)}')
    return _known.get((geometry_key(robot), meshes, missing),
                      ElementReader(robot, meshes, missing).read)


class ElementReader:
    """Reads the <collision>, or <visual>, elements of a URDF."""

    tag, without = 'collision', 'nothing of it can be seen to collide'

    def __init__(self, robot: Robot, meshes: str, missing: str) -> None:
        self.robot, self.meshes, self.missing = robot, meshes, missing
        self.warnings: list[str] = []
        self.left_out: list[str] = []
        self.names: set[str] = set()

    def read(self) -> RobotGeometry:
        root = self.robot.tree.element
        bodies = tuple(body for link in root.findall('link') for body in self._bodies(link))
        if not any(link.find(self.tag) is not None for link in root.findall('link')):
            self.warnings.append(f"robot '{self.robot.name}' has no {self.tag} elements: "
                                 f'{self.without}')
        return RobotGeometry(bodies, tuple(self.warnings), tuple(dict.fromkeys(self.left_out)))

    def _bodies(self, element: 'Element') -> Iterator[LinkGeometry]:
        link = element.get('name', '')
        frame = self.robot.model.frames[self.robot.frame_id(link)]
        for index, found in enumerate(element.findall(self.tag)):
            name = self._unused(found.get('name') or f'{link}_{index}')
            try:
                shapes = self._shapes(found, link)
                in_link = read_origin(found)
            except IKError as error:
                text = f"link '{link}', {self.tag} '{name}': {error}"
                if self.missing == 'refuse':
                    raise InvalidSceneError(text) from None
                self.warnings.append(f'{text}; it is left out')
                self.left_out.append(link)
                continue
            for number, (shape, color) in enumerate(shapes):
                self.warnings += [f"link '{link}': {warning}" for warning in shape.warnings]
                yield LinkGeometry(link, self._unused(name) if number else name, shape, in_link,
                                   int(frame.parentJoint), frame.placement * in_link, color)

    def _shapes(self, element: 'Element', link: str) -> list[tuple[Shape, Color]]:
        """Return the shapes of an element, each with its colour."""
        return [(self._shape(element, link), None)]

    def _unused(self, name: str) -> str:
        while name in self.names:
            name = f'{name}_again'
        self.names.add(name)
        return name

    def _shape(self, found: 'Element', link: str) -> Shape:
        geometries = found.findall('geometry')
        # what has a prefix is other programs': drake:declare_convex
        kinds = [kind for geometry in geometries for kind in geometry if ':' not in kind.tag]
        if len(kinds) != 1 or kinds[0].tag not in _KINDS:
            tags = ', '.join(f'<{kind.tag}>' for kind in kinds) or 'nothing'
            raise InvalidSceneError(f'its geometry is {tags}; valid: one of {", ".join(_KINDS)}')
        element = kinds[0]
        if element.tag == 'mesh':
            return self._mesh(element, link)
        if element.tag == 'box':
            return Box(np.array(self._lengths(element, link, 'size', 3)))
        radius = self._lengths(element, link, 'radius', 1)[0]
        if element.tag == 'sphere':
            return Sphere(radius)
        length = self._lengths(element, link, 'length', 1)[0]
        return (Cylinder if element.tag == 'cylinder' else Capsule)(radius, length)

    def _lengths(self, element: 'Element', link: str, attribute: str, count: int) -> list[float]:
        """Read lengths; 0, as in plates and placeholders, counts as the least thickness."""
        found = numbers(element.get(attribute, ''), count, f'{element.tag} {attribute}')
        if 0.0 in found:
            self.warnings.append(
                f"link '{link}': the {attribute} of its <{element.tag}> is "
                f"'{element.get(attribute)}'; 0 counts as {1e3 * FLAT:g} mm")
        return [length or FLAT for length in found]

    def _mesh(self, element: 'Element', link: str) -> Mesh:
        scale = numbers(element.get('scale', '1 1 1'), 3, 'mesh scale')
        name = element.get('filename', '')
        if not name:
            raise InvalidSceneError('a <mesh> has no filename')
        if not all(scale):
            raise InvalidSceneError(f"the scale of the mesh '{name}' is {scale}; none of them may "
                                    'be zero')
        try:
            return self._read_mesh(find_mesh(name, self.robot.package_dirs), scale,
                                   f"link '{link}': the unit of its mesh '{name}'")
        except InvalidSceneError as error:
            raise InvalidSceneError(f"its mesh '{name}'{RobotGeometry.UNUSABLE}{error}") from None

    def _read_mesh(self, path: Path, scale: list[float], what: str) -> Mesh:
        """Read a mesh; its unit, `what` in messages, is told but not applied."""
        unit = read_unit(path)
        if unit > 1:     # RViz would show a larger link than is checked
            raise InvalidSceneError(f'its unit is {unit:g} m; valid: up to 1 m')
        if unit < 1:
            self.warnings.append(
                f'{what} is {unit:g} m, which is left as it is, as MoveIt does: numbers are '
                'metres. RViz and Gazebo scale by it; the scale of <mesh> tells everybody the '
                'size')
        return Mesh.from_file(path, scale, self.meshes)
