"""Linear combinations of joint values."""

from dataclasses import dataclass, replace

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import Matrix, Names, RowNumbers
from ros2_ik.core.functions.joint_positions import BoundJoints, JointPositions, Reference
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot


@register_function('joint_coupling', drake='AddCouplerConstraint, AddLinearConstraint',
                   pink='JointCouplingTask, LinearHolonomicTask')
@dataclass(frozen=True, eq=False)
class JointCoupling(KinematicFunction):
    """
    Linear combinations of joint values, one row for each row of `ratios`.

        f = ratios (q - reference) - offset     in the joints' units, [rad] or [m]

    `ratios` is (m, n), or (n,) for one row, with columns in the order of `names`. The relation
    q0 = r q1 + c is ratios (1, -r) and offset c with bounds 0. `names` and `reference` are as in
    `JointPositions`; a floating joint has six columns. Continuous joints are not taken modulo full
    turns. Smooth everywhere except at half a turn of a floating joint.

    Raises InvalidConstraintError for sizes that do not match (when bound to a robot, if not
    before), and the errors of `JointPositions`.
    """

    names: Names | None
    ratios: Matrix
    offset: RowNumbers = 0.0
    reference: Reference = None
    reference_field = 'offset'

    def __post_init__(self) -> None:
        super().__post_init__()
        count, columns = np.shape(self.ratios)
        if np.shape(self.offset) not in ((), (count,)):
            raise InvalidConstraintError(f'offset must be one finite number, or one for each of '
                                         f'{count} rows, not {self.offset!r}')
        if self.names and len(self.names) > columns:   # a joint has at least one column
            raise InvalidConstraintError(self._misfit(len(self.names)))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'row {row} [joint units]' for row in range(len(self.ratios)))

    def bind(self, robot: Robot) -> BoundJoints:
        # the product of the ratios with the rows of the joints
        rows = JointPositions(self.names, self.reference, wrap=False).bind(robot)
        ratios = np.asarray(self.ratios)
        if len(rows.labels) != ratios.shape[1]:
            raise InvalidConstraintError(self._misfit(len(rows.labels)))
        return replace(rows, made_from=self, A=ratios @ rows.A,
                       offset=ratios @ rows.offset - self.offset,
                       turns=np.zeros(len(ratios), dtype=bool), labels=self.labels)

    def joints(self, robot: Robot) -> frozenset[str]:
        return self.bind(robot).moved_by

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        return self.bind(at.robot).evaluate(at)

    def _misfit(self, size: int) -> str:
        names = 'all joints' if self.names is None else ', '.join(self.names)
        return (f'ratios has {np.shape(self.ratios)[1]} columns, but {names} have {size} rows')
