"""Judge of collision-free IK: yourdfpy and python-fcl."""

from constrained.judge import Judge
from fcl_judge import FclJudge
import numpy as np

from collision.cases import Case
from ros2_ik.core import Robot


class ContactJudge(Judge):
    """Judge of frames and limits that also finds contacts, by python-fcl."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self._fcl = FclJudge(robot, raw=True)

    def contact_complaint(self, case: Case, q: np.ndarray) -> str:
        """Return why an answer (nq,) is wrong, or '' if it is right."""
        joints, fcl = self.robot.to_joints(q), self._fcl.surround(case.checker.scene)
        complaint = self.complaint(joints, case.targets) or ', '.join(
            ' - '.join(sorted(pair)) for pair in fcl.touching(joints))
        return complaint and f'case {case.seed}: {complaint}'
