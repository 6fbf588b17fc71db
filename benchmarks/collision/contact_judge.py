"""Judge of collision-free IK: yourdfpy and python-fcl."""

from pathlib import Path
import sys

import numpy as np

from collision.cases import Case

sys.path.insert(0, str(Path(__file__).parents[2] / 'test/core'))   # judges shared with the tests

from fcl_judge import FclJudge  # noqa: E402
from judge import pose_error  # noqa: E402

from ros2_ik.core import Robot  # noqa: E402


class Judge:
    """Frames by yourdfpy, collisions by python-fcl, limits from the URDF's text."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._fcl = robot, FclJudge(robot, raw=True)
        self._scene: object = None

    def complaint(self, case: Case, q: np.ndarray) -> str:
        """Return why an answer (nq,) is wrong, or '' if it is right."""
        # consecutive cases share a scene, whose shapes take time to convert
        if self._scene is not case.checker.scene:
            self._scene = case.checker.scene
            self._fcl.surround(case.checker.scene)
        joints, frames = self._robot.to_joints(q), self._fcl.frames
        for name, (lower, upper) in frames.bounds.items():
            # TRAC-IK has joint limits as float32
            if not lower - 1e-6 <= frames.value(joints, name) <= upper + 1e-6:
                return f'{name} is outside its limits'
        for tip, T in case.targets.items():
            position, orientation = pose_error(frames.transform(joints, tip), T)
            if position > 1e-5 or orientation > 1e-4:
                return f'{tip} is off by {position:.2g} m, {orientation:.2g} rad'
        return ', '.join(' - '.join(sorted(pair)) for pair in self._fcl.touching(joints))
