"""Margins of the centre of mass inside a support polygon."""

from dataclasses import dataclass, field

import numpy as np
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.center_of_mass import CenterOfMass
from ros2_ik.core.functions.deviation import across
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
    Distance of the centre of mass from each edge of a polygon, seen along `up`, (m,).

        f_i = n_i . (c - p_i)     [m], negative outside; n_i points inwards, across `up`

    The polygon is the convex hull of `corners` (n, 3), which may come in any order, from the
    feet, say; corners within it make no edge. `corners` and `up` are in `relative_to`, by default
    the root frame; `links` as in CenterOfMass. A lower bound of 0 keeps the centre of mass above
    the polygon, a larger one keeps that margin to its edges. The edge from corner i to corner j is
    called so. Smooth everywhere.

    Raises InvalidConstraintError for corners on one line, and what CenterOfMass raises.
    """

    corners: Points
    relative_to: Frame | None = None
    up: Axis = (0.0, 0.0, 1.0)
    links: Names | None = None
    labels: tuple[str, ...] = field(init=False, default=())
    center: CenterOfMass = field(init=False)    # how far it is along the n_i
    edges: Array = field(init=False)            # how far the edges are, (m,)
    periodic = True

    def __post_init__(self) -> None:
        super().__post_init__()
        corners = np.asarray(self.corners)
        flat = corners @ across(self.up).T
        hull = _hull(flat)
        if len(hull) < 3:
            raise InvalidConstraintError('corners must span an area: seen along up, these '
                                         f'{len(corners)} lie on a line')
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
    """Return the corners of the hull of points (n, 2), counterclockwise from the leftmost."""
    try:
        corners = scipy.spatial.ConvexHull(points).vertices
    except scipy.spatial.QhullError:     # on one line
        return []
    hull: list[int] = np.roll(corners, -np.lexsort(points[corners].T[::-1])[0]).tolist()
    return hull
