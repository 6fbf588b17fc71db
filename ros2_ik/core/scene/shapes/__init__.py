"""
The shapes that objects and links are made of, one entry each.

Lengths are in metres. A shape stands in a frame of its own: primitives are centred on their
bounding box with their axis along z. All are immutable, can be compared and pickled.
"""

from ros2_ik.core.scene.shapes.convex_hull import ConvexHull
from ros2_ik.core.scene.shapes.flats import HalfSpace, Plane
from ros2_ik.core.scene.shapes.mesh import Mesh
from ros2_ik.core.scene.shapes.octree import OcTree
from ros2_ik.core.scene.shapes.primitives import Box, Capsule, Cone, Cylinder, Sphere
from ros2_ik.core.scene.shapes.shape import register_shape, Shape, shape_kinds

__all__ = [
    'Box', 'Capsule', 'Cone', 'ConvexHull', 'Cylinder', 'HalfSpace', 'Mesh', 'OcTree', 'Plane',
    'Shape', 'Sphere', 'register_shape', 'shape_kinds',
]
