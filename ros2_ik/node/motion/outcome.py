"""The outcome of a motion."""

from typing import NamedTuple

from ros2_ik.core import Contact, Scene, Status


class Outcome(NamedTuple):
    """
    The end of a motion.

    `contacts` are what was in the way, in `scene`; `motion_seconds` is the planned time of what
    was sent to controllers, 0 when nothing was.
    """

    status: Status
    message: str
    contacts: tuple[Contact, ...] = ()
    motion_seconds: float = 0.0
    scene: Scene | None = None
