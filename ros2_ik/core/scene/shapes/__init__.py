"""
The shapes of links and objects.

Lengths are in metres. Each shape has its own frame: primitives have the origin at the centre of
their bounding box and their axis along z. Shapes are immutable, picklable and compared by value.
"""

from ros2_ik.core.scene.shapes.mesh import Mesh
from ros2_ik.core.scene.shapes.shape import Shape, shape_kinds
from ros2_ik.core.scene.shapes.solids import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    OcTree,
    Plane,
    Sphere,
)
from ros2_ik.core.signatures import show_plain_types

__all__ = [
    'Box', 'Capsule', 'Cone', 'ConvexHull', 'Cylinder', 'HalfSpace', 'Mesh', 'OcTree', 'Plane',
    'Shape', 'Sphere', 'shape_kinds',
]

for _kind in shape_kinds().values():
    show_plain_types(_kind)
