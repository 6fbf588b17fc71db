"""Local solvers, the search that restarts them, and the entry points `solve` and `solve_pose`."""

# importing the modules registers their solvers
from ros2_ik.core.solvers import clik, lm, scipy_solvers, sqp  # noqa: F401
from ros2_ik.core.solvers.inverse_kinematics import InverseKinematics
from ros2_ik.core.solvers.options import SolveOptions
from ros2_ik.core.solvers.search import Search
from ros2_ik.core.solvers.solve import PoseSolver, solve, solve_pose
from ros2_ik.core.solvers.solver import (
    Attempt,
    Budget,
    make_solver,
    register_solver,
    Solver,
    solver_names,
)

__all__ = [
    'Attempt', 'Budget', 'InverseKinematics', 'PoseSolver', 'Search', 'SolveOptions', 'Solver',
    'make_solver', 'register_solver', 'solve', 'solve_pose', 'solver_names',
]
