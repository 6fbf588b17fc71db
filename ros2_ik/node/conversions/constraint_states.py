"""ConstraintState messages."""


from ros2_ik.core import Array, IKProblem
from ros2_ik.msg import ConstraintState
from ros2_ik.node.conversions.constraint_reports import constraint_reports


def constraint_states(problem: IKProblem, q: Array) -> list[ConstraintState]:
    """Report on each constraint and cost of a problem at q (nq,), hard ones first."""
    return [ConstraintState(**report._asdict()) for report in constraint_reports(problem, q)]
