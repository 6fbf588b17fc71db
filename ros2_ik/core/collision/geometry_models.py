"""
Pinocchio's geometry models, at a cost that grows with the number of their objects.

`addGeometryObject` copies a square table of all pairs: one object after the other, a model of n
objects costs n^3 (2000 objects: 3 s). Objects of a copy can be replaced for next to nothing. So
models of some sizes are kept, full of placeholders, and copied.
"""

from collections.abc import Sequence
from functools import lru_cache

import coal
import pinocchio as pin

SMALLEST, GROWTH = 32, 1.25   # number of objects in the models that are kept


def geometry_model(objects: Sequence[pin.GeometryObject]) -> pin.GeometryModel:
    """Return a pinocchio.GeometryModel of these pinocchio.GeometryObjects, without pairs."""
    size = SMALLEST
    while size < len(objects):
        size = int(size * GROWTH)
    model = _placeholders(size).copy()
    for number in range(len(objects), size):
        model.removeGeometryObject(f'placeholder {number}')
    for index, item in enumerate(objects):
        model.geometryObjects[index] = item
    return model


@lru_cache(maxsize=4)     # a table of 2000 objects has 16 MB
def _placeholders(size: int) -> pin.GeometryModel:
    """Return a model of that many placeholders, which is not to be changed."""
    model, ball = pin.GeometryModel(), coal.Sphere(1.0)
    for number in range(size):
        model.addGeometryObject(pin.GeometryObject(f'placeholder {number}', 0,
                                                   pin.SE3.Identity(), ball))
    return model
