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
_ATTRIBUTES = {'box': {'size': 3}, 'sphere': {'radius': 1}, 'cylinder': {'radius': 1, 'length': 1},
               'capsule': {'radius': 1, 'length': 1}}
_TAGS = (*_ATTRIBUTES, 'mesh')
Color = tuple[float, ...] | None
T = TypeVar('T')


class GeometryElement(NamedTuple):
    """
    A <collision> or <visual> element: a 'box', 'capsule', 'cylinder', 'mesh' or 'sphere'.

    `in_link` is its pose in the link, a pinocchio.SE3. `size` (3,) are the lengths along its axes
    [m], of a capsule without the caps, of a mesh the scales of its `file`. `color` is red, green,
    blue in [0, 1], None where the URDF names none. `name` is '<link>_<number>' where it has none.
    """

    link: str
    name: str
    kind: str
    in_link: Any
    size: tuple[float, ...]
    color: Color
    file: Path | None = None

    def primitive(self) -> Shape:
        """Return its shape, unless it is a mesh; raises InvalidSceneError."""
        across, _, length = self.size
        if self.kind == 'box':
            return Box(np.array(self.size))
        if self.kind == 'sphere':
            return Sphere(across / 2)
        return (Cylinder if self.kind == 'cylinder' else Capsule)(across / 2, length)


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
        if shape.tag == 'mesh':
            size = numbers(shape.get('scale', '1 1 1'), 3, 'mesh scale')
            file = find_mesh(shape.get('filename', ''), self._robot.package_dirs)
        else:
            size, file = self._lengths(link, shape), None
        return GeometryElement(link, name, shape.tag, read_origin(element), tuple(size), color,
                               file)

    def _lengths(self, link: str, shape: Element) -> list[float]:
        """Read the lengths along the axes; 0, as in placeholders, counts as the least one."""
        given = {name: numbers(shape.get(name, ''), count, f'{shape.tag} {name}')
                 for name, count in _ATTRIBUTES[shape.tag].items()}
        for name, values in given.items():
            if 0.0 in values:
                self.warnings.append(
                    f"link '{link}': the {name} of its <{shape.tag}> is '{shape.get(name)}'; "
                    f'0 counts as {1e3 * LEAST_SIZE:g} mm')
        if 'size' in given:
            return [value or LEAST_SIZE for value in given['size']]
        across = 2 * (given['radius'][0] or LEAST_SIZE)
        return [across, across, given['length'][0] or LEAST_SIZE if 'length' in given else across]


def _rgb(material: Element) -> Color:
    color = material.find('color')
    if color is None:
        return None
    try:
        rgba = numbers(color.get('rgba', ''), 4, 'material color')
    except IKError:    # a colour is no reason to draw nothing
        return None
    return tuple(min(max(value, 0.0), 1.0) for value in rgba[:3])
