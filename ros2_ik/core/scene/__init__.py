"""The world round the robot: shapes, objects, what may touch what."""

from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.collision_checker import collision_checker, CollisionChecker
from ros2_ik.core.scene.contacts import Contact, Distances
from ros2_ik.core.scene.mesh_paths import mesh_files_changed, urdf_for_others
from ros2_ik.core.scene.not_checked import COLLISIONS_OFF, not_checked, own_collisions
from ros2_ik.core.scene.robot_geometry import LinkGeometry, robot_geometry, RobotGeometry
from ros2_ik.core.scene.scene import check_scene, Scene
from ros2_ik.core.scene.scene_file import check_scene_file, load_scene, shipped_scenes
from ros2_ik.core.scene.scene_object import AttachedObject, OCTOMAP, SceneObject, ShapeInstance
from ros2_ik.core.scene.scene_saving import save_scene
from ros2_ik.core.scene.self_pairs import self_pairs, SelfPairs
from ros2_ik.core.scene.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    OcTree,
    Plane,
    register_shape,
    Shape,
    shape_kinds,
    Sphere,
)
from ros2_ik.core.scene.visual_geometry import visual_elements, visual_geometry, VisualElement

__all__ = [
    'AllowedCollisions', 'AttachedObject', 'Box', 'COLLISIONS_OFF', 'Capsule', 'CollisionChecker',
    'Cone', 'Contact', 'ConvexHull', 'Cylinder', 'Distances', 'Ellipsoid', 'HalfSpace',
    'HeightField', 'LinkGeometry', 'Mesh', 'OCTOMAP', 'OcTree', 'Plane', 'RobotGeometry', 'Scene',
    'SceneObject', 'SelfPairs', 'Shape', 'ShapeInstance', 'Sphere', 'VisualElement', 'check_scene',
    'check_scene_file', 'collision_checker', 'load_scene', 'mesh_files_changed',
    'not_checked', 'own_collisions', 'register_shape', 'robot_geometry', 'save_scene',
    'self_pairs', 'shape_kinds', 'shipped_scenes', 'urdf_for_others', 'visual_elements',
    'visual_geometry',
]
