"""Jacobian of the servo's tip: condition number, achieved motion, motion along surfaces."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, NearPair, Robot


class TipMotion:
    """
    The Jacobian of the tip w.r.t. the joints at `columns`, along the axes of the root frame.

    `firm` (6,) marks the axes x y z rx ry rz in which the tip must follow, `wanted` (6,) the
    commanded axes.
    """

    def __init__(self, robot: Robot, tip: str, columns: Array, firm: Array,
                 wanted: Array) -> None:
        self._robot, self._frame, self.columns = robot, robot.frame_id(tip), columns
        self._firm, self._wanted = firm, wanted

    def jacobian(self, q: Array) -> Array:
        """Return the Jacobian (6, n) at q (nq,), linear rows first [m/rad, rad/rad]."""
        robot = self._robot
        J = pin.computeFrameJacobian(robot.model, robot.scratch_data(), q, self._frame,
                                     pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        chosen: Array = J[:, self.columns]
        return chosen

    def condition(self, q: Array) -> float:
        """Return the condition number of the firm rows of the Jacobian at q (nq,)."""
        if not self._firm.any():
            return 1.0
        return float(np.linalg.cond(self.jacobian(q)[self._firm]))

    def part(self, q: Array, v: Array, twist: Array) -> float:
        """Return the achieved fraction of a twist (6,), the smaller of linear and angular part."""
        moved, parts = self.jacobian(q) @ v[self.columns], [1.0]
        # linear and angular part separately: component of the motion along the commanded twist
        for rows in (slice(0, 3), slice(3, 6)):
            wanted = twist[rows] * self._wanted[rows]
            if (squared := float(wanted @ wanted)) > 0:
                parts.append(float(moved[rows] @ wanted) / squared)
        return min(parts)

    def along_surfaces(self, q: Array, twist: Array, pairs: Sequence[NearPair],
                       rate: float) -> Array:
        """
        Return a twist (6,) that slides along the surfaces of near pairs.

        Each gap closes at a speed of at most `rate` [1/s] times the gap.
        """
        inverse, slid = np.linalg.pinv(self.jacobian(q))[:, :3], twist.copy()
        # Successive projections of the linear velocity onto the half-spaces of the pairs. They are
        # repeated, since a projection for one pair may violate the half-space of an earlier one.
        for _ in pairs:
            for pair in pairs:
                # gradient of the distance w.r.t. the position of the tip
                normal = pair.gradient[self.columns] @ inverse
                beyond = float(normal @ slid[:3]) + rate * max(pair.gap, 0.0)
                if beyond < 0:
                    slid[:3] -= beyond / float(normal @ normal) * normal
        return slid
