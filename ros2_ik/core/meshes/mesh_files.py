"""
Parser of mesh files (stl, obj, dae), based on trimesh, which reads dae files with pycollada.

coal's reader (assimp) is not used: it loses the vertex offset of all parts of a file except the
first. COLLADA's <up_axis> and <unit> are not applied, as in MoveIt and Pinocchio.
"""

from io import BytesIO
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import trimesh

    from ros2_ik.core.arrays import Array
    from ros2_ik.core.meshes.cache import Arrays

FILE_KINDS = ('.stl', '.obj', '.dae')
# Content that trimesh 5.2 and pycollada 0.9 misread without an error: skins are not read,
# triangles with NaN are dropped or moved, index 0 becomes the first vertex, negative indices count
# from the end of the file, and a unit that is not a positive number becomes 1 m.
_MISREAD = {'.dae': rb'<(instance_controller)\b|[>\s][-+]?(nan|inf)[<\s]'
                    rb'|<unit\b[^>]*?\b(meter\s*=\s*["\'](?![\d.]*[1-9])[^"\']*["\'])',
            '.stl': rb'vertex\s[^\n]*?\b(nan|inf)\b', '.obj': rb'^f[^\n]*?\s(-\d+|0+\b)'}


def parse_mesh(kind: str, content: bytes) -> 'Arrays':
    """
    Return 'vertices' (n, 3), 'triangles' (m, 3), 'colors' (m, 3) and 'unit' [m] of a mesh file.

    `kind` is one of FILE_KINDS, `content` the bytes of the file. Colors are red, green, blue in
    [0, 1] of each triangle, from the materials of a dae file, -1 if there is no color. Vertices
    are as in the file; the unit is not applied. Equal vertices are merged, and triangles with two
    equal corners dropped. Raises ValueError with the reason.
    """
    if found := re.search(_MISREAD[kind], content, re.IGNORECASE | re.MULTILINE):
        raise ValueError(f"it has '{found[found.lastindex or 0].decode()}', which is not read")
    # neither library validates its input: malformed files raise errors of any type
    try:
        meshes, unit = _loaded(kind, content)
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


def _loaded(kind: str, content: bytes) -> 'tuple[list[trimesh.Trimesh], float]':
    """Return trimesh's meshes and the unit [m]; raises errors of trimesh or pycollada."""
    import trimesh  # here, as its import takes as long as that of ros2_ik.core

    # process=False: trimesh would merge vertices and drop triangles by rules of its own
    scene = trimesh.load_scene(BytesIO(content), file_type=kind[1:], process=False,
                               ignore_broken=False, skip_materials=True)
    return ([mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh)],
            trimesh.units.unit_conversion(scene.units or 'meters', 'meters'))


def _color(mesh: 'trimesh.Trimesh') -> 'Array':
    material = getattr(mesh.visual, 'material', None)
    color = getattr(material, 'baseColorFactor', None)
    return np.full(3, -1.0) if color is None else np.asarray(color)[:3] / 255
