"""What the node says, or refuses, at its start, before it knows a robot."""

from typing import Any

from ros2_ik.core import check_scene_file, InvalidSceneError


def scene_fault(scene: str) -> str:
    """Return why a value of parameter `scene` fits no robot at all, or ''."""
    try:
        if scene:
            check_scene_file(scene)
    except InvalidSceneError as error:
        return f"parameter scene, '{scene}': {error}"
    return ''


def start_notes(parameters: Any) -> list[str]:
    """Return what a person should know of a node that can move an arm."""
    if not parameters.controllers:
        return []
    notes = [f'motions use {parameters.velocity_scaling:g} of the velocity limits and '
             f'{parameters.acceleration_scaling:g} of the acceleration limits (parameters '
             'velocity_scaling, acceleration_scaling)']
    if not parameters.scene:
        notes.append('the scene is empty: nothing is around the robot, not even a floor '
                     '(parameter scene; scene:=floor adds one below the root frame)')
    return notes
