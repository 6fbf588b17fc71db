"""Signed distance of a point from a union of convex regions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.angles import orthonormal_complement
from ros2_ik.core.functions.fields import Frame, Matrix, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula, part
from ros2_ik.core.poses import as_placement
from ros2_ik.core.scene.shapes import Box, ConvexHull, Cylinder, Mesh, Shape, Sphere

PLANE, SPHERE, CYLINDER = range(3)
WIDTH = 9       # number of columns of `surfaces`
UP = np.array([0.0, 0.0, 1.0])
ON_AXIS = 1e-9  # distance from a centre or axis below which the gradient is a fixed direction [m]


@part
def _surface_distance(p: v.Vector, parameters: v.Floats, k: int) -> tuple[float, v.Vector]:
    """Return the signed distance of p from the surface stored at index k, and its gradient."""
    kind, size = int(parameters[k + 1]), parameters[k + 8]
    away, n = v.sub(p, v.vector(parameters, k + 2)), v.vector(parameters, k + 5)
    along = v.dot(n, away)
    if kind == PLANE:
        return along, n
    if kind == SPHERE:
        distance = v.norm(away)
        return distance - size, v.scale(1.0 / distance, away) if distance > ON_AXIS else n
    # cylinder: distance from the axis
    aside = v.sub(away, v.scale(along, n))
    distance = v.norm(aside)
    outward = v.scale(1.0 / distance, aside) if distance > ON_AXIS else v.vector(parameters, k + 9)
    return distance - size, outward


@register_function('region_distance')
@dataclass(frozen=True, eq=False)
class RegionDistance(RelativeFunction):
    """
    Signed distance of `point` of `frame` from a union of convex regions, (1,).

        f = min_regions max_surfaces s     [m], negative inside; maximum over a region's surfaces

    Rows of `surfaces` (n, 9), in `relative_to`: number of the region, kind, point c (3), direction
    n (3), size [m]. With p the position of `point`, the kinds are

        0 plane       s = n . (p - c)
        1 sphere      s = |p - c| - size
        2 cylinder    s = d - size        d: distance from the axis through c along n

    An upper bound of 0 keeps the point in one of the regions; a box is six planes. Outside a
    region, f is below the Euclidean distance near edges and corners. f is not differentiable where
    two surfaces or regions have the same distance; the gradient there is that of the first one.
    Raises InvalidConstraintError for rows not of 9 numbers, unknown kinds, and a direction of
    length zero (a sphere needs no direction).
    """

    frame: Frame
    point: Point
    surfaces: Matrix
    relative_to: Frame | None = None
    labels = ('outside [m]',)

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = np.asarray(self.surfaces)
        if rows.shape[1] != WIDTH:
            raise InvalidConstraintError(f'surfaces must be rows of {WIDTH} numbers, not of '
                                         f'{rows.shape[1]}')
        if not set(rows[:, 1].tolist()) <= {PLANE, SPHERE, CYLINDER}:
            raise InvalidConstraintError(f'surfaces has kinds {sorted(set(rows[:, 1].tolist()))}; '
                                         'valid: 0 plane, 1 sphere, 2 cylinder')
        if (np.abs(rows[rows[:, 1] != SPHERE, 5:8]) < 1e-9).all(axis=1).any():
            raise InvalidConstraintError('surfaces has a direction of length zero')

    def numbers(self) -> Parameters:
        given = np.asarray(self.surfaces)
        # sorted by region, with unit directions
        rows = given[given[:, 0].argsort(kind='stable')]
        rows[rows[:, 1] == SPHERE, 5:8] = 1, 0, 0
        rows[:, 5:8] /= np.linalg.norm(rows[:, 5:8], axis=1)[:, None]
        # append a vector perpendicular to each direction: the gradient used on a cylinder's axis
        return len(rows), self.point, np.array([[*row, *orthonormal_complement(row[5:8])[0]]
                                                for row in rows])

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        p = v.point(B, v.vector(parameters, 1))
        local = v.to_local(A, p)
        nearest, gradient = math.inf, (0.0, 0.0, 0.0)
        # minimum over regions of the maximum over a region's surfaces, which are contiguous
        worst, slope = -math.inf, (0.0, 0.0, 0.0)
        count = int(parameters[0])
        for i in range(count):
            k = 4 + 12 * i
            s, g = _surface_distance(local, parameters, k)
            if s > worst:
                worst, slope = s, g
            # after the last surface of a region, keep the nearest region so far
            if i == count - 1 or parameters[k + 12] != parameters[k]:
                if worst < nearest:
                    nearest, gradient = worst, slope
                worst = -math.inf
        f[0] = nearest
        v.force(W, 0, p, v.rotate(A, gradient))


def region_surfaces(regions: Iterable[tuple[Shape, Pose | None]]) -> Array:
    """
    Return the `surfaces` (n, 9) of a RegionDistance, with one region for each shape at its pose.

    Valid shapes are boxes, spheres, cylinders, convex hulls and meshes; as in MoveIt, a mesh is
    replaced by its convex hull. Raises InvalidConstraintError for other shapes.
    """
    rows = list[Array]()
    for number, (shape, pose) in enumerate(regions):
        T = pin.SE3.Identity() if pose is None else as_placement(pose, 'pose of a region')
        for kind, c, n, size in _surfaces(shape):
            rows.append(np.array([number, kind, *T.act(np.array(c, dtype=float)),
                                  *T.rotation @ np.array(n, dtype=float), size]))
    return np.array(rows)


def _surfaces(shape: Shape) -> Iterator[tuple[int, Array, Array, float]]:
    if isinstance(shape, Box):
        for axis, length in zip(np.eye(3), shape.size, strict=True):
            yield from ((PLANE, side * axis * length / 2, side * axis, 0.0) for side in (1, -1))
    elif isinstance(shape, Sphere):
        yield SPHERE, np.zeros(3), UP, shape.radius
    elif isinstance(shape, Cylinder):
        yield from ((PLANE, side * UP * shape.length / 2, side * UP, 0.0) for side in (-1, 1))
        yield CYLINDER, np.zeros(3), UP, shape.radius
    elif isinstance(shape, (ConvexHull, Mesh)):
        points = shape.points if isinstance(shape, ConvexHull) else shape.vertices
        try:
            # Qhull splits faces into triangles with equal planes: keep each plane once
            planes = np.unique(scipy.spatial.ConvexHull(points).equations.round(12), axis=0)
        except scipy.spatial.QhullError:
            raise InvalidConstraintError(f'a flat {type(shape).__name__} has no volume') from None
        for *normal, offset in planes:
            yield PLANE, -offset * np.array(normal), np.array(normal), 0.0
    else:
        raise InvalidConstraintError(f'a {type(shape).__name__} cannot be a region; valid: Box, '
                                     'Sphere, Cylinder, ConvexHull, Mesh')
