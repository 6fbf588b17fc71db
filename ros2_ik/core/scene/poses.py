"""Poses of a scene, and the fields that keep them from being changed in place."""

from collections.abc import Mapping
from typing import Any

import pinocchio as pin

from ros2_ik.core import poses
from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import entries, text
from ros2_ik.core.errors import InvalidSceneError


def scene_placement(pose: Pose, what: str) -> pin.SE3:
    """Take a pose, None for the identity, as a new pinocchio.SE3; raises InvalidSceneError."""
    return pin.SE3.Identity() if pose is None else poses.as_placement(
        pose, what, InvalidSceneError)


def named_placements(given: Mapping[str, Pose] | None, what: str, of: str = ''
                     ) -> dict[str, pin.SE3]:
    """Take poses by name, as `scene_placement` does; errors call each a `what` `of` its owner."""
    return {text(name, f'the name of a {what}{of}', InvalidSceneError):
            scene_placement(pose, f"pose of {what} '{name}'{of}")
            for name, pose in entries(given, f'{what}s{of}', InvalidSceneError)}


class PoseField:
    """
    Field of a frozen dataclass with an id that holds a pose, as `scene_placement` takes it.

    Reading it returns a copy: a pinocchio.SE3 can be changed in place.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> pin.SE3 | None:
        return None if instance is None else vars(instance)[self.name].copy()

    def __set__(self, instance: object, pose: Pose) -> None:
        owner = getattr(instance, 'id', None)
        what = self.name if owner is None else f"{self.name} of object '{owner}'"
        vars(instance)[self.name] = scene_placement(pose, what)


class SubframesField(PoseField):
    """Field of poses by name, as `named_placements` takes them; like `PoseField` in copies."""

    def __get__(self, instance: object,
                owner: type | None = None) -> dict[str, pin.SE3] | None:
        return None if instance is None else {
            name: pose.copy() for name, pose in vars(instance)[self.name].items()}

    def __set__(self, instance: Any, given: Any) -> None:
        vars(instance)[self.name] = named_placements(
            given, 'subframe', f" of object '{instance.id}'")
