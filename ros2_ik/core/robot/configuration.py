"""A robot at given joint values."""

from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.checks import finite, instance, vector
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.robot.robot import Robot


class Configuration:
    """
    A robot at joint values q, with its forward kinematics and joint Jacobians computed.

    The argument `q` may be any joint values that `Robot.to_q` accepts; the attribute `q` (nq,) is
    read-only. `update` and `integrate_inplace` change this configuration. `data` is the
    pinocchio.Data to use, by default a new one.
    """

    def __init__(self, robot: Robot, q: JointValues | None = None,
                 data: pin.Data | None = None) -> None:
        instance(robot, Robot, 'robot', InvalidOptionError)
        self.robot = robot
        self._data = robot.model.createData() if data is None else data
        self.update(q)

    @classmethod
    def of_checked(cls, robot: Robot, q: Array, data: pin.Data) -> 'Configuration':
        """Return the configuration at a valid q (nq,), which is neither checked nor copied."""
        at = cls.__new__(cls)
        at.robot, at.q, at._data = robot, q, data
        pin.computeJointJacobians(robot.model, data, q)
        return at

    def update(self, q: JointValues | None) -> None:
        """Move to q; if `Robot.to_q` raises an error, the configuration is unchanged."""
        self.q = self.robot.to_q(q)
        self.q.setflags(write=False)
        pin.computeJointJacobians(self.robot.model, self._data, self.q)

    @property
    def joints(self) -> dict[str, Any]:
        """Joint values by name, without mimic joints; see `Robot.to_joints`."""
        return self.robot.to_joints(self.q)

    def placement(self, frame: str) -> pin.SE3:
        """Return the pose of a frame in the root frame; raises UnknownFrameError."""
        return pin.updateFramePlacement(self.robot.model, self._data,
                                        self.robot.frame_id(frame)).copy()

    def transform(self, frame: str, relative_to: str | None = None) -> Array:
        """
        Return T_relative_frame (4, 4), which maps coordinates from `frame` to `relative_to`.

        `relative_to` defaults to the root frame. Raises UnknownFrameError.
        """
        placement = self.placement(frame)
        if relative_to is not None:
            placement = self.placement(relative_to).actInv(placement)
        return np.array(placement.homogeneous)

    def jacobian(self, frame: str, relative_to: str | None = None) -> Array:
        """
        Return the Jacobian J (6, nv): J v is the twist of `frame` relative to `relative_to`.

        The twist has the linear velocity, then the angular velocity, in the axes of `frame`
        (Pinocchio's LOCAL). `relative_to` defaults to the root frame. Raises UnknownFrameError.
        """
        J: Array = (self.placement(frame).toActionMatrixInverse()
                    @ self.spatial_jacobian(frame, relative_to))
        return J

    def spatial_jacobian(self, frame: str, relative_to: str | None = None) -> Array:
        """
        Return the spatial Jacobian J (6, nv) of the body that `frame` is fixed to.

        J v is the spatial velocity of this body minus that of the body that `relative_to` is
        fixed to. A spatial velocity has the linear velocity of the body's point at the root
        frame's origin, then the angular velocity, both in the root frame's axes (Pinocchio's
        WORLD). Raises UnknownFrameError.
        """
        model, index = self.robot.model, self.robot.frame_id(frame)
        # Pinocchio 4.1 crashes on a Jacobian without columns
        if model.nv == 0:
            self.robot.frame_id(relative_to or frame)
            return np.zeros((6, 0))
        # Pinocchio 4.1 returns the shape (6,) for a robot of one joint
        J = np.array(pin.getFrameJacobian(model, self._data, index, pin.WORLD)).reshape(6, -1)
        return J if relative_to is None else J - self.spatial_jacobian(relative_to)

    def integrate(self, v: Array, dt: float = 1.0) -> Array:
        """Return the joint values (nq,) after `dt` [s] at the tangent velocity v (nv,)."""
        step = vector(v, 'the velocity', self.robot.nv, InvalidStateError) * finite(
            dt, 'dt', InvalidStateError)
        return np.array(pin.integrate(self.robot.model, self.q, step))

    def integrate_inplace(self, v: Array, dt: float = 1.0) -> None:
        """Move this configuration for `dt` [s] at the tangent velocity v (nv,)."""
        self.update(self.integrate(v, dt))

    def difference(self, other: 'Configuration | Array') -> Array:
        """Return the tangent vector v (nv,) for which integrate(v) is `other`."""
        q = self.robot.to_q(other.q if isinstance(other, Configuration) else other)
        return np.array(pin.difference(self.robot.model, self.q, q))

    def center_of_mass(self) -> Array:
        """
        Return the centre of mass (3,) of all moving links, in the root frame [m].

        Links fixed to the root frame do not count, as in Pinocchio. Raises InvalidStateError if no
        moving link has a mass.
        """
        if not pin.computeTotalMass(self.robot.model) > 0:
            raise InvalidStateError(f"no moving link of robot '{self.robot.name}' has a mass")
        return np.array(pin.centerOfMass(self.robot.model, self._data, self.q))
