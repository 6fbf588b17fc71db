"""Writes scenes to YAML files that `load_scene` reads."""

from dataclasses import fields, MISSING
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import SceneObject, ShapeInstance
from ros2_ik.core.scene.shapes import Shape


def save_scene(scene: Scene, path: str | Path | None = None) -> str:
    """
    Return the scene as YAML, and write it to a file if there is a path.

    Objects are written in the root frame, meshes with all their triangles. Entries of
    `allowed` for names that are not in the scene are left out.
    """
    written: dict[str, Any] = {
        'frames': {name: _pose(pose) for name, pose in scene.frames.items()},
        'objects': [_object(item) for item in scene.objects.values()],
        'attached': [{**_object(held.object), 'link': held.link,
                      'touch_links': sorted(held.touch_links - {held.link})}
                     for held in scene.attached.values()],
        **_allowed(scene), 'padding': dict(scene.padding)}
    content = {key: value for key, value in written.items() if value} or {'objects': []}
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=99)
    if path is not None:
        Path(path).write_text(text, encoding='utf-8')
    return text


def _object(item: SceneObject) -> dict[str, Any]:
    written = {'id': item.id, 'pose': _pose(item.pose),
               'color': None if item.color is None else list(item.color),
               'shapes': [_part(part) for part in item.parts],
               'subframes': {name: _pose(pose) for name, pose in item.subframes.items()}}
    return {key: value for key, value in written.items() if value}


def _part(part: ShapeInstance) -> dict[str, Any]:
    pose = _pose(part.pose)
    return {part.shape.kind: _shape(part.shape), **({'pose': pose} if pose else {})}


def _shape(shape: Shape) -> dict[str, Any]:
    written = {}
    for member in fields(shape):  # type: ignore[arg-type]   # shapes are dataclasses
        value = getattr(shape, member.name)
        if isinstance(value, np.ndarray):
            written[member.name] = value.tolist()
        elif member.default is MISSING or value != member.default:
            written[member.name] = value
    return written


def _pose(pose: Any) -> dict[str, list[float]]:
    """Leave the parts of the identity out."""
    written = {}
    if pose.translation.any():
        written['xyz'] = pose.translation.tolist()
    if not np.array_equal(pose.rotation, np.eye(3)):
        written['quat_xyzw'] = pin.Quaternion(pose.rotation).coeffs().tolist()
    return written


def _allowed(scene: Scene) -> dict[str, list[Any]]:
    """Return what differs from the robot's own matrix."""
    usual = AllowedCollisions.of_robot(scene.robot).pairs
    known = {*scene.robot.tree.links, *scene.objects, *scene.attached}
    pairs = {**dict.fromkeys(usual, False), **scene.allowed.pairs}
    entries: list[tuple[Any, bool]] = [
        (list(pair), flag) for pair, flag in sorted(pairs.items())
        if known.issuperset(pair) and usual.get(pair) != flag]
    entries += [(name, flag) for name, flag in sorted(scene.allowed.defaults.items())
                if name in known]
    return {'allowed': [names for names, flag in entries if flag],
            'checked': [names for names, flag in entries if not flag]}
