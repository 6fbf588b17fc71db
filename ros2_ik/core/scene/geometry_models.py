"""
Pinocchio's geometry models, at a cost that grows with the number of their objects.

`addGeometryObject` copies a square table of all pairs: one object after the other, a model of n
objects costs n^3 (2000 objects: 3 s). Objects of a copy can be replaced for next to nothing. So
models of some sizes are kept, full of placeholders, and copied.
"""

from collections.abc import Sequence
from typing import Any

import pinocchio as pin

from ros2_ik.core.scene.geometry_library import coal

SMALLEST, GROWTH = 32, 1.25   # number of objects in the models that are kept
KEPT = 4                      # a table of 2000 objects has 16 MB
_kept: dict[int, Any] = {}    # several threads may use it: each line is one step


def geometry_model(objects: Sequence[Any]) -> Any:
    """Return a pinocchio.GeometryModel of these pinocchio.GeometryObjects, without pairs."""
    model = _placeholders(_size_for(len(objects))).copy()
    for number in range(len(objects), model.ngeoms):
        model.removeGeometryObject(_name(number))
    for index, item in enumerate(objects):
        model.geometryObjects[index] = item
    return model


def _size_for(count: int) -> int:
    size = SMALLEST
    while size < count:
        size = int(size * GROWTH)
    return size


def _placeholders(size: int) -> Any:
    """Return the model of so many placeholders, which is not to be changed."""
    model = _kept.get(size)
    if model is None:
        model = _grown(size)
        _kept[size] = model
        for old in list(_kept)[:-KEPT]:
            _kept.pop(old, None)
    return model


def _grown(size: int) -> Any:
    """Return a model of that size, begun with the largest that is smaller."""
    kept = dict(_kept)
    below = max((known for known in kept if known < size), default=0)
    model = kept[below].copy() if below else pin.GeometryModel()
    ball = coal.Sphere(1.0)
    for number in range(model.ngeoms, size):
        model.addGeometryObject(pin.GeometryObject(_name(number), 0, pin.SE3.Identity(), ball))
    return model


def _name(number: int) -> str:
    return f'placeholder {number}'
