"""Kinematic functions, the types of their fields, and reading of functions from files."""

from ros2_ik.core.functions.angles import AngleBetweenVectors, GazeAngle
from ros2_ik.core.functions.center_of_mass import CenterOfMass, SupportPolygon
from ros2_ik.core.functions.collision_distances import MinimumDistance, PairDistance
from ros2_ik.core.functions.fields import field_value, FieldValue, spec_fields
from ros2_ik.core.functions.frame_pose import FrameOrientation, FramePose
from ros2_ik.core.functions.joint_functions import BoundJoints, JointCoupling, JointPositions
from ros2_ik.core.functions.kinematic_function import *
from ros2_ik.core.functions.manipulability import Manipulability
from ros2_ik.core.functions.points import *
from ros2_ik.core.functions.region_distance import region_surfaces, RegionDistance
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.functions.user_function import UserFunction
from ros2_ik.core.poses import as_transform

__all__ = [
    'AngleBetweenVectors', 'BoundJoints', 'CenterOfMass', 'FieldValue', 'FrameOrientation',
    'FramePose', 'FramePosition', 'GazeAngle', 'Polyhedron', 'JointCoupling', 'JointPositions',
    'KinematicFunction', 'Manipulability', 'MinimumDistance', 'PairDistance',
    'PointToLineDistance', 'PointToPlane', 'PointToPointDistance', 'RegionDistance',
    'RelativeFunction', 'SupportPolygon', 'UserFunction', 'as_transform', 'field_value',
    'function_kinds', 'read_function', 'region_surfaces', 'register_function', 'spec_fields',
    'written_kinds',
]
