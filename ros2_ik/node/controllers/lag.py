"""How far a robot is behind its commands."""

from collections.abc import Callable, Sequence

import numpy as np

from ros2_ik.core import MotionState, Robot
from ros2_ik.node.controllers.measured import Measured, offset

MOST = 0.2      # farther behind it does not do what it is told [s]
USUAL = 0.005   # between a command, what is done, and what is heard of it [s]
ASIDE = 0.01    # so far from the way it is not on it [rad, m]


def lag(robot: Robot, joints: Sequence[str], commanded: Callable[[float], MotionState],
        measured: Measured) -> float | None:
    """
    Say by how much a robot that moves is later than usual [s]; None if it is not on its way.

    A command reaches it as late as those before, so that one for the present moment is in time.
    Only what they were later than usual has to be allowed for, or else the robot would jerk.
    """
    wanted = commanded(measured.heard(joints))
    behind = offset(robot, joints, wanted.position, measured.state(joints)[0])
    speed = float(np.linalg.norm(wanted.velocity))
    late = float(behind @ wanted.velocity) / speed**2 if speed else 0.0
    aside = np.abs(behind - late * wanted.velocity).max(initial=0.0)
    if not speed or abs(late) > MOST or aside > ASIDE:
        return None
    return max(late - USUAL, 0.0)
