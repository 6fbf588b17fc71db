"""ConstraintState messages."""

import numpy as np

from ros2_ik.core import IKProblem
from ros2_ik.msg import ConstraintState
from ros2_ik.node.conversions.standings import standings


def constraint_states(problem: IKProblem, q: np.ndarray) -> list[ConstraintState]:
    """Say how each constraint and cost of a problem stands at q (nq,), hard ones first."""
    return [ConstraintState(**standing._asdict()) for standing in standings(problem, q)]
