"""The outcome of a motion."""

from typing import NamedTuple

from ros2_ik.core import Contact, Scene, Status


class Outcome(NamedTuple):
    """
    Final status of a motion.

    `contacts` are the contacts in `scene` that blocked the motion. `motion_seconds` is the planned
    duration of the motion that was sent to controllers, 0 if none was sent [s].
    """

    status: Status
    message: str
    contacts: tuple[Contact, ...] = ()
    motion_seconds: float = 0.0
    scene: Scene | None = None
