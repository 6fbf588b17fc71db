"""The collision check of a motion."""

from collections.abc import Iterator
from dataclasses import dataclass
import time

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.motion.motion import Motion

# longest time between checked positions [s]: in more time, a joint could move away and back
MAX_INTERVAL = 0.05
# a motion jumps if it moves farther than the resolution within this fraction of max(duration, 1 s)
JUMP_RATIO = 1e-9


@dataclass(frozen=True)
class PathCollision:
    """
    The first collision found on a motion, `time` [s] after its start.

    `fraction` is `time` / duration. `q` (nq,) is the configuration at this time, and `contacts`
    are its contacts, deepest first.
    """

    time: float
    fraction: float
    q: Array
    contacts: tuple[Contact, ...]


class PathCollisionCheck:
    """
    The collision check of a motion, which can be run in time slices.

    Configurations are checked in chronological order, except that the end is checked right after
    the start, so that a contact at the goal is found early. `collision` is the first collision
    found. Between neighbouring checked times, joints change by at most `resolution` [rad, m]; a
    contact that begins and ends between them is missed. `q` (nq,) has the values of all joints
    that are not part of the motion. Attached objects of the checker's scene move with their links.

    `run` raises InvalidOptionError for a motion that jumps or has a position that is not finite.
    """

    def __init__(self, checker: CollisionChecker, motion: Motion, q: Array,
                 resolution: float = 0.01) -> None:
        self._checker, self._motion = checker, motion
        self._columns = [checker.robot.joint(name).index for name in motion.joints]
        self._q = np.array(q, dtype=np.float64)
        self._resolution = positive(resolution, 'resolution', InvalidOptionError)
        if not np.isfinite(motion.duration):
            raise InvalidOptionError(f'the motion has a duration of {motion.duration} s; valid: '
                                     'a finite number')
        self._samples = self._sample()
        self.collision: PathCollision | None = None

    def run(self, seconds: float = float('inf')) -> bool:
        """Check one or more configurations for `seconds` of CPU time; return True if finished."""
        end = time.thread_time() + seconds
        for moment, position in self._samples:
            self._q[self._columns] = position
            if self._checker.collides(self._q):
                self.collision = PathCollision(
                    moment, moment / self._motion.duration if moment else 0.0, self._q.copy(),
                    self._checker.in_collision(self._q))
                return True
            if time.thread_time() >= end:
                return False
        return True

    def _sample(self) -> Iterator[tuple[float, Array]]:
        """Yield times and positions (n,) to check: the start, the end, then those in between."""
        end = self._motion.duration
        before, goal = self._at(0.0), self._at(end)
        yield 0.0, before
        yield end, goal
        # adapt the time step so that each step moves almost as far as the resolution
        now, step = 0.0, MAX_INTERVAL
        while now + step < end or largest_step(before, goal) > self._resolution:
            step = min(step, end - now)
            position = self._at(now + step)
            far = largest_step(before, position)
            if far <= self._resolution:
                now, before = now + step, position
                yield now, position
            elif step <= JUMP_RATIO * max(end, 1.0):
                k = int(np.argmax(np.abs(position - before)))
                raise InvalidOptionError(
                    f"the motion jumps at {now:.6g} s: joint '{self._motion.joints[k]}' from "
                    f'{before[k]:.6g} to {position[k]:.6g}; valid: a continuous motion')
            step = min(step * min(0.95 * self._resolution / max(far, 1e-12), 2.0), MAX_INTERVAL)

    def _at(self, moment: float) -> Array:
        """Return the positions (n,) at a time [s]; raises InvalidOptionError if not finite."""
        position = self._motion.at(moment).position
        if not np.isfinite(position).all():
            joint = self._motion.joints[int(np.argmin(np.isfinite(position)))]
            raise InvalidOptionError(f"the motion has no finite position of joint '{joint}' at "
                                     f'{moment:.6g} s')
        return position


def largest_step(q: Array, end: Array) -> float:
    """Return the largest change of a joint between positions (n,) [rad, m]."""
    return float(np.abs(end - q).max(initial=0.0))


def blocked(checker: CollisionChecker, motion: Motion, q: Array,
            resolution: float = 0.01) -> PathCollision | None:
    """Return the first collision found on a motion, or None; see PathCollisionCheck."""
    check = PathCollisionCheck(checker, motion, q, resolution)
    check.run()
    return check.collision
