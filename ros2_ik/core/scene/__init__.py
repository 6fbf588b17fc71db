"""Scene description: shapes, objects, allowed collisions. `core/collision` checks scenes."""

from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.robot_geometry import (
    GeometryElement,
    LinkGeometry,
    robot_geometry,
    RobotGeometry,
    visual_elements,
    visual_geometry,
)
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_file import load_scene, shipped_scenes
from ros2_ik.core.scene.scene_object import AttachedObject, OCTOMAP, SceneObject, ShapeInstance
from ros2_ik.core.scene.shapes import *

__all__ = [
    'AllowedCollisions', 'AttachedObject', 'GeometryElement', 'LinkGeometry', 'OCTOMAP',
    'RobotGeometry', 'Scene', 'SceneObject', 'ShapeInstance', 'load_scene', 'robot_geometry',
    'shipped_scenes', 'visual_elements', 'visual_geometry',
]
