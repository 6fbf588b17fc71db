"""IK problems (targets, constraints, costs), their acceptance check and their solutions."""

from ros2_ik.core.problem.acceptance import (
    accept,
    AcceptanceReport,
    error_norm,
    TargetError,
    Violation,
)
from ros2_ik.core.problem.conflicts import conflict, out_of_reach
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import Cost, LeastSquares, ScalarCost
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.pose_target import (
    ALL_AXES,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.problem.solution import IKSolution, JointChange, largest_change
from ros2_ik.core.problem.structure import JointChangeBound

__all__ = [
    'ALL_AXES', 'AcceptanceReport', 'Constraint', 'Cost', 'IKProblem', 'IKSolution',
    'JointChange', 'JointChangeBound', 'LeastSquares', 'ORIENTATION_TOLERANCE',
    'POSITION_TOLERANCE', 'PoseTarget', 'ScalarCost', 'TargetError', 'Violation',
    'accept', 'conflict', 'error_norm', 'largest_change', 'out_of_reach',
]
