"""Distances of the centre of mass from the edges of a support polygon."""

from dataclasses import dataclass, field

import numpy as np
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.center_of_mass import CenterOfMass
from ros2_ik.core.functions.deviation import orthonormal_complement
from ros2_ik.core.functions.fields import Axis, Frame, Names, Points
from ros2_ik.core.functions.kinematic_function import (
    KinematicFunction,
    Masses,
    register_function,
)
from ros2_ik.core.robot import Configuration, Robot


@register_function('support_polygon', drake='ComInPolyhedronConstraint')
@dataclass(frozen=True, eq=False)
class SupportPolygon(KinematicFunction):
    """
    Signed distances of the centre of mass from the edges of a polygon, projected along `up`, (m,).

        f_i = n_i . (c - p_i)     [m], negative outside; n_i points inwards, perpendicular to `up`

    The polygon is the convex hull of `corners` (n, 3), such as those of the feet, in any order.
    `corners` and `up` are in `relative_to` (default: the root frame); `links` is as in
    CenterOfMass. A lower bound is the least margin: 0 keeps the centre of mass above the polygon.
    Labels are 'edge i-j [m]', from corner i to corner j. Smooth everywhere.

    Raises InvalidConstraintError for corners on one line, and the errors of CenterOfMass.
    """

    corners: Points
    relative_to: Frame | None = None
    up: Axis = (0.0, 0.0, 1.0)
    links: Names | None = None
    labels: tuple[str, ...] = field(init=False, default=())
    center: CenterOfMass = field(init=False)    # the products n_i . c
    edges: Array = field(init=False)            # the products n_i . p_i, (m,)
    periodic = True

    def __post_init__(self) -> None:
        super().__post_init__()
        # hull of the corners' projections
        corners = np.asarray(self.corners)
        flat = corners @ orthonormal_complement(self.up).T
        hull = _hull(flat)
        if len(hull) < 3:
            raise InvalidConstraintError('corners must span an area, but projected along up the '
                                         f'{len(corners)} corners lie on a line')
        # inward normals: the hull is counterclockwise about `up`
        ends = [*hull[1:], hull[0]]
        edges = corners[ends] - corners[hull]
        inwards = np.cross(self.up, edges)
        inwards /= np.linalg.norm(inwards, axis=1)[:, None]
        self.keep('center', CenterOfMass(self.links, self.relative_to, A=inwards))
        self.keep('edges', (inwards * corners[hull]).sum(axis=1))
        self.keep('labels', tuple(f'edge {i}-{j} [m]' for i, j in zip(hull, ends, strict=True)))

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.center.joints(robot)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        f, J = self.center.evaluate(at)
        return f - self.edges, J

    def masses(self, robot: Robot) -> Masses:
        return self.center.masses_along(robot, self.edges)


def _hull(points: Array) -> list[int]:
    """Return indices of the hull corners of points (n, 2), counterclockwise from the leftmost."""
    try:
        corners = scipy.spatial.ConvexHull(points).vertices
    except scipy.spatial.QhullError:     # on one line
        return []
    hull: list[int] = np.roll(corners, -np.lexsort(points[corners].T[::-1])[0]).tolist()
    return hull
