"""Conversion of poses to pinocchio.SE3, and dataclass fields that return copies of poses."""

from collections.abc import Mapping
from typing import Any

import pinocchio as pin

from ros2_ik.core import poses
from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import entries, text
from ros2_ik.core.errors import InvalidSceneError


def scene_placement(pose: Pose, what: str) -> pin.SE3:
    """Convert a pose (None: identity) to a new pinocchio.SE3; raises InvalidSceneError."""
    return pin.SE3.Identity() if pose is None else poses.as_placement(
        pose, what, InvalidSceneError)


def named_placements(poses_by_name: Mapping[str, Pose] | None, what: str, of: str = ''
                     ) -> dict[str, pin.SE3]:
    """
    Convert a mapping from names to poses with `scene_placement`.

    Error texts call an entry `what` + `of`, such as 'subframe' + " of object 'cup'".
    """
    return {text(name, f'the name of a {what}{of}', InvalidSceneError):
            scene_placement(pose, f"pose of {what} '{name}'{of}")
            for name, pose in entries(poses_by_name, f'{what}s{of}', InvalidSceneError)}


class PoseField:
    """
    Descriptor for the pose of a frozen dataclass: assignment converts with `scene_placement`.

    Reading the field returns a copy, because a pinocchio.SE3 can be changed in place. Error texts
    contain the `id` of the dataclass instance, if there is one.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    # read on the class (instance None): dataclasses take the result as the default of the field
    def __get__(self, instance: object, owner: type | None = None) -> pin.SE3 | None:
        return None if instance is None else vars(instance)[self.name].copy()

    def __set__(self, instance: object, pose: Pose) -> None:
        owner = getattr(instance, 'id', None)
        what = self.name if owner is None else f"{self.name} of object '{owner}'"
        vars(instance)[self.name] = scene_placement(pose, what)


class SubframesField(PoseField):
    """Like `PoseField`, for a mapping from names to poses, converted by `named_placements`."""

    def __get__(self, instance: object,
                owner: type | None = None) -> dict[str, pin.SE3] | None:
        return None if instance is None else {
            name: pose.copy() for name, pose in vars(instance)[self.name].items()}

    def __set__(self, instance: Any, subframes: Any) -> None:
        vars(instance)[self.name] = named_placements(
            subframes, 'subframe', f" of object '{instance.id}'")
