"""The search for a tool motion through poses, which a worker process can run."""

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

# time between two points [s]; interpolation with accelerations is then within 1e-5 rad
PERIOD = 0.03
# number of points above which the period is increased
MAX_POINTS = 300
# distance below which two poses are equal [m]
EQUAL = 1e-6
# change of direction at a corner above which the tool stops there [rad]
SHARP = 0.3


class TimedPath(NamedTuple):
    """
    Motion along the reached part of a path.

    `fraction` in [0, 1] is the reached share of the path; if below 1, `status` and `message` have
    the reason. `states` (k, 3, n) are positions [rad, m], velocities and accelerations of `joints`
    at `times` (k,) [s], beginning at time 0.
    """

    status: Status
    message: str
    fraction: float
    joints: tuple[str, ...]
    times: Array
    states: Array


class PathSearch:
    """
    The search for a motion of a tool along lines through poses (4, 4).

    The motion begins at the start of the `problem`, which must be at the first pose. The one
    target of the `problem` moves along the lines; the tool stops only at sharp corners. `limits`
    are those of the active joints, `tip_speed` [m/s] is the largest speed of the tool. The
    methods are the same as in `Search`, but one `run` is the whole search.
    """

    def __init__(self, problem: IKProblem, poses: Sequence[Array], limits: MotionLimits,
                 tip_speed: float, options: PathOptions) -> None:
        self.problem, self.poses, self.limits = problem, poses, limits
        self.tip_speed, self.options = tip_speed, options
        self.budget = Budget(time.monotonic() + options.timeout)
        self._motions = list[Motion]()
        self._result, self._fraction = (Status.PREEMPTED, 'cancelled before the search began'), 0.0

    def question(self) -> bytes:
        """Return the search as bytes for `of_question` in another process."""
        robot = self.problem.robot
        return pack((robot, self.problem.question(), self.poses, self.limits, self.tip_speed,
                     self.options), robot.plain)

    @classmethod
    def of_question(cls, robot: Robot, data: bytes) -> 'PathSearch':
        """Return a new search from the bytes of `question`; raises InvalidOptionError."""
        try:
            framed, question, *arguments = unpack(data, robot)
            return cls(IKProblem(framed, **question), *arguments)
        # unpickling arbitrary bytes may raise any exception
        except Exception as error:
            raise InvalidOptionError(f'data is not the question of a path: {error}') from error

    def run(self, seconds: float = math.inf) -> bool:
        """Search for the motion; `seconds` is ignored. Returns True: the search is finished."""
        q = self.problem.start
        try:
            parts = _parts(self.poses)
            total = sum(part.length for part in parts)
            self._result = Status.SUCCESS, f'the whole path of {total:.4g} m is reached'
            # each part begins at the last configuration of the part before
            for part in parts:
                left = max(self.budget.deadline - time.monotonic(), 1e-3)
                path = follow_path(self.problem.varied(start=q), part, replace(
                    self.options, timeout=left, cancel=self.budget.cancelled, hold_start=True,
                    advice=False))
                if not path.success:
                    self._result = path.status, path.message
                if (reached := _reached(path)) is None:
                    break
                self._motions.append(path_motion(reached, self.limits, self.tip_speed))
                self._fraction += reached.tool_path.length / total
                if not path.success:
                    break
                q = reached.q[-1]
        # joint values exist, but the motion along them is not allowed
        except InvalidStateError as error:
            self._result = Status.INVALID_MOTION_PLAN, str(error)
        except IKError as error:
            self._result = error.status, str(error)
        return True

    def solution(self) -> TimedPath:
        """Return the motion found by `run`, sampled with a constant period."""
        start = self.problem.start[self.problem.active.indices]
        times, states, begin = [0.0], [np.array([start, 0 * start, 0 * start])], 0.0
        period = max(PERIOD, sum(motion.duration for motion in self._motions) / MAX_POINTS)
        for motion in self._motions:
            moments = motion.times(period)
            times += (begin + moments).tolist()
            states += [np.array(motion.at(moment)) for moment in moments]
            begin = times[-1]
        fraction = 1.0 if self._result[0] is Status.SUCCESS else self._fraction
        return TimedPath(*self._result, fraction, self.problem.joint_names, np.array(times),
                         np.array(states))


class _PathPrefix(ToolPath):
    """The first part of a path, of a given length [m]."""

    def __init__(self, path: ToolPath, length: float) -> None:
        self._path = path
        super().__init__(length, 0.0, np.append(path.knots[path.knots < length - EQUAL], length))

    def pose(self, s: float) -> Array:
        return self._path.pose(s)


def _reached(path: Path) -> Path | None:
    """Return the reached part of a path as a whole path, or None if its length is zero."""
    if path.success or len(path.q) < 2:
        return path if path.success else None
    prefix = _PathPrefix(path.tool_path, float(path.parameters[-1]))
    return replace(path, status=Status.SUCCESS, tool_path=prefix, broken_at=None)


def _parts(poses: Sequence[Array]) -> list[Waypoints]:
    """Return the paths between consecutive sharp corners, without repeated poses."""
    kept = [poses[0], *(pose for before, pose in pairwise(poses)
                        if np.linalg.norm(_displacement(before, pose)) > EQUAL)]
    lines = [_displacement(*pair) for pair in pairwise(kept)]
    # sharp: the angle between consecutive displacements exceeds SHARP
    corners = [i for i, (before, after) in enumerate(pairwise(lines), 1) if before @ after
               < math.cos(SHARP) * np.linalg.norm(before) * np.linalg.norm(after)]
    return [Waypoints(kept[a:b + 1]) for a, b in pairwise([0, *corners, len(lines)]) if lines]


def _displacement(start: Array, end: Array) -> Array:
    """Return translation and rotation (6,) [m] between poses; 1 rad counts as 0.2 m."""
    turn = start[:3, :3] @ pin.log3(start[:3, :3].T @ end[:3, :3])
    return np.concatenate([end[:3, 3] - start[:3, 3], ROTATION_LENGTH * turn])
