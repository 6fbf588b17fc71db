"""Names of core that only the node, the command and the viewer use; not a stable interface."""

from ros2_ik.core.arrays import (
    Indices as Indices,
)
from ros2_ik.core.collision import (
    COLLISIONS_OFF as COLLISIONS_OFF,
    not_checked as not_checked,
)
from ros2_ik.core.functions import (
    field_value as field_value,
    FieldValue as FieldValue,
    function_kinds as function_kinds,
    quaternion_rotation as quaternion_rotation,
    read_function as read_function,
    spec_fields as spec_fields,
    written_kinds as written_kinds,
)
from ros2_ik.core.meshes import (
    urdf_for_others as urdf_for_others,
)
from ros2_ik.core.motion import (
    braking_motion as braking_motion,
    even_braking_motion as even_braking_motion,
    PathCollision as PathCollision,
    PathCollisionCheck as PathCollisionCheck,
)
from ros2_ik.core.path import (
    PathOptions as PathOptions,
    PathSearch as PathSearch,
    TimedPath as TimedPath,
)
from ros2_ik.core.problem import (
    ALL_AXES as ALL_AXES,
    joint_changes as joint_changes,
    JointChangeBound as JointChangeBound,
    largest_change as largest_change,
    TargetError as TargetError,
)
from ros2_ik.core.request import (
    bind_request as bind_request,
    BoundRequest as BoundRequest,
    default_group as default_group,
    default_tip as default_tip,
    Defaults as Defaults,
    group_tips as group_tips,
    IKRequest as IKRequest,
    prepare as prepare,
    StaticWorld as StaticWorld,
)
from ros2_ik.core.scene import (
    check_scene_file as check_scene_file,
    GeometryElement as GeometryElement,
    OCTOMAP as OCTOMAP,
    ShapeInstance as ShapeInstance,
    visual_elements as visual_elements,
    visual_geometry as visual_geometry,
)
from ros2_ik.core.scene.shapes import (
    shape_kinds as shape_kinds,
)
from ros2_ik.core.solvers import (
    Search as Search,
)
from ros2_ik.core.strict_yaml import (
    read_yaml as read_yaml,
)
