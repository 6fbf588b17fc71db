"""The command line that asks what a page asks."""

from collections.abc import Mapping
from dataclasses import dataclass
import shlex
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Robot

POSES = {'tips', 'targets', 'avoid_collisions'}    # fields of a problem that need no file


@dataclass(frozen=True)
class CommandLine:
    """
    Subcommands with the options of a robot: `solve` for targets, `constrained` for a problem file.

    `scene` are the options of the scene that the robot began with, None where a node has it.
    """

    solve: tuple[str, ...]
    constrained: tuple[str, ...]
    scene: tuple[str, ...] | None = None

    def text(self, problem: Mapping[str, Any], targets: Mapping[str, Array],
             seed: tuple[str, ...], scene_changed: bool) -> str:
        """
        Return the command for a problem file's content, its `targets` (4, 4) and a seed.

        Files that the page has to save first are problem.yaml and scene.yaml.
        """
        scene = self.scene or ()
        if scene_changed and self.scene is not None:
            scene = ('--scene', 'scene.yaml')
        if not problem.keys() <= POSES:
            return shlex.join((*self.constrained, *scene))
        words = [*self.solve, *(scene if problem.get('avoid_collisions', True)
                                else ('--allow-collisions',))]
        for tip, T in targets.items():
            words += ['--tip', tip, '--xyz', *number_words(T[:3, 3], 5), '--rpy',
                      *number_words(np.degrees(pin.rpy.matrixToRpy(T[:3, :3])), 4)]
        return shlex.join((*words, '--deg', '--seed', *seed))


def seed_words(robot: Robot, q: Array) -> tuple[str, ...]:
    """Return joint=value for each joint at q (nq,), angles in degrees."""
    words = []
    for joint in robot.joints:
        values = q[joint.index:joint.index + joint.size].copy()
        if joint.rotary or joint.kind == 'planar':     # of x, y, theta the last one
            values[-1] = np.degrees(values[-1])
        words.append(f'{joint.name}={",".join(number_words(values, 4))}')
    return tuple(words)


def number_words(values: Array, digits: int) -> list[str]:
    """Return numbers as text without exponents, which the command line takes for options."""
    return [np.format_float_positional(value, trim='-')
            for value in (np.round(values, digits) + 0.0).tolist()]    # + 0.0: no -0
