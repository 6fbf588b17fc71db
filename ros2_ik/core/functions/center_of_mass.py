"""Centre of mass of a robot or of some links, and its distances from a polygon's edges."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError, UnknownLinkError
from ros2_ik.core.functions.angles import orthonormal_complement
from ros2_ik.core.functions.fields import Axes, Axis, Frame, Matrix, Names, Points
from ros2_ik.core.functions.kinematic_function import KinematicFunction, Masses, register_function
from ros2_ik.core.robot import Configuration, Robot


@register_function('center_of_mass')
@dataclass(frozen=True, eq=False)
class CenterOfMass(KinematicFunction):
    """
    Centre of mass of `links`: its coordinates along `axes`, or its product with A (m, 3).

        c = R_B^T (sum_i m_i p_i / sum_i m_i - p_B)     x y z [m]
        f = c, or A c

    B is `relative_to` (default: the root frame), which may move. `links` are by default all links
    that move relative to the root frame; named links count even if they are fixed. With A, an
    upper bound b keeps the centre in the polyhedron A c <= b. Smooth everywhere.

    Raises InvalidConstraintError for unknown axes, for A without 3 columns and for A together with
    axes. When bound to a robot, raises InvalidConstraintError if the links have no mass, and
    UnknownLinkError for an unknown link.
    """

    links: Names | None = None
    relative_to: Frame | None = None
    axes: Axes = 'xyz'
    A: Matrix | None = None
    periodic = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.A is None:
            return
        if np.shape(self.A)[1] != 3:
            raise InvalidConstraintError('A must be rows of 3 numbers, not of '
                                         f'{np.shape(self.A)[1]}')
        if self.axes != 'xyz':
            raise InvalidConstraintError(f"axes is '{self.axes}', but A takes all axes; valid: "
                                         "'xyz'")

    @property
    def labels(self) -> tuple[str, ...]:
        if self.A is not None:
            return tuple(f'row {row} [m]' for row in range(len(self.A)))
        return tuple(f'{axis} [m]' for axis in self.axes)

    @cached_property
    def _matrix(self) -> Array:
        """The matrix M (m, 3) in f = M c."""
        rows = ['xyz'.index(axis) for axis in self.axes]
        return np.eye(3)[rows] if self.A is None else np.asarray(self.A)

    def joints(self, robot: Robot) -> frozenset[str]:
        if self.relative_to is not None:
            robot.frame_id(self.relative_to)
        return self._counted(robot).joints

    def _counted(self, robot: Robot) -> '_Bodies':
        links = None if self.links is None else tuple(self.links)
        return _bodies(robot, links, self.relative_to)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        bodies = self._counted(at.robot)
        # centre (3,) and Jacobian (3, nv) in the root frame
        c, J = bodies.fixed, np.zeros((3, at.robot.nv))
        if bodies.moving_fraction > 0:
            data = at.robot.scratch_data()
            # Pinocchio returns shape (3,) for a robot of one joint
            J = bodies.moving_fraction * pin.jacobianCenterOfMass(
                bodies.model, data, at.q, False).reshape(3, -1)
            c = c + bodies.moving_fraction * data.com[0]
        if self.relative_to is not None:
            A, twists = at.placement(self.relative_to), at.spatial_jacobian(self.relative_to)
            # relative velocity: subtract the velocity that `relative_to` has at the point c
            J = A.rotation.T @ (J - twists[:3] + pin.skew(c) @ twists[3:])
            # clear rounding errors of joints that move the centre and `relative_to` together
            J *= bodies.moving
            c = A.actInv(c)
        return self._matrix @ c, self._matrix @ J

    def masses(self, robot: Robot, offsets: Array | float = 0.0) -> Masses:
        """Return the `Masses` of the function f - offsets; offsets are a number or (m,) [m]."""
        bodies, count = self._counted(robot), len(self.labels)
        rows = np.column_stack([self._matrix, np.full(count, offsets)])
        return Masses(tuple(bodies.point_masses), self.relative_to, np.concatenate(
            [*bodies.point_masses.values(), bodies.fixed, rows.reshape(-1)]))


class _Bodies(NamedTuple):
    """
    The links of one robot that count for the centre of mass.

    `model` is the robot with the masses of these links only; `moving_fraction` is the fraction of
    their mass that joints move. `fixed` (3,) is the contribution of fixed links to the centre [m].
    `joints` are the names of the joints that move these links relative to `relative_to`; `moving`
    (nv,) is 1 in their columns. `point_masses` maps one link of each joint to (4,): the mass
    fraction that the joint carries directly, and the position of that mass in the link frame [m].
    """

    model: pin.Model
    moving_fraction: float
    fixed: Array
    joints: frozenset[str]
    moving: Array
    point_masses: dict[str, Array]


@lru_cache(maxsize=64)
def _bodies(robot: Robot, links: tuple[str, ...] | None, relative_to: str | None) -> _Bodies:
    for name in links or ():
        if name not in robot.tree.links:
            raise UnknownLinkError(name, robot.tree.links)
    frames = {name: robot.model.frames[robot.frame_id(name)] for name in robot.tree.links}
    counted = [name for name, body in frames.items() if body.inertia.mass > 0 and (
        body.parentJoint > 0 if links is None else name in links)]
    if not counted:
        which = 'no moving link' if links is None else f'none of the links {", ".join(links)}'
        raise InvalidConstraintError(f"{which} of robot '{robot.name}' has a mass")
    # sum the counted links, as point masses, per joint of Pinocchio; index 0 is the fixed part
    inertias = [pin.Inertia.Zero() for _ in robot.model.inertias]
    for name in counted:
        body = frames[name]
        inertias[body.parentJoint] += pin.Inertia(
            body.inertia.mass, body.placement.act(body.inertia.lever), np.zeros((3, 3)))
    # a model for Pinocchio whose only masses are the counted ones
    model = robot.model.copy()
    for index, inertia in enumerate(inertias):
        model.inertias[index] = inertia
    total = sum(inertia.mass for inertia in inertias)
    joints = frozenset().union(*(robot.moving_joints(link, relative_to) for link in counted))
    moving = np.array([float(joint.name in joints) for joint in robot.joints
                       for _ in range(joint.velocity_size)])
    # point mass of each joint, in the frame of one of the links that the joint carries
    carriers = {frames[name].parentJoint: name for name in counted}
    point_masses = {name: np.array([
        inertias[index].mass / total, *frames[name].placement.actInv(inertias[index].lever)])
        for index, name in carriers.items() if index > 0}
    fixed_fraction = inertias[0].mass / total
    return _Bodies(model, 1 - fixed_fraction, fixed_fraction * inertias[0].lever, joints, moving,
                   point_masses)


@register_function('support_polygon')
@dataclass(frozen=True, eq=False)
class SupportPolygon(KinematicFunction):
    """
    Signed distances (m,) of the centre of mass, projected along `up`, from a polygon's edges.

        f_i = n_i . (c - p_i)     [m], negative outside; n_i points inwards, perpendicular to `up`

    The polygon is the convex hull of `corners` (n, 3), such as those of the feet, in any order.
    `corners` and `up` are in `relative_to` (default: the root frame); `links` is as in
    CenterOfMass. A lower bound is a margin: 0 keeps the centre of mass above the polygon.
    Labels are 'edge i-j [m]', from corner i to corner j. Smooth everywhere.

    Raises InvalidConstraintError for projected corners on one line, and errors of CenterOfMass.
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
        corners = np.asarray(self.corners)
        flat = corners @ orthonormal_complement(self.up).T
        try:
            hull = scipy.spatial.ConvexHull(flat).vertices
        except scipy.spatial.QhullError:
            raise InvalidConstraintError('corners must span an area, but projected along up the '
                                         f'{len(corners)} corners lie on a line') from None
        # counterclockwise about `up`, starting at the corner with the smallest x in `flat`
        hull = np.roll(hull, -np.lexsort(flat[hull].T[::-1])[0])
        ends = np.roll(hull, -1)
        edges = corners[ends] - corners[hull]
        inwards = np.cross(self.up, edges)
        inwards /= np.linalg.norm(inwards, axis=1)[:, None]
        self.set_field('center', CenterOfMass(self.links, self.relative_to, A=inwards))
        self.set_field('edges', (inwards * corners[hull]).sum(axis=1))
        pairs = zip(hull, ends, strict=True)
        self.set_field('labels', tuple(f'edge {i}-{j} [m]' for i, j in pairs))

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.center.joints(robot)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        f, J = self.center.evaluate(at)
        return f - self.edges, J

    def masses(self, robot: Robot) -> Masses:
        return self.center.masses(robot, self.edges)
