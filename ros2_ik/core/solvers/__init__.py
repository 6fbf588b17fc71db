"""Local solvers, the search that restarts them, and the entry points `solve` and `solve_pose`."""

from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.clik import ClosedLoopIK
from ros2_ik.core.solvers.inverse_kinematics import InverseKinematics
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.options import SolveOptions
from ros2_ik.core.solvers.scipy_solvers import BFGSGradientProjection, SLSQP
from ros2_ik.core.solvers.search import Search
from ros2_ik.core.solvers.solve import PoseSolver, solve, solve_pose
from ros2_ik.core.solvers.solver import Attempt, make_solver, register_solver, Solver, solver_names
from ros2_ik.core.solvers.sqp import SequentialQuadratic

__all__ = [
    'Attempt', 'BFGSGradientProjection', 'Budget', 'ClosedLoopIK', 'InverseKinematics',
    'LevenbergMarquardt', 'PoseSolver', 'SLSQP', 'Search', 'SequentialQuadratic', 'SolveOptions',
    'Solver', 'make_solver', 'register_solver', 'solve', 'solve_pose', 'solver_names',
]
