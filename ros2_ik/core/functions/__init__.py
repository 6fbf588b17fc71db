"""Kinematic functions, the types of their fields, and readers of written functions."""

from ros2_ik.core.functions.angles import AngleBetweenVectors, GazeAngle
from ros2_ik.core.functions.center_of_mass import CenterOfMass, SupportPolygon
from ros2_ik.core.functions.collision_distances import MinimumDistance, PairDistance
from ros2_ik.core.functions.fields import (
    field_value,
    FieldType,
    FieldValue,
    spec_fields,
    SpecField,
)
from ros2_ik.core.functions.frame_pose import FrameOrientation, FramePose
from ros2_ik.core.functions.joint_functions import BoundJoints, JointCoupling, JointPositions
from ros2_ik.core.functions.kinematic_function import (
    function_kinds,
    KinematicFunction,
    read_function,
    register_function,
    written_kinds,
)
from ros2_ik.core.functions.manipulability import Manipulability
from ros2_ik.core.functions.points import (
    FramePosition,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
)
from ros2_ik.core.functions.region_distance import region_surfaces, RegionDistance
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.functions.user_function import UserFunction
from ros2_ik.core.poses import as_placement, as_transform, quaternion_rotation

__all__ = [
    'AngleBetweenVectors', 'BoundJoints', 'CenterOfMass', 'FieldType', 'FieldValue',
    'FrameOrientation', 'FramePose', 'FramePosition', 'GazeAngle', 'Polyhedron', 'JointCoupling',
    'JointPositions', 'KinematicFunction', 'Manipulability', 'MinimumDistance', 'PairDistance',
    'PointToLineDistance', 'PointToPlane', 'PointToPointDistance', 'RegionDistance',
    'RelativeFunction', 'SpecField', 'SupportPolygon', 'UserFunction', 'as_placement',
    'as_transform', 'field_value', 'function_kinds', 'quaternion_rotation', 'read_function',
    'region_surfaces', 'register_function', 'spec_fields', 'written_kinds',
]
