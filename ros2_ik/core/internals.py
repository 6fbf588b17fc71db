"""Names that other packages of ros2_ik import from core; not a stable interface."""

from ros2_ik.core.arrays import Indices
from ros2_ik.core.collision import *
from ros2_ik.core.collision.self_pairs import join_first
from ros2_ik.core.functions import *
from ros2_ik.core.motion import *
from ros2_ik.core.path import *
from ros2_ik.core.poses import quaternion_pose
from ros2_ik.core.problem import *
from ros2_ik.core.problem.structure import named_joints
from ros2_ik.core.request import *
from ros2_ik.core.robot.packages import urdf_for_others
from ros2_ik.core.scene import *
from ros2_ik.core.scene.shapes import shape_kinds
from ros2_ik.core.solvers import Search
from ros2_ik.core.solvers.serialization import pack, unpack
from ros2_ik.core.strict_yaml import read_yaml

__all__ = [
    'Indices', 'COLLISIONS_OFF', 'not_checked', 'field_value', 'FieldValue', 'function_kinds',
    'quaternion_pose', 'read_function', 'spec_fields', 'written_kinds', 'urdf_for_others',
    'braking_motion', 'braking_on_path', 'stopped_within', 'LIMIT_ROUNDING', 'PathCollision',
    'PathCollisionCheck', 'PathOptions', 'PATH_OPTIONS', 'PathSearch', 'TimedPath', 'ALL_AXES',
    'largest_change', 'TargetError', 'default_group', 'default_tip', 'Defaults', 'group_tips',
    'IKRequest', 'POINT_PERIOD', 'prepare', 'World', 'GeometryElement', 'OCTOMAP',
    'ShapeInstance', 'visual_elements', 'visual_geometry', 'shape_kinds', 'Search', 'pack',
    'unpack', 'read_yaml', 'join_first', 'named_joints',
]
