"""The search for a motion of a tool through poses; another process can run it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
import math
import time
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError
from ros2_ik.core.motion import Motion, MotionLimits
from ros2_ik.core.path.path import Path, PathOptions
from ros2_ik.core.path.path_motion import path_motion
from ros2_ik.core.path.solve_path import follow_path
from ros2_ik.core.path.tool_paths import ROTATION_LENGTH, ToolPath, Waypoints
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.robot import Robot
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.serialization import pack, unpack
from ros2_ik.core.status import Status

PERIOD = 0.03       # between two points [s]: with accelerations within 1e-5 rad of the motion
MAX_POINTS = 300    # of motions without corners; longer ones have a larger period
EQUAL = 1e-6        # poses nearer than this are one [m]
SHARP = 0.3         # a corner that turns by more is one that the tool rests at [rad]


class TimedPath(NamedTuple):
    """
    Motion along the part of a path that is reached.

    `fraction`, from 0 to 1, is that part; unless it is 1 the `status` and `message` say why.
    `states` (k, 3, n) are positions [rad, m], velocities and accelerations of `joints` at `times`
    (k,) [s], the start at time 0 included.
    """

    status: Status
    message: str
    fraction: float
    joints: tuple[str, ...]
    times: Array
    states: Array


class PathSearch:
    """
    The search for a motion through poses (4, 4), from the problem's start, which is at the first.

    The one target of the `problem` goes along lines between the poses; the tool rests at sharp
    corners alone. The `limits` are those of the joints that may move, `tip_speed` [m/s] is that of
    the tool. Worker processes run it like a `Search`, but one `run` does the whole search.
    """

    def __init__(self, problem: IKProblem, poses: Sequence[Array], limits: MotionLimits,
                 tip_speed: float, options: PathOptions) -> None:
        self.problem, self.poses, self.limits = problem, poses, limits
        self.tip_speed, self.options = tip_speed, options
        self.budget = Budget(time.monotonic() + options.timeout)
        self._motions = list[Motion]()
        self._ended, self._done = (Status.PREEMPTED, 'cancelled before the search began'), 0.0

    def question(self) -> bytes:
        """Return what `of_question` makes the search of in another process."""
        robot = self.problem.robot
        return pack((robot, self.problem.question(), self.poses, self.limits, self.tip_speed,
                     self.options), robot.plain)

    @classmethod
    def of_question(cls, robot: Robot, data: bytes) -> 'PathSearch':
        """Begin the search of another process; raises InvalidOptionError for other bytes."""
        try:
            asked_about, question, *asked = unpack(data, robot)
            return cls(IKProblem(asked_about, **question), *asked)
        except Exception as error:    # whatever bytes may do that are none of a question
            raise InvalidOptionError(f'data is not the question of a path: {error}') from error

    def run(self, seconds: float = math.inf) -> bool:
        """Find the motion, whatever the `seconds`; returns True: the search is finished."""
        q = self.problem.start
        try:
            parts = _parts(self.poses)
            total = sum(part.length for part in parts)
            self._ended = Status.SUCCESS, f'the whole path of {total:.4g} m is reached'
            for part in parts:
                left = max(self.budget.deadline - time.monotonic(), 1e-3)
                path = follow_path(self.problem.varied(start=q), part, replace(
                    self.options, timeout=left, cancel=self.budget.cancelled, hold_start=True,
                    advice=False))
                if not path.success:
                    self._ended = path.status, path.message
                if (reached := _reached(path)) is None:
                    break
                self._motions.append(path_motion(reached, self.limits, self.tip_speed))
                self._done += reached.tool_path.length / total
                if not path.success:
                    break
                q = reached.q[-1]
        except InvalidStateError as error:      # there is a path, but no motion along it
            self._ended = Status.INVALID_MOTION_PLAN, str(error)
        except IKError as error:
            self._ended = error.status, str(error)
        return True

    def solution(self) -> TimedPath:
        """Return what `run` has found."""
        start = self.problem.start[self.problem.active.indices]
        times, states, begin = [0.0], [np.array([start, 0 * start, 0 * start])], 0.0
        period = max(PERIOD, sum(motion.duration for motion in self._motions) / MAX_POINTS)
        for motion in self._motions:
            moments = motion.times(period)
            times += (begin + moments).tolist()
            states += [np.array(motion.at(moment)) for moment in moments]
            begin = times[-1]
        fraction = 1.0 if self._ended[0] is Status.SUCCESS else self._done
        return TimedPath(*self._ended, fraction, self.problem.joint_names, np.array(times),
                         np.array(states))


class _Beginning(ToolPath):
    """The part of a path up to a length [m]."""

    def __init__(self, path: ToolPath, length: float) -> None:
        self._path = path
        super().__init__(length, 0.0, np.append(path.knots[path.knots < length - EQUAL], length))

    def pose(self, s: float) -> Array:
        return self._path.pose(s)


def _reached(path: Path) -> Path | None:
    """Return the reached part of a path as a path of its own; None if it has no length."""
    if path.success or len(path.q) < 2:
        return path if path.success else None
    beginning = _Beginning(path.tool_path, float(path.parameters[-1]))
    return replace(path, status=Status.SUCCESS, tool_path=beginning, broken_at=None)


def _parts(poses: Sequence[Array]) -> list[Waypoints]:
    """Return paths from each sharp corner to the next; equal poses count once."""
    kept = [poses[0], *(pose for before, pose in pairwise(poses)
                        if np.linalg.norm(_way(before, pose)) > EQUAL)]
    ways = [_way(*pair) for pair in pairwise(kept)]
    corners = [i for i, (before, after) in enumerate(pairwise(ways), 1) if before @ after
               < math.cos(SHARP) * np.linalg.norm(before) * np.linalg.norm(after)]
    return [Waypoints(kept[a:b + 1]) for a, b in pairwise([0, *corners, len(ways)]) if ways]


def _way(start: Array, end: Array) -> Array:
    """Return shift and rotation (6,) [m] from pose to pose, as `ToolPath` weighs them."""
    turn = start[:3, :3] @ pin.log3(start[:3, :3].T @ end[:3, :3])
    return np.concatenate([end[:3, 3] - start[:3, 3], ROTATION_LENGTH * turn])
