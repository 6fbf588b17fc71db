"""How far a robot is behind its commands."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_ik.core import Array, MotionState, Robot
from ros2_ik.node.controllers.joint_feedback import JointFeedback, offset

MOST = 0.3      # farther behind it does not do what it is told [s]
USUAL = 0.005   # between a command, what is done, and what is heard of it [s]
ASIDE = 0.01    # so far from the way it is not on it [rad, m]
CLOSE = 0.04    # up to here a delay is taken from the velocity,
STEP = 0.02     # and a longer one is looked for in such steps [s]


class Tracking(NamedTuple):
    """
    How a robot follows its commands.

    `tracking_delay` is by how much it is late, beyond what is usual [s], None if it is not on its
    way. `error` (n,) is how far its joints are, each by itself, from all that was commanded in
    the time that is allowed; `aside` is how far one is from where it was told to be together with
    the others, at the best. `commanded` and `measured` (n,) are where they should be and are
    [rad, m].
    """

    tracking_delay: float | None
    error: Array
    aside: float
    commanded: Array
    measured: Array


def tracking(robot: Robot, joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: JointFeedback, delay: float = 0.0) -> Tracking:
    """
    Compare where joints are with what they were commanded when that was heard.

    Every delay up to MOST is allowed, beyond the `delay` [s] of who takes his time to begin:
    motors and controllers have one, and where joint_states carry no stamps, their own delay
    cannot be told from it.
    """
    most = MOST + delay
    heard, at = measured.heard(joints), measured.state(joints)[0]
    wanted = commanded(heard)
    behind = offset(robot, joints, wanted.position, at)
    late, aside = _beside(behind, wanted.velocity)
    if aside <= ASIDE and abs(late) <= CLOSE:
        return Tracking(max(late - USUAL, 0.0), np.zeros(len(joints)), aside, wanted.position, at)
    delays = np.arange(0.0, most + STEP / 2, STEP)
    states = [wanted, *(commanded(heard - delay) for delay in delays[1:].tolist())]
    apart = np.array([offset(robot, joints, state.position, at) for state in states])
    error = np.maximum(np.maximum(apart.min(axis=0), -apart.max(axis=0)), 0.0)
    k = int(np.argmin(np.abs(apart).max(axis=1)))
    more, aside = _beside(apart[k], states[k].velocity)
    late = float(delays[k]) + float(np.clip(more, -STEP, STEP))
    on_way = aside <= ASIDE and abs(more) <= CLOSE and late <= most
    return Tracking(max(late - USUAL, 0.0) if on_way else None, error, aside, wanted.position, at)


def _beside(behind: Array, velocity: Array) -> tuple[float, float]:
    """Return the delay that explains best what joints are behind, and what it leaves over."""
    speed = float(velocity @ velocity)
    late = float(behind @ velocity) / speed if speed > 1e-12 else 0.0
    return late, float(np.abs(behind - late * velocity).max(initial=0.0))
