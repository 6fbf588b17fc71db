"""Reader of the <collision> and <visual> elements of a URDF."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from ros2_ik.core.errors import IKError, InvalidSceneError
from ros2_ik.core.meshes.mesh_paths import find_mesh
from ros2_ik.core.meshes.meshes import THICKNESS
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import numbers, read_origin
from ros2_ik.core.scene.shapes import Box, Capsule, Cylinder, Shape, Sphere

LEAST_SIZE = 2 * THICKNESS     # [m], in place of 0
# in errors and warnings what follows this tells of files, which not everybody is to know
UNUSABLE = ' cannot be used: '
_PRIMITIVES: dict[str, tuple[Callable[..., Shape], tuple[str, ...]]] = {
    'box': (lambda *size: Box(np.array(size)), ('size',)), 'sphere': (Sphere, ('radius',)),
    'cylinder': (Cylinder, ('radius', 'length')), 'capsule': (Capsule, ('radius', 'length'))}
_TAGS = (*_PRIMITIVES, 'mesh')
Color = tuple[float, ...] | None
T = TypeVar('T')


class MeshFile(NamedTuple):
    """The file of a mesh, and its scale along each axis (3,)."""

    path: Path
    scale: tuple[float, ...]


class GeometryElement(NamedTuple):
    """
    A <collision> or <visual> element, whose `shape` may be a mesh that was not read yet.

    `in_link` is its pose in the link, a pinocchio.SE3. `color` is red, green, blue in [0, 1], None
    where the URDF names none. `name` is '<link>_<number>' where it has none.
    """

    link: str
    name: str
    shape: Shape | MeshFile
    in_link: Any
    color: Color


class ElementReader:
    """
    Reads the elements of one `tag`, 'collision' or 'visual'.

    With `missing` 'refuse', what is wrong with an element raises InvalidSceneError; with 'skip'
    it becomes a warning, and the link is `left_out`.
    """

    def __init__(self, robot: Robot, tag: str, missing: str) -> None:
        self._robot, self.tag, self._missing = robot, tag, missing
        self._colors = {material.get('name'): _rgb(material)
                        for material in robot.tree.element.findall('material')}
        self.warnings: list[str] = []
        self.left_out: list[str] = []

    def read(self, make: Callable[[GeometryElement], T]) -> Iterator[tuple[GeometryElement, T]]:
        """Yield each element with what `make` makes of it, which may raise an IKError."""
        for link in self._robot.tree.element.findall('link'):
            for index, element in enumerate(link.findall(self.tag)):
                body = link.get('name', '')
                name = element.get('name') or f'{body}_{index}'
                try:
                    found = self._parsed(body, name, element)
                    made = make(found)
                except IKError as error:
                    mesh = element.find('geometry/mesh')
                    file = '' if mesh is None else f", mesh {mesh.get('filename')!r}"
                    self._leave_out(body, f"{self.tag} '{name}'{file}{UNUSABLE}{error}")
                else:
                    yield found, made

    def _leave_out(self, link: str, reason: str) -> None:
        text = f"link '{link}', {reason}"
        if self._missing == 'refuse':
            raise InvalidSceneError(text) from None
        self.warnings.append(f'{text}; it is left out')
        self.left_out.append(link)

    def _parsed(self, link: str, name: str, element: Element) -> GeometryElement:
        # what has a prefix is other programs': drake:declare_convex
        kinds = [kind for kind in element.findall('geometry/*') if ':' not in kind.tag]
        if len(kinds) != 1 or kinds[0].tag not in _TAGS:
            tags = ', '.join(f'<{kind.tag}>' for kind in kinds) or 'nothing'
            raise InvalidSceneError(f'its geometry is {tags}; valid: one of {", ".join(_TAGS)}')
        shape, material = kinds[0], element.find('material')
        color = None if material is None else (
            _rgb(material) or self._colors.get(material.get('name')))
        return GeometryElement(link, name, self._shape(link, shape), read_origin(element), color)

    def _shape(self, link: str, shape: Element) -> Shape | MeshFile:
        """Read a shape; a length of 0, as in placeholders, counts as the least one."""
        if shape.tag == 'mesh':
            scale = numbers(shape.get('scale', '1 1 1'), 3, 'mesh scale')
            return MeshFile(find_mesh(shape.get('filename', ''), self._robot.package_dirs),
                            tuple(scale))
        (make, names), lengths = _PRIMITIVES[shape.tag], list[float]()
        for name in names:
            values = numbers(shape.get(name, ''), 3 if name == 'size' else 1,
                             f'{shape.tag} {name}')
            if 0.0 in values:
                self.warnings.append(
                    f"link '{link}': the {name} of its <{shape.tag}> is '{shape.get(name)}'; "
                    f'0 counts as {1e3 * LEAST_SIZE:g} mm')
            lengths += [value or LEAST_SIZE for value in values]
        return make(*lengths)


def _rgb(material: Element) -> Color:
    color = material.find('color')
    if color is None:
        return None
    try:
        rgba = numbers(color.get('rgba', ''), 4, 'material color')
    except IKError:    # a colour is no reason to draw nothing
        return None
    return tuple(min(max(value, 0.0), 1.0) for value in rgba[:3])
