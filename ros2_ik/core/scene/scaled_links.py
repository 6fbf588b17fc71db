"""Links that a scene makes larger or smaller, as MoveIt's link_scale does."""

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Mask
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.collision_geometry import CollisionGeometry, own_geometries
from ros2_ik.core.scene.meshes import Hull
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.shapes import Mesh, Shape
from ros2_ik.core.scene.shapes.shape import bounded, within
from ros2_ik.core.scene.triangle_solid import TriangleSolid


@lru_cache(maxsize=8)
def scaled_items(robot: Robot, geometry: RobotGeometry,
                 scale: frozenset[tuple[str, float]]) -> tuple[tuple[int, CollisionGeometry], ...]:
    """
    Return the pieces of the links in `scale` in their new size, each with its place.

    That is its place in `own_geometries`. Raises InvalidSceneError for sizes that make no sense.
    """
    factors, place = dict(scale), 0
    found: list[tuple[int, CollisionGeometry]] = []
    for body in geometry.bodies:
        if body.link in factors:
            try:
                parts = _parts(body.shape, factors[body.link])
            except InvalidSceneError as error:
                raise InvalidSceneError(f"the scale of '{body.link}', {factors[body.link]:g}: "
                                        f'{error}') from None
            found += [(place + index,
                       CollisionGeometry(body.link, body.joint, body.placement, *part))
                      for index, part in enumerate(parts)]
        place += len(body.shape.checked_parts())
    return tuple(found)


def _parts(shape: Shape, factor: float) -> tuple[tuple[Any, TriangleSolid | None], ...]:
    """Scale a primitive about its origin, a mesh about the mean of its vertices."""
    if not isinstance(shape, Mesh):     # all of whose dimensions are lengths
        lengths = [getattr(shape, field.name) for field in fields(shape)]  # type: ignore[arg-type]
        return type(shape)(*(length * factor for length in lengths)).checked_parts()
    centre = np.unique(shape.vertices[np.unique(shape.triangles)], axis=0).mean(axis=0)

    def moved(points: Array) -> Array:
        return within(centre + factor * (points - centre), 'a vertex of a mesh')

    def larger(hulls: tuple[Hull, ...]) -> tuple[Hull, ...]:
        return tuple(Hull(moved(hull.vertices), hull.faces, hull.volume * factor ** 3)
                     for hull in hulls)

    solid = None if shape.represented_by != 'exact' else TriangleSolid(
        moved(shape.vertices), shape.triangles, lambda: larger(shape.distance_hulls()),
        lambda: shape.has_parts, shape.make_parts)
    return tuple((bounded(hull.geometry()), solid) for hull in larger(shape.hulls))


def with_scaled(robot: Robot, geometry: RobotGeometry, chosen: Mask,
                scaled: Sequence[tuple[int, CollisionGeometry]]) -> Mask:
    """
    Return which item is checked against which when the `scaled` ones stand behind the robot's own.

    Against each other links keep their size, as in MoveIt; against all else the scaled ones
    take their place. `chosen` (i, i) is what is checked without them.
    """
    if not scaled:
        return chosen
    own, count = len(own_geometries(robot, geometry)), len(scaled)
    places = [place for place, _ in scaled]
    more = np.zeros((len(chosen) + count,) * 2, dtype=bool)
    kept = np.r_[:own, own + count:len(more)]
    more[np.ix_(kept, kept)] = chosen
    more[own:own + count, own + count:] = chosen[places, own:]
    more[places, own + count:] = False
    return more
