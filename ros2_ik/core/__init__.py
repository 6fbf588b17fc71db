"""
Inverse kinematics as a plain Python library, without ROS.

    from ros2_ik.core import Robot, solve_pose

Public names by group; the error classes are in `ros2_ik.core.errors`:

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
    register_shape, save_scene, Scene, SceneObject, self_pairs, SelfPairs, Shape,
    shipped_scenes, Sphere

Velocity IK: tasks, limits and barriers
    AccelerationLimit, axis_align_task, Barrier, CartesianVelocityLimit, CollisionBarrier,
    com_task, ConfigurationLimit, damping_task, distance_task, frame_task, joint_coupling_task,
    joint_velocity_task, linear_holonomic_task, look_at_task, low_acceleration_task,
    manipulability_task, NearPair, posture_task, rolling_task, solve_velocity, Task,
    twist_task, VelocityLimit, VelocityProgram, VelocityResult, VelocityStatus

Timed motions of joints
    blocked, Motion, MotionLimits, MotionState, straight_motion
"""

from importlib import import_module as _import_module
import typing as _typing

from ros2_ik.core.arrays import (
    Array as Array,
)
from ros2_ik.core.collision import (
    collision_checker as collision_checker,
    CollisionChecker as CollisionChecker,
    Contact as Contact,
    Distances as Distances,
    self_pairs as self_pairs,
    SelfPairs as SelfPairs,
)
from ros2_ik.core.errors import (
    IKError as IKError,
)
from ros2_ik.core.functions import (
    AngleBetweenVectors as AngleBetweenVectors,
    CenterOfMass as CenterOfMass,
    fields as fields,
    FrameOrientation as FrameOrientation,
    FramePose as FramePose,
    FramePosition as FramePosition,
    GazeAngle as GazeAngle,
    JointCoupling as JointCoupling,
    JointPositions as JointPositions,
    KinematicFunction as KinematicFunction,
    Manipulability as Manipulability,
    MinimumDistance as MinimumDistance,
    PairDistance as PairDistance,
    PointToLineDistance as PointToLineDistance,
    PointToPlane as PointToPlane,
    PointToPointDistance as PointToPointDistance,
    Polyhedron as Polyhedron,
    region_surfaces as region_surfaces,
    RegionDistance as RegionDistance,
    register_function as register_function,
    RelativeFunction as RelativeFunction,
    SupportPolygon as SupportPolygon,
    UserFunction as UserFunction,
)
from ros2_ik.core.kernels import (
    compile_all as compile_all,
)
from ros2_ik.core.kernels.source import (
    formula as formula,
)
from ros2_ik.core.motion import (
    blocked as blocked,
    Motion as Motion,
    MotionLimits as MotionLimits,
    MotionState as MotionState,
    straight_motion as straight_motion,
)
from ros2_ik.core.path import (
    Arc as Arc,
    Line as Line,
    Path as Path,
    path_motion as path_motion,
    Screw as Screw,
    solve_path as solve_path,
    Spline as Spline,
    ToolPath as ToolPath,
    Waypoints as Waypoints,
)
from ros2_ik.core.problem import (
    accept as accept,
    AcceptanceReport as AcceptanceReport,
    Constraint as Constraint,
    Cost as Cost,
    IKProblem as IKProblem,
    IKSolution as IKSolution,
    LeastSquares as LeastSquares,
    PoseTarget as PoseTarget,
    ScalarCost as ScalarCost,
    Violation as Violation,
)
from ros2_ik.core.robot import (
    Configuration as Configuration,
    Group as Group,
    Joint as Joint,
    Robot as Robot,
    shipped_robots as shipped_robots,
    ShippedRobot as ShippedRobot,
)
from ros2_ik.core.scene import (
    AllowedCollisions as AllowedCollisions,
    AttachedObject as AttachedObject,
    load_scene as load_scene,
    save_scene as save_scene,
    Scene as Scene,
    SceneObject as SceneObject,
    shipped_scenes as shipped_scenes,
)
from ros2_ik.core.scene.shapes import (
    Box as Box,
    Capsule as Capsule,
    Cone as Cone,
    ConvexHull as ConvexHull,
    Cylinder as Cylinder,
    HalfSpace as HalfSpace,
    Mesh as Mesh,
    OcTree as OcTree,
    Plane as Plane,
    register_shape as register_shape,
    Shape as Shape,
    Sphere as Sphere,
)
from ros2_ik.core.solvers import (
    Attempt as Attempt,
    Budget as Budget,
    InverseKinematics as InverseKinematics,
    PoseSolver as PoseSolver,
    register_solver as register_solver,
    solve as solve,
    solve_pose as solve_pose,
    SolveOptions as SolveOptions,
    Solver as Solver,
    solver_names as solver_names,
)
from ros2_ik.core.status import (
    ExitFlag as ExitFlag,
    Status as Status,
)
from ros2_ik.core.velocity import (
    AccelerationLimit as AccelerationLimit,
    axis_align_task as axis_align_task,
    Barrier as Barrier,
    CartesianVelocityLimit as CartesianVelocityLimit,
    CollisionBarrier as CollisionBarrier,
    com_task as com_task,
    ConfigurationLimit as ConfigurationLimit,
    damping_task as damping_task,
    distance_task as distance_task,
    frame_task as frame_task,
    joint_coupling_task as joint_coupling_task,
    joint_velocity_task as joint_velocity_task,
    linear_holonomic_task as linear_holonomic_task,
    look_at_task as look_at_task,
    low_acceleration_task as low_acceleration_task,
    manipulability_task as manipulability_task,
    NearPair as NearPair,
    posture_task as posture_task,
    rolling_task as rolling_task,
    solve_velocity as solve_velocity,
    Task as Task,
    twist_task as twist_task,
    VelocityLimit as VelocityLimit,
    VelocityProgram as VelocityProgram,
    VelocityResult as VelocityResult,
    VelocityStatus as VelocityStatus,
)

# modules of names that earlier versions exported from here
_MOVED_TO = ('errors', 'internals', 'problem', 'request', 'scene', 'functions', 'solvers')

if not _typing.TYPE_CHECKING:
    def __getattr__(name: str) -> object:
        """Return a name that earlier versions exported here and that has another module now."""
        for module in () if name.startswith('_') else _MOVED_TO:
            found = getattr(_import_module(f'ros2_ik.core.{module}'), name, None)
            if found is not None:
                return found
        raise AttributeError(f"module 'ros2_ik.core' has no name '{name}'")
