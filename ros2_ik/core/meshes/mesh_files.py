"""
Reader of mesh files (stl, obj, dae), based on trimesh, which reads dae files with pycollada.

coal 3.0's reader (assimp) is not used: it gives all triangles of an object the vertices of its
first material. As in MoveIt and Pinocchio, COLLADA's <up_axis> and <unit> are not applied.
"""

from io import BytesIO
from pathlib import Path
import re
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import Arrays, cached, digest

if TYPE_CHECKING:
    import trimesh

FILE_KINDS = ('.stl', '.obj', '.dae')
# Content that trimesh 5.2 and pycollada 0.9 misread without an error: skins are not read,
# triangles with NaN are dropped or moved, index 0 becomes the first vertex, negative indices count
# from the end of the file, and a unit that is not a positive number becomes 1 m.
_UNSUPPORTED = {'.dae': rb'<(instance_controller)\b|[>\s][-+]?(nan|inf)[<\s]'
                         rb'|<unit\b[^>]*?\b(meter\s*=\s*["\'](?![\d.]*[1-9])[^"\']*["\'])',
                 '.stl': rb'vertex\s[^\n]*?\b(nan|inf)\b', '.obj': rb'^f[^\n]*?\s(-\d+|0+\b)'}


class MeshContent(NamedTuple):
    """
    The vertices (n, 3), triangles (m, 3), colors of triangles (m, 3) and unit [m] of a mesh file.

    A color is red, green, blue in [0, 1], from the material in a dae file; without a material, all
    three are -1. The unit, by default 1, is not applied to the vertices. Equal vertices are
    merged, and triangles with two equal corners are dropped.
    """

    vertices: Array
    triangles: Indices
    colors: Array
    unit: Array


def read_mesh(path: str | Path) -> MeshContent:
    """
    Read an stl, obj or dae file; the result is cached by the content of the file.

    Raises InvalidSceneError if the file is missing, of another kind or malformed.
    """
    kind = Path(path).suffix.lower()
    if kind not in FILE_KINDS:
        raise InvalidSceneError(f"the mesh '{path}' is of an unknown kind; "
                                f'valid: {", ".join(FILE_KINDS)}')
    try:
        content = Path(path).read_bytes()
        return MeshContent(**cached('triangles-4', digest(kind, content),
                                    lambda: _parsed(kind, content)))
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise InvalidSceneError(f"the mesh '{path}' cannot be read: {reason}") from None


def _parsed(kind: str, content: bytes) -> Arrays:
    """Return the fields of a MeshContent; raises ValueError for invalid content."""
    import trimesh  # imported here: takes as long to import as ros2_ik.core

    if found := re.search(_UNSUPPORTED[kind], content, re.IGNORECASE | re.MULTILINE):
        raise ValueError(f"it has '{found[found.lastindex or 0].decode()}', which is unsupported")
    # trimesh and pycollada do not validate their input: malformed files raise errors of any type
    try:
        # process=False: trimesh must not merge vertices or drop triangles by its own rules
        scene = trimesh.load_scene(BytesIO(content), file_type=kind[1:], process=False,
                                   ignore_broken=False, skip_materials=True)
        meshes = [mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh)]
        unit = trimesh.units.unit_conversion(scene.units or 'meters', 'meters')
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from None
    corners = np.concatenate([np.zeros((0, 3, 3)), *(mesh.triangles for mesh in meshes)])
    colors = np.concatenate([np.zeros((0, 3)), *(
        np.tile(_color(mesh), (len(mesh.faces), 1)) for mesh in meshes)])
    if not np.isfinite(corners).all():
        raise ValueError('it has vertices that are not finite')
    # triangles with three different corners
    kept = (corners != np.roll(corners, 1, axis=1)).any(axis=2).all(axis=1)
    if not kept.any():
        raise ValueError('it has no triangles')
    vertices, triangles = np.unique(corners[kept].reshape(-1, 3), axis=0, return_inverse=True)
    return {'vertices': vertices, 'triangles': triangles.reshape(-1, 3).astype(np.intp),
            'colors': colors[kept], 'unit': np.array(unit)}


def _color(mesh: 'trimesh.Trimesh') -> Array:
    material = getattr(mesh.visual, 'material', None)
    color = getattr(material, 'baseColorFactor', None)
    return np.full(3, -1.0) if color is None else np.asarray(color)[:3] / 255
