"""Frames in commands that are not the robot's: the node looks them up in TF."""

from collections.abc import Callable
import math
import time

from ros2_ik.core import Robot, Scene
from ros2_ik.messages.frames import Reference
from ros2_ik.node.servo.messages import AskFrame, TakeFrame

AGAIN = 0.3    # so often the node is asked for a frame that is still commanded in [s]
FRESH = 0.1    # so long its answer counts [s]
KEPT = 4       # frames that are asked for


class ForeignFrames:
    """
    What TF tells of frames, as the node sends it all the time once it was asked.

    TF is not listened to in this process: what comes there would take the time of steps.
    """

    def __init__(self, ask: Callable[[AskFrame], None]) -> None:
        self._ask = ask
        self._asked: dict[str, float] = {}    # when, the latest at the end
        self._known: dict[str, tuple[Reference | LookupError, float]] = {}

    def take(self, answer: TakeFrame) -> None:
        """Take what the node has found."""
        self._known[answer.frame] = answer.found, time.monotonic()
        self._known = {frame: known for frame, known in self._known.items()
                       if frame in self._asked}

    def ready(self, robot: Robot, scene: Scene, frame_id: str) -> bool:
        """Return whether `find` has an answer, or robot or scene that frame; else ask."""
        frame, now = frame_id.removeprefix('/'), time.monotonic()
        if frame in ('', robot.root_frame) or frame in robot.frame_names \
                or frame in scene.frame_names:
            return True
        if now > self._asked.get(frame, -math.inf) + AGAIN:
            self._asked.pop(frame, None)
            self._asked = {**dict(list(self._asked.items())[1 - KEPT:]), frame: now}
            self._ask(AskFrame(frame))
        return now < self._known.get(frame, (None, -math.inf))[1] + FRESH

    def find(self, robot: Robot, frame: str) -> Reference:
        """Return a frame that is `ready`; raises LookupError with TF's reason."""
        found, _ = self._known[frame]
        if isinstance(found, LookupError):
            raise found.with_traceback(None)
        return found
