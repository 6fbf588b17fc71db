"""Linear relations between joints."""

from collections.abc import Sequence

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Mask
from ros2_ik.core.checks import floats, matrix
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.joint_positions import JointPositions
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot


@register_function('joint_coupling', drake='AddCouplerConstraint, AddLinearConstraint',
                   pink='JointCouplingTask, LinearHolonomicTask')
class JointCoupling(KinematicFunction):
    """
    Linear combinations of joint values, one row for each row of `ratios`.

        f = ratios (q - reference) - offset     in the joints' units, [rad] or [m]

    `ratios` are (n,) for one row or (m, n), in the order of `names`; q0 = r q1 + c is ratios
    (1, -r), offset c, at zero. `names` and `reference` are those of `JointPositions`: a
    floating joint takes six columns. Turns of continuous joints count. Smooth everywhere but
    at half a turn of a floating joint.

    Raises InvalidConstraintError for sizes that do not fit, at the latest when `joints` meets
    the robot, and what `JointPositions` raises.
    """

    labels: tuple[str, ...] = ()

    def __init__(self, names: Sequence[str] | None, ratios: Sequence[float] | Array,
                 offset: float | Sequence[float] | Array = 0.0,
                 reference: JointValues | None = None) -> None:
        self._positions = JointPositions(names, reference, wrap=False)
        self.names, self.reference = self._positions.names, self._positions.reference
        given = floats(ratios, 'ratios', 'rows of numbers', InvalidConstraintError)
        self.ratios = matrix(given[None] if given.ndim == 1 else given, 'ratios', None,
                             InvalidConstraintError)
        self.offset = floats(offset, 'offset', 'finite numbers', InvalidConstraintError)
        if self.offset.shape not in ((), (len(self.ratios),)) \
                or not np.isfinite(self.offset).all():
            raise InvalidConstraintError(f'offset must be one finite number, or one for each of '
                                         f'{len(self.ratios)} rows, not {offset!r}')
        if len(self._positions.labels) > self.ratios.shape[1]:   # each joint has at least one
            raise InvalidConstraintError(self._misfit(len(self._positions.labels)))
        self.labels = tuple(f'row {row} [joint units]' for row in range(len(self.ratios)))

    def joints(self, robot: Robot) -> frozenset[str]:
        names = self._positions.joints(robot)
        if len(self._positions.labels) != self.ratios.shape[1]:
            raise InvalidConstraintError(self._misfit(len(self._positions.labels)))
        return names

    def value(self, at: Configuration) -> Array:
        return self.ratios @ self._positions.value(at) - self.offset

    def jacobian(self, at: Configuration) -> Array:
        return self.ratios @ self._positions.jacobian(at)

    def turning(self, robot: Robot) -> Mask | None:
        linear = self._positions.turning(robot) is not None
        return np.zeros(len(self.ratios), dtype=bool) if linear else None

    def _misfit(self, size: int) -> str:
        names = 'all joints' if self.names is None else ', '.join(self.names)
        return (f'ratios has {self.ratios.shape[1]} columns, but {names} have {size} rows')

    def __str__(self) -> str:
        return str(self._positions).replace(self._positions.kind, self.kind, 1)
