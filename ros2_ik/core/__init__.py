"""
Inverse kinematics as a plain Python library, without ROS.

    from ros2_ik.core import Robot, solve_pose
"""

from ros2_ik.core.errors import (
    IKError,
    InvalidOptionError,
    InvalidStateError,
    InvalidTargetError,
    JointLimitError,
    RobotDescriptionError,
    UnknownFrameError,
    UnknownGroupError,
    UnknownJointError,
    UnknownNameError,
    UnknownRobotError,
    UnknownSolverError,
)
from ros2_ik.core.functions import FramePose, KinematicFunction
from ros2_ik.core.problem import (
    accept,
    ALL_AXES,
    ExitFlag,
    IKProblem,
    IKSolution,
    PoseTarget,
    Status,
    TargetError,
    Verdict,
    Violation,
)
from ros2_ik.core.robot import Configuration, Group, Joint, Robot, shipped_robots, ShippedRobot
from ros2_ik.core.solvers import (
    Attempt,
    Budget,
    register_solver,
    Search,
    solve,
    solve_pose,
    Solver,
    solver_names,
)

__all__ = [
    'ALL_AXES',
    'Attempt', 'Budget', 'Configuration', 'ExitFlag', 'FramePose', 'Group', 'IKError',
    'IKProblem', 'IKSolution', 'InvalidOptionError', 'InvalidStateError', 'InvalidTargetError',
    'Joint', 'JointLimitError', 'KinematicFunction', 'PoseTarget', 'Robot',
    'RobotDescriptionError', 'Search', 'ShippedRobot', 'Solver', 'Status', 'TargetError',
    'UnknownFrameError', 'UnknownGroupError', 'UnknownJointError', 'UnknownNameError',
    'UnknownRobotError', 'UnknownSolverError', 'Verdict', 'Violation', 'accept',
    'register_solver', 'shipped_robots', 'solve', 'solve_pose', 'solver_names',
]
