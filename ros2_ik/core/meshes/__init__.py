"""Mesh files: paths, triangles, convex hulls and convex parts."""

from ros2_ik.core.meshes.mesh_paths import urdf_for_others

__all__ = ['urdf_for_others']
