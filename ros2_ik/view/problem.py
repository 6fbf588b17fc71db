"""A problem file's content: targets, and all else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array

POSES = ('tips', 'targets')    # fields of a problem file


@dataclass
class Problem:
    """
    What a session solves: `targets` are poses (4, 4) by tip, in the root frame.

    `rest` are the other fields of a problem file, such as constraints and costs.
    """

    targets: dict[str, Array]
    rest: dict[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return the content of a problem file."""
        targets = [{'pose': _pose_fields(T)} for T in self.targets.values()]
        poses = {'tips': list(self.targets), 'targets': targets} if targets else {}
        return {**poses, **self.rest}


def rest_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `rest` of a problem file's content."""
    return {name: value for name, value in content.items()
            if name not in (*POSES, 'avoid_collisions')}


def _pose_fields(T: Array) -> dict[str, dict[str, float]]:
    values = pin.SE3ToXYZQUAT(pin.SE3(T[:3, :3], np.array(T[:3, 3]))).tolist()
    return {'position': dict(zip('xyz', values[:3], strict=True)),
            'orientation': dict(zip('xyzw', values[3:], strict=True))}
