"""
Pinocchio geometry models, made in a time proportional to the number of their objects.

Pinocchio's `addGeometryObject` copies a square table of all pairs, so that adding n objects takes
O(n^3) (2000 objects: 3 s). Replacing the objects of a copied model is fast. So models with
placeholders are cached in several sizes; a copy of the smallest that fits is filled.
"""

from collections.abc import Sequence
from functools import lru_cache

import coal
import pinocchio as pin

SMALLEST = 32   # number of objects of the smallest cached model
GROWTH = 1.25   # ratio of the sizes of cached models


def geometry_model(objects: Sequence[pin.GeometryObject]) -> pin.GeometryModel:
    """Return a geometry model of these objects, without collision pairs."""
    # the smallest cached model with enough placeholders
    size = SMALLEST
    while size < len(objects):
        size = int(size * GROWTH)
    model = _placeholders(size).copy()
    for number in range(len(objects), size):
        model.removeGeometryObject(f'placeholder {number}')
    for index, item in enumerate(objects):
        model.geometryObjects[index] = item
    return model


@lru_cache(maxsize=4)     # the table of 2000 objects takes 16 MB
def _placeholders(size: int) -> pin.GeometryModel:
    """Return a cached model of `size` placeholders; callers must copy it."""
    model, ball = pin.GeometryModel(), coal.Sphere(1.0)
    for number in range(size):
        model.addGeometryObject(pin.GeometryObject(f'placeholder {number}', 0,
                                                   pin.SE3.Identity(), ball))
    return model
