"""
Inverse kinematics as a plain Python library, without ROS.

    from ros2_ik.core import Robot, solve_pose

Public names by group (error classes: `ros2_ik.core.errors`; types of function fields:
`ros2_ik.core.fields`):

Robots and their configurations
    Array, Configuration, Group, Joint, Robot, shipped_robots, ShippedRobot

Kinematic functions, for constraints and costs
    AngleBetweenVectors, CenterOfMass, formula, FrameOrientation, FramePose, FramePosition,
    GazeAngle, JointCoupling, JointPositions, KinematicFunction, Manipulability,
    MinimumDistance, PairDistance, PointToLineDistance, PointToPlane, PointToPointDistance,
    Polyhedron, region_surfaces, RegionDistance, register_function, RelativeFunction,
    SupportPolygon, UserFunction

Problems and their solutions
    accept, AcceptanceReport, Constraint, Cost, ExitFlag, IKError, IKProblem, IKSolution,
    LeastSquares, PoseTarget, ScalarCost, Status, Violation

Solving: one pose, problems, paths
    Arc, Attempt, Budget, compile_all, InverseKinematics, Line, Path, path_motion, PoseSolver,
    register_solver, Screw, solve, solve_path, solve_pose, SolveOptions, Solver, solver_names,
    Spline, ToolPath, Waypoints

Scenes, shapes and collisions
    AllowedCollisions, AttachedObject, Box, Capsule, collision_checker, CollisionChecker, Cone,
    Contact, ConvexHull, Cylinder, Distances, HalfSpace, load_scene, Mesh, OcTree, Plane,
    Scene, SceneObject, self_pairs, SelfPairs, Shape, shipped_scenes, Sphere

Velocity IK: tasks, limits and barriers
    AccelerationLimit, axis_align_task, Barrier, CartesianVelocityLimit, CollisionBarrier,
    com_task, ConfigurationLimit, damping_task, distance_task, frame_task, joint_coupling_task,
    joint_velocity_task, linear_holonomic_task, look_at_task, low_acceleration_task,
    manipulability_task, NearPair, posture_task, rolling_task, solve_velocity, Task,
    twist_task, VelocityLimit, VelocityProgram, VelocityResult, VelocityStatus

Timed motions of joints
    blocked, Motion, MotionLimits, MotionState, straight_motion
"""

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import *
from ros2_ik.core.errors import *
from ros2_ik.core.functions import *
from ros2_ik.core.functions import fields
from ros2_ik.core.kernels import compile_all
from ros2_ik.core.kernels.source import formula
from ros2_ik.core.motion import *
from ros2_ik.core.path import *
from ros2_ik.core.problem import *
from ros2_ik.core.request import *
from ros2_ik.core.robot import *
from ros2_ik.core.scene import *
from ros2_ik.core.scene.shapes import *
from ros2_ik.core.solvers import *
from ros2_ik.core.status import ExitFlag, Status
from ros2_ik.core.velocity import *

__all__ = [
    'Array', 'Configuration', 'Group', 'Joint', 'Robot', 'shipped_robots', 'ShippedRobot',
    'AngleBetweenVectors', 'CenterOfMass', 'formula', 'FrameOrientation', 'FramePose',
    'FramePosition', 'GazeAngle', 'JointCoupling', 'JointPositions', 'KinematicFunction',
    'Manipulability', 'MinimumDistance', 'PairDistance', 'PointToLineDistance', 'PointToPlane',
    'PointToPointDistance', 'Polyhedron', 'region_surfaces', 'RegionDistance', 'register_function',
    'RelativeFunction', 'SupportPolygon', 'UserFunction', 'fields',
    'accept', 'AcceptanceReport', 'Constraint', 'Cost', 'ExitFlag', 'IKError', 'IKProblem',
    'IKSolution', 'LeastSquares', 'PoseTarget', 'ScalarCost', 'Status', 'Violation',
    'Arc', 'Attempt', 'Budget', 'compile_all', 'InverseKinematics', 'Line', 'Path', 'path_motion',
    'PoseSolver', 'register_solver', 'Screw', 'solve', 'solve_path', 'solve_pose', 'SolveOptions',
    'Solver', 'solver_names', 'Spline', 'ToolPath', 'Waypoints',
    'AllowedCollisions', 'AttachedObject', 'Box', 'Capsule', 'collision_checker',
    'CollisionChecker', 'Cone', 'Contact', 'ConvexHull', 'Cylinder', 'Distances', 'HalfSpace',
    'load_scene', 'Mesh', 'OcTree', 'Plane', 'Scene', 'SceneObject',
    'self_pairs', 'SelfPairs', 'Shape', 'shipped_scenes', 'Sphere',
    'AccelerationLimit', 'axis_align_task', 'Barrier', 'CartesianVelocityLimit',
    'CollisionBarrier', 'com_task', 'ConfigurationLimit', 'damping_task', 'distance_task',
    'frame_task', 'joint_coupling_task', 'joint_velocity_task', 'linear_holonomic_task',
    'look_at_task', 'low_acceleration_task', 'manipulability_task', 'NearPair', 'posture_task',
    'rolling_task', 'solve_velocity', 'Task', 'twist_task', 'VelocityLimit', 'VelocityProgram',
    'VelocityResult', 'VelocityStatus',
    'blocked', 'Motion', 'MotionLimits', 'MotionState', 'straight_motion',
]
