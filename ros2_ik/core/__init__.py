"""
Inverse kinematics as a plain Python library, without ROS.

    from ros2_ik.core import Robot, solve_pose
"""

from ros2_ik.core.errors import (
    IKError,
    InvalidConstraintError,
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
from ros2_ik.core.functions import (
    AngleBetweenVectors,
    AxisAlignment,
    CenterOfMass,
    DirectionChord,
    EulerAngles,
    FrameOrientation,
    FramePose,
    FramePosition,
    function_kinds,
    GazeAngle,
    HalfSpaces,
    JointCoupling,
    JointPositions,
    KinematicFunction,
    LookAt,
    Manipulability,
    OrientationAngle,
    OrientationChord,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    register_function,
    RelativeFunction,
    UserFunction,
)
from ros2_ik.core.kernels import load_kernels
from ros2_ik.core.problem import (
    accept,
    ALL_AXES,
    Constraint,
    Cost,
    ExitFlag,
    IKProblem,
    IKSolution,
    LeastSquares,
    PoseTarget,
    ScalarCost,
    Status,
    TargetError,
    Verdict,
    Violation,
)
from ros2_ik.core.robot import Configuration, Group, Joint, Robot, shipped_robots, ShippedRobot
from ros2_ik.core.solvers import (
    Attempt,
    Budget,
    InverseKinematics,
    register_solver,
    Search,
    solve,
    solve_pose,
    Solver,
    solver_names,
)

__all__ = [
    'ALL_AXES', 'AngleBetweenVectors', 'Attempt', 'AxisAlignment', 'Budget', 'CenterOfMass',
    'Configuration', 'Constraint', 'Cost', 'DirectionChord', 'EulerAngles', 'ExitFlag',
    'FrameOrientation', 'FramePose', 'FramePosition', 'GazeAngle', 'Group', 'HalfSpaces',
    'IKError', 'IKProblem', 'IKSolution', 'InvalidConstraintError', 'InvalidOptionError',
    'InvalidStateError', 'InvalidTargetError', 'InverseKinematics', 'Joint', 'JointCoupling',
    'JointLimitError', 'JointPositions', 'KinematicFunction', 'LeastSquares', 'LookAt',
    'Manipulability', 'OrientationAngle', 'OrientationChord', 'PointToLineDistance',
    'PointToPlane', 'PointToPointDistance', 'PoseTarget', 'RelativeFunction', 'Robot',
    'RobotDescriptionError', 'ScalarCost', 'Search', 'ShippedRobot', 'Solver', 'Status',
    'TargetError', 'UnknownFrameError', 'UnknownGroupError', 'UnknownJointError',
    'UnknownNameError', 'UnknownRobotError', 'UnknownSolverError', 'UserFunction', 'Verdict',
    'Violation', 'accept', 'function_kinds', 'load_kernels', 'register_function',
    'register_solver', 'shipped_robots', 'solve', 'solve_pose', 'solver_names',
]
