"""Mesh files, their triangles, hulls and convex parts."""

from ros2_ik.core.meshes.mesh_paths import mesh_files_changed, urdf_for_others

__all__ = [
    'mesh_files_changed', 'urdf_for_others',
]
