"""Motion of the tip by servoed joints: singularities, missing degrees of freedom, contacts."""

from collections.abc import Sequence
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, NearPair, Robot

AXES = ('x', 'y', 'z', 'rx', 'ry', 'rz')
RANK = 1e-3         # smallest singular value of a direction that joints can move [m/rad]
MISSING = 0.5       # part of a twist without which it counts as one that joints cannot move


class TipMotion:
    """
    The Jacobian of the tip for the joints at `columns`, along the axes of the root frame.

    `firm` (6,) are the axes x y z rx ry rz that the tip must follow, `wanted` (6,) those that are
    commanded.
    """

    def __init__(self, robot: Robot, tip: str, columns: Array, firm: Array,
                 wanted: Array) -> None:
        self._robot, self._frame, self.columns = robot, robot.frame_id(tip), columns
        self._firm, self._wanted = firm, wanted

    def jacobian(self, q: Array) -> Array:
        """Return the Jacobian (6, n) at q (nq,)."""
        robot = self._robot
        J = pin.computeFrameJacobian(robot.model, robot.scratch_data(), q, self._frame,
                                     pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        chosen: Array = J[:, self.columns]
        return chosen

    def condition(self, q: Array) -> float:
        """Return the condition number of the rows that the tip must follow."""
        if not self._firm.any():
            return 1.0
        values = np.linalg.svd(self.jacobian(q)[self._firm], compute_uv=False)
        return float(values[0] / values[-1]) if values[-1] > 0 else math.inf

    def part(self, q: Array, v: Array, twist: Array) -> float:
        """Return the part of a twist (6,) that velocities v (nv,) give: linear or angular."""
        moved, parts = self.jacobian(q) @ v[self.columns], [1.0]
        for rows in (slice(0, 3), slice(3, 6)):
            wanted = twist[rows] * self._wanted[rows]
            if (squared := float(wanted @ wanted)) > 0:
                parts.append(float(moved[rows] @ wanted) / squared)
        return min(parts)

    def missing_axis(self, q: Array, twist: Array) -> str:
        """Return an axis of a twist (6,), linear or angular, that no joint moves at q, or ''."""
        J = self.jacobian(q)
        for rows in (slice(0, 3), slice(3, 6)):
            U, values, _ = np.linalg.svd(J[rows], full_matrices=False)
            U, wanted = U[:, values > RANK], twist[rows] * self._wanted[rows]
            left = wanted - U @ (U.T @ wanted)
            if np.linalg.norm(left) > MISSING * np.linalg.norm(wanted):
                return AXES[rows][int((left * wanted).argmax())]
        return ''

    def along_surfaces(self, q: Array, twist: Array, pairs: Sequence[NearPair],
                       rate: float) -> Array:
        """Return a twist (6,) that closes gaps of near pairs no faster than at a rate [1/s]."""
        inverse, slid = np.linalg.pinv(self.jacobian(q))[:, :3], twist.copy()
        for _ in pairs:     # what leads along one surface may lead into the one before
            for pair in pairs:
                normal = pair.gradient[self.columns] @ inverse
                beyond = float(normal @ slid[:3]) + rate * max(pair.gap, 0.0)
                if beyond < 0:
                    slid[:3] -= beyond / float(normal @ normal) * normal
        return slid
