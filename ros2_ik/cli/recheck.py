"""Judges an answer by forward kinematics of its joint values, whatever was said of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ros2_ik.core import Configuration, Robot


class WantedPose(NamedTuple):
    """A pose T (4, 4) that `tip` should have in `frame` (default: the root), and its weights."""

    tip: str
    T: 'NDArray[Any]'
    frame: str | None
    weights: tuple[float, ...]


class Check(NamedTuple):
    """How far `tip` is from what was wanted: [m], [rad], along the axes that count."""

    tip: str
    position: float
    orientation: float


def recheck(robot: 'Robot', q: 'NDArray[Any]', wanted: Sequence[WantedPose],
            frames_at: 'NDArray[Any] | None' = None) -> list[Check]:
    """
    Return the errors at q (nq,).

    Frames stand where they are at `frames_at` (nq,), by default where q moves them.
    """
    from ros2_ik.core import Configuration
    at = Configuration(robot, q)
    before = at if frames_at is None else Configuration(robot, frames_at)
    return [_check(target, at, before) for target in wanted]


def _check(target: WantedPose, at: 'Configuration', before: 'Configuration') -> Check:
    import numpy as np
    import pinocchio as pin
    frame = at.robot.root_frame if target.frame is None else target.frame
    T_goal = before.transform(frame) @ target.T
    error = np.linalg.inv(T_goal) @ at.transform(target.tip)
    rows = np.concatenate([error[:3, 3], pin.log3(error[:3, :3])])
    rows[np.array(target.weights) <= 0] = 0.0
    return Check(target.tip, float(np.linalg.norm(rows[:3])), float(np.linalg.norm(rows[3:])))
